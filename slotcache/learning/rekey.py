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
from pathlib import Path
from typing import Final

from slotcache.address import CELL_LENGTH
from slotcache.answers import FindPersonal, find_personal
from slotcache.entry import Entry, Selector, cell_of
from slotcache.generations import WITHDRAWN, Carried, Fate, Reading, carry, generation_of, kept, out, reread
from slotcache.policy import Policy
from slotcache.stores.base import Store

REKEYED: Final = "rekeyed"
"""Reason in the history for an entry whose answer lives on in the next generation."""


class Journal:
    """What was carried over so far, one line an entry, so that a run that was stopped goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Carried] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").split("\n"):
                self._read(line)
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, row: Carried) -> None:
        """Remember what became of an entry."""
        self.rows[row.source] = row
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
        self.rows[row.source] = row


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
        self.generation = generation_of(parser)

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
            yield out(entry, made) if isinstance(made, str) else kept(entry, made)

    def build(self) -> Iterator[Carried]:
        """Carry over what has not been yet, one answer a step; the former generation stays as it is.

        Called again, it carries over what was kept since.
        """
        for entry in self._former():
            known = self.journal.rows.get(entry.id)
            if known is not None:
                continue
            made = reread(entry, self._parser, self._policy, find_personal=self._find_personal)
            row = carry(self._store, entry, made, now=self._clock())
            self.journal.add(row)
            yield row

    def withdraw(self) -> None:
        """Take back answers whose original was taken back since they were carried over, by this job or by a bot that
        kept them in both generations; for the moment before the change-over."""
        for entry in self._store.find(Selector(generation=self.generation)):
            if entry.source and self._store.entry(entry.source) is None and not self._rekeyed(entry.source):
                self._store.retire(entry.id, reason=WITHDRAWN, now=self._clock())

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

    def _close(self, row: Carried) -> None:
        now = self._clock()
        if self._store.entry(row.source) is not None:
            reason = f"rekey:{row.reason}" if row.fate is Fate.OUT else REKEYED
            self._store.retire(row.source, reason=reason, now=now)
            return
        if not self._rekeyed(row.source) and row.target[CELL_LENGTH:] == row.source[CELL_LENGTH:]:
            self._store.retire(row.target, reason=WITHDRAWN, now=now)

    def _rekeyed(self, source: str) -> bool:
        """Whether an answer left its generation because the next one took over, not because it was taken back."""
        return any(r.entry.id == source and r.reason == REKEYED for r in self._store.history(cell_of(source)))
