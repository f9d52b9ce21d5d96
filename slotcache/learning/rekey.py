"""Re-keys stored answers after a promotion or a change of the domain: each is read again from its stored question.

A generation is a model and a domain; it is part of every address. The next generation is built beside the present one
while readers still use that; then one record makes model and index change over together, and what was kept under the
former generation meanwhile is carried over before it leaves recall. Nobody ever reads more than before: an answer
whose owner would be another one leaves recall instead of changing hands.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from slotcache.address import CELL_LENGTH, Address
from slotcache.answers import FindPersonal, find_personal
from slotcache.decide import owner_of, stands_alone
from slotcache.domain.schema import Domain
from slotcache.entry import Entry, Selector, cell_of
from slotcache.errors import Abstain
from slotcache.key import Key
from slotcache.learning.labels import label_problems
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import Policy
from slotcache.stores.base import PutResult, Store

REKEYED: Final = "rekeyed"
"""Reason in the history for an entry whose answer lives on in the next generation."""

WITHDRAWN: Final = "source_withdrawn"
"""Reason for a carried-over answer whose original was taken back meanwhile."""


class Fate(StrEnum):
    """What becomes of a stored answer."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CONFLICT = "conflict"
    OUT = "out_of_recall"


class Reading(Protocol):
    """The parser of the next generation."""

    @property
    def version(self) -> str:
        """Version of its model."""

    @property
    def domain_hash(self) -> str:
        """Digest of its domain."""

    @property
    def domain(self) -> Domain:
        """Its domain."""

    def parse(self, text: str) -> Parse:
        """The reading of one utterance."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One stored answer and what became of it.

    Attributes:
        source: Id of the entry in the former generation.
        target: Id of the entry that answers for it in the next one; empty when none does.
        fate: What became of it.
        key: Its printed key before.
        new_key: Its printed key now; empty when it has none.
        reason: Why it is out of recall, or who won a conflict (`newer_approved`, `approved`, `newer`).
        question: The stored question.
        loser: In a conflict, the answer that is not served any more; it is for people to look at.
        winner: In a conflict, the answer that is.
    """

    source: str
    target: str
    fate: Fate
    key: str
    new_key: str
    reason: str = ""
    question: str = ""
    loser: str = ""
    winner: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Journal:
    """What was carried over so far, one line an entry, so that a run that was stopped goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Carried] = {}
        self.sources: dict[str, set[str]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").split("\n"):
                self._read(line)
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, row: Carried) -> None:
        """Remember what became of an entry."""
        self._know(row)
        with self.path.open("a", encoding="utf-8") as file:
            # A line that was cut off by a crash must not swallow this one.
            file.write("\n" + json.dumps(row.as_dict()))

    def close(self) -> None:
        """Everything is done: put the file aside, for whoever wants to know what became of an answer."""
        if self.path.is_file():
            self.path.replace(self.path.with_suffix(".done"))

    def _read(self, line: str) -> None:
        try:
            raw = json.loads(line)
            row = Carried(**{**raw, "fate": Fate(raw["fate"])})
        except (ValueError, TypeError, KeyError):
            return  # cut off by a crash: its entry is read again
        self._know(row)

    def _know(self, row: Carried) -> None:
        self.rows[row.source] = row
        if row.target:
            self.sources.setdefault(row.target, set()).add(row.source)


def reread(
    entry: Entry,
    parser: Reading,
    policy: Policy,
    *,
    find_personal: FindPersonal = find_personal,
) -> Entry | str:
    """The entry as the next generation keeps it, or why it cannot.

    Args:
        entry: A stored answer.
        parser: The parser of the next generation.
        policy: The operator's rules.
        find_personal: Gives the kinds of personal data in a text.
    """
    namespace = entry.address.namespace._replace(generation=f"{parser.version}/{parser.domain_hash}")
    if not entry.question:
        # Written for a key: it stands as long as the domain knows the key.
        if not entry.key.is_verbatim and label_problems(entry.key.intent, entry.key.as_dict(), parser.domain):
            return "key_unknown"
        address = Address.of(namespace, entry.key, entry.address.fingerprint)
        return entry.but(id=address.cell + entry.id[CELL_LENGTH:], address=address)
    parse = parser.parse(entry.question)
    key = parse.key
    if key is None:
        return f"unread:{parse.abstain}"
    personal = bool(parse.personal) or bool(find_personal(entry.question))
    refused = _refused(entry, parse, key, owner_of(parse, key, policy, personal=personal), policy)
    if refused:
        return refused
    address = Address.of(namespace, key, parse.fingerprint)
    return entry.but(
        id=address.cell + entry.id[CELL_LENGTH:],
        address=address,
        canonical=parse.canonical,
        protected=parse.protected,
        parser=parse.model,
        expires=_expiry(entry, parse, key, policy),
    )


def _refused(entry: Entry, parse: Parse, key: Key, owner: Owner, policy: Policy) -> str:
    """Why an answer may not be kept under the new reading of its question; empty when it may."""
    former = entry.address.namespace.owner
    if owner is Owner.NEVER:
        return "owner_never"
    if owner.value != former:
        return "owner_narrowed" if former == Owner.SHARED.value else "owner_widened"
    if not entry.approved and not key.is_verbatim and not parse.fillable:
        return "not_fillable"
    if entry.address.namespace.context:
        return "context_dependent" if stands_alone(parse, key, policy) else ""
    return "context_dependent" if parse.abstain is Abstain.FOLLOW_UP else ""


def _expiry(entry: Entry, parse: Parse, key: Key, policy: Policy) -> float | None:
    """When it stops being served: never later than before, and sooner where the new intent lives shorter."""
    if entry.approved:
        return entry.expires
    live = parse.owner is Owner.NEVER and not key.is_verbatim
    life = policy.live_ttl[key.intent] if live else policy.life_of(key.intent, Owner(entry.address.namespace.owner))
    end = entry.created + life
    return end if entry.expires is None else min(end, entry.expires)


class Rekeying:
    """Carries the answers of a store over to the next generation."""

    def __init__(
        self,
        store: Store,
        parser: Reading,
        journal: Journal,
        *,
        policy: Policy | None = None,
        clock: Callable[[], float],
        find_personal: FindPersonal = find_personal,
    ) -> None:
        """Wire it.

        Args:
            store: Where answers live.
            parser: The parser of the next generation.
            journal: What was done before a stop.
            policy: The operator's rules.
            clock: Seconds since the epoch.
            find_personal: Gives the kinds of personal data in a text.
        """
        self._store, self._parser, self.journal = store, parser, journal
        self._policy = policy if policy is not None else Policy()
        self._clock = clock
        self._find_personal = find_personal
        self.generation = f"{parser.version}/{parser.domain_hash}"

    def counts(self) -> dict[str, int]:
        """How many answers met each fate, and each reason for being out of recall."""
        rows = self.journal.rows.values()
        fates = Counter(row.fate.value for row in rows)
        reasons = Counter(f"out_of_recall.{row.reason}" for row in rows if row.fate is Fate.OUT)
        return {**{fate.value: fates[fate.value] for fate in Fate}, **reasons}

    def preview(self) -> Iterator[Carried]:
        """What would become of each answer; nothing is changed, so conflicts among moved answers do not show."""
        for entry in self._former():
            made = reread(entry, self._parser, self._policy, find_personal=self._find_personal)
            yield _out(entry, made) if isinstance(made, str) else _kept(entry, made)

    def build(self) -> Iterator[Carried]:
        """Carry over what has not been yet, one answer a step; the former generation stays as it is.

        Called again, it carries over what was kept since.
        """
        for entry in self._former():
            known = self.journal.rows.get(entry.id)
            if known is not None:
                continue
            row = self._carry(entry)
            self.journal.add(row)
            yield row

    def withdraw(self) -> None:
        """Take back carried-over answers whose original was taken back since; for the moment before the change-over."""
        for row in self.journal.rows.values():
            if row.target and self._store.entry(row.source) is None:
                self._close(row)

    def finish(self) -> Iterator[Carried]:
        """Once readers use the next generation: carry over the last fills and take the former ones out of recall.

        Answers that were taken back (invalidated, reported) meanwhile leave the next generation, too.
        """
        yield from self.build()
        for row in list(self.journal.rows.values()):
            self._close(row)
            yield row
        self.journal.close()

    def _former(self) -> Iterator[Entry]:
        now = self._clock()
        for entry in self._store.find(Selector()):
            if entry.address.namespace.generation != self.generation and not entry.expired(now):
                yield entry

    def _carry(self, entry: Entry) -> Carried:
        made = reread(entry, self._parser, self._policy, find_personal=self._find_personal)
        if isinstance(made, str):
            return _out(entry, made)
        other = next((e for e in self._store.get(made.cell) if e.address == made.address), None)
        if other is not None and (other.expired(self._clock()) or self._left_behind(other)):
            self._store.retire(other.id, reason=WITHDRAWN, now=self._clock())
            other = None
        if other is None or other.id == made.id:
            return self._put(entry, made)
        if other.answer == made.answer:
            return self._put(entry, made) if made.approved and not other.approved else _kept(entry, other)
        return self._conflict(entry, made, other)

    def _left_behind(self, other: Entry) -> bool:
        """Whether an answer was carried over from one that has been replaced or taken back since."""
        sources = self.journal.sources.get(other.id, ())
        return bool(sources) and all(self._store.entry(source) is None for source in sources)

    def _put(self, entry: Entry, made: Entry) -> Carried:
        result = self._store.put(made)
        if result in (PutResult.STORED, PutResult.UNCHANGED):
            return _kept(entry, made)
        return _out(entry, result.value)

    def _conflict(self, entry: Entry, made: Entry, other: Entry) -> Carried:
        """Two answers that now have one key: an approved one wins, of two alike the newer; people see the other."""
        wins = (made.approved, made.created) > (other.approved, other.created)
        why = "approved" if made.approved != other.approved else "newer_approved" if made.approved else "newer"
        winner, loser = (made, other) if wins else (other, made)
        if wins:
            result = self._store.put(made)
            if result is not PutResult.STORED:
                return _out(entry, result.value)
        self._store.note_waiting(str(made.key), now=self._clock())
        return Carried(
            entry.id,
            winner.id,
            Fate.CONFLICT,
            str(entry.key),
            str(made.key),
            why,
            entry.question,
            loser.answer,
            winner.answer,
        )

    def _close(self, row: Carried) -> None:
        now = self._clock()
        if self._store.entry(row.source) is not None:
            reason = f"rekey:{row.reason}" if row.fate is Fate.OUT else REKEYED
            self._store.retire(row.source, reason=reason, now=now)
            return
        ours = any(r.entry.id == row.source and r.reason == REKEYED for r in self._store.history(cell_of(row.source)))
        if not ours and row.target[CELL_LENGTH:] == row.source[CELL_LENGTH:]:
            self._store.retire(row.target, reason=WITHDRAWN, now=now)


def _kept(entry: Entry, made: Entry) -> Carried:
    fate = Fate.UNCHANGED if made.key == entry.key else Fate.MOVED
    return Carried(entry.id, made.id, fate, str(entry.key), str(made.key), "", entry.question)


def _out(entry: Entry, reason: str) -> Carried:
    return Carried(entry.id, "", Fate.OUT, str(entry.key), "", reason, entry.question)
