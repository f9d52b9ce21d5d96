"""The answers behind the questions: keys that wait for a person, approving, editing, reporting a wrong one."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from slotcache import upkeep
from slotcache.address import Address, Namespace, Scope
from slotcache.answers import find_personal
from slotcache.core import Core
from slotcache.domain.keys import wrong_with
from slotcache.domain.schema import Domain
from slotcache.entry import Entry, Origin, Selector
from slotcache.errors import ConfigurationError
from slotcache.events import Kept, Stored
from slotcache.generations import Carried, Fate
from slotcache.key import Key
from slotcache.learning.rekey import Journal
from slotcache.parsing.types import Owner
from slotcache.prompts import read_prompt
from slotcache.review.acts import key_id
from slotcache.review.queue import Item
from slotcache.review.weigh import Why
from slotcache.stores.base import PutResult, Quarantine

UNDONE: Final = "approval_undone"
"""Reason in the history for an approved answer whose approval was taken back."""

_SHOWN: Final = 50
_LISTED: Final = 1_000
"""Waiting keys that enter the queue, the most often asked ones."""

_SAMPLED: Final = 5_000
_HARM: Final = {Why.QUARANTINE: 1.0, Why.CONFLICT: 0.8, Why.WAITING: 0.1}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two answers that a re-keying found under one key.

    Attributes:
        key: The key.
        entry_id: The entry that is served.
        question: The question of the one that moved.
        served: Its answer.
        not_served: The other one.
    """

    key: str
    entry_id: str
    question: str
    served: str
    not_served: str


@dataclass(frozen=True, slots=True)
class KeyState:
    """Everything about one key that a person may want to decide on.

    Attributes:
        key: The printed key.
        entries: Answers in recall that everybody may read, those of this parser first.
        private: How many more belong to single customers; their texts are not shown.
        waiting: How often it was asked by somebody whose question may not fill it.
        quarantines: Where it is in quarantine.
        conflicts: Answers that a re-keying found in conflict.
        places: Namespaces that an answer may be written for, the most used first.
    """

    key: str
    entries: tuple[Entry, ...]
    private: int
    waiting: int
    quarantines: tuple[Quarantine, ...]
    conflicts: tuple[Conflict, ...]
    places: tuple[Namespace, ...]


class Answers:
    """What the page does with a store."""

    def __init__(self, core: Core, *, journals: Path | None = None, places: Iterable[Namespace] = ()) -> None:
        """Wire it.

        Args:
            core: The cache.
            journals: Folder where re-keyings keep their journals; None for none.
            places: Namespaces that answers may be written for, besides those that the store shows.
        """
        self._core, self._journals = core, journals
        self._given = tuple(places)
        self._read: dict[Path, tuple[tuple[int, int], list[Carried]]] = {}

    def items(self) -> list[Item]:
        """Keys that wait for a person, as items of the queue; each once, under the most pressing reason."""
        often = islice(self._core.store.waiting().items(), _LISTED)
        waiting = {key: times for key, times in often if not find_personal(key)}
        found: dict[str, Item] = {}
        for quarantine in self._core.store.quarantines():
            if not quarantine.customer:
                _add(found, quarantine.key, Why.QUARANTINE, waiting.get(quarantine.key, 0), quarantine.at)
        for conflict in self.conflicts():
            _add(found, conflict.key, Why.CONFLICT, waiting.get(conflict.key, 0), 0.0)
        for key, times in waiting.items():
            if key_id(key) not in found and not self._approved(key):
                _add(found, key, Why.WAITING, times, 0.0)
        return list(found.values())

    def key_of(self, id: str) -> str | None:
        """The printed key behind the id of a key that waits."""
        keys = [*self._core.store.waiting(), *(one.key for one in self._core.store.quarantines())]
        return next((key for key in (*keys, *(c.key for c in self.conflicts())) if key_id(key) == id), None)

    def state(self, key: str) -> KeyState:
        """Everything about one key."""
        found = list(islice(self._core.store.find(Selector(key=key)), _SAMPLED))
        shared = [entry for entry in found if not entry.address.namespace.customer]
        generation = "/".join(self._core.generation)
        shared.sort(key=lambda e: (e.address.namespace.generation != generation, not e.approved, -e.created))
        return KeyState(
            key,
            tuple(shared[:_SHOWN]),
            len(found) - len(shared),
            self._core.store.waiting().get(key, 0),
            tuple(one for one in self._core.store.quarantines() if one.key == key and not one.customer),
            tuple(conflict for conflict in self.conflicts() if conflict.key == key),
            self.places(),
        )

    def entry(self, entry_id: str) -> Entry | None:
        """An answer in recall; None also when it belongs to one customer."""
        entry = self._core.store.entry(entry_id.partition(".")[0])
        return entry if entry is not None and not entry.address.namespace.customer else None

    def places(self) -> tuple[Namespace, ...]:
        """Namespaces that an answer may be written for: those in use for answers that everybody may read."""
        generation = "/".join(self._core.generation)
        used: Counter[Namespace] = Counter()
        for entry in islice(self._core.store.find(Selector()), _SAMPLED):
            namespace = entry.address.namespace
            if not (namespace.customer or namespace.context):
                used[namespace._replace(generation=generation)] += 1
        # A place that nothing was said about counts only where the store shows none.
        given = [place for place in self._given if place != Namespace() or not used]
        found = [*(place for place, _ in used.most_common()), *(p._replace(generation=generation) for p in given)]
        return tuple(dict.fromkeys(found))

    def approve(self, hit_id: str, *, author: str, answer: str) -> Stored:
        """Turn an answer in recall into an approved one, as it is or with another text."""
        return upkeep.approve(self._core, hit_id, author=author, answer=answer)

    def write(self, key: str, answer: str, places: Sequence[Namespace], *, author: str, domain: Domain) -> list[str]:
        """Write an approved answer for a key that everybody may read; gives the ids of its entries.

        Raises:
            ConfigurationError: no question gets the key, the text is empty, or no place is named.
        """
        parsed = Key.parse(key)
        wrong = wrong_with(domain, parsed)
        if wrong:
            raise ConfigurationError(f"no question gets this key: {wrong}")
        if not _for_all(parsed, domain):
            raise ConfigurationError("answers under this key belong to single customers; nobody else would read it")
        if not answer.strip():
            raise ConfigurationError("an approved answer needs a text")
        if not places:
            raise ConfigurationError("say for which bot the answer is")
        now, life = self._core.clock(), self._core.policy.approved_ttl
        written = []
        for namespace in places:
            address = Address.of(namespace, parsed, ())
            entry = Entry(
                address.cell + secrets.token_hex(8),
                address,
                answer.strip(),
                Origin.APPROVED,
                now,
                None if life is None else now + life,
                author=author,
            )
            if self._core.store.put(entry) is PutResult.STORED:
                written.append(entry.id)
                self._core.emit(Kept(now, Stored(True, None, key, entry.id), entry))
        return written

    def take_back(self, entry_ids: Iterable[str]) -> int:
        """Take approved answers out of recall whose approval was undone; gives how many were still there."""
        now = self._core.clock()
        return sum(self._core.store.retire(id, reason=UNDONE, now=now) is not None for id in entry_ids)

    def report(self, hit_id: str, *, author: str, note: str = "") -> upkeep.Report:
        """Take a wrong answer out of recall at once and put its key in quarantine."""
        return upkeep.report_false_hit(self._core, hit_id, author=author, note=note)

    def clear(self, key: str) -> int:
        """End the quarantines of a key that everybody may read; gives how many there were."""
        held = [one for one in self._core.store.quarantines() if one.key == key and not one.customer]
        return sum(upkeep.clear_quarantine(self._core, one.key, tenant=one.tenant) for one in held)

    def conflicts(self) -> list[Conflict]:
        """Answers that re-keyings found in conflict and whose winner is still served."""
        if self._journals is None:
            return []
        found = []
        for row in (row for path in sorted(self._journals.glob("rekey-*.*")) for row in self._in_conflict(path)):
            entry = self.entry(row.target)
            if entry is not None and not entry.approved and entry.answer == row.winner:
                found.append(Conflict(row.new_key, entry.id, row.question, row.winner, row.loser))
        return found

    def _in_conflict(self, path: Path) -> list[Carried]:
        """Rows of a journal in conflict; the file is read again only when it has changed."""
        try:
            about = path.stat()
        except FileNotFoundError:
            return []  # put aside just now; it is found under its other name next time
        mark = about.st_mtime_ns, about.st_size
        held = self._read.get(path)
        if held is None or held[0] != mark:
            held = mark, [row for row in Journal(path).rows.values() if row.fate is Fate.CONFLICT]
            self._read[path] = held
        return held[1]

    def _approved(self, key: str) -> bool:
        return any(entry.approved for entry in self._core.store.find(Selector(key=key)))


def place_for(scope: Scope) -> Namespace:
    """Where answers for everybody live that a bot of this scope gives."""
    prompt = read_prompt(scope).fingerprint
    return Namespace(scope.tenant, scope.locale, scope.model, prompt, scope.policy_epoch)


def _for_all(key: Key, domain: Domain) -> bool:
    """Whether everybody may read answers under a key."""
    if key.is_verbatim:
        return True
    intent, said = domain.intents[key.intent], key.as_dict()
    narrowed = any(
        said.get(slot) == value or (value == "*" and slot in said)
        for slot, _, value in (condition.partition("=") for condition in intent.owner_when)
    )
    return intent.owner is Owner.SHARED and not narrowed


def _add(found: dict[str, Item], key: str, why: Why, times: int, at: float) -> None:
    traffic = float(max(1, times))
    item = Item(key_id(key), key, why, _HARM[why] * traffic, True, _HARM[why], 1.0, traffic, at)
    found.setdefault(item.id, item)
