"""What people and counters leave on the servers beside the answers: switches, reports, quarantines, waiting keys.

Each kind is one hash. Operators must be able to withdraw and to switch off while the server is out of memory, so their
fields are set by the store's script in a way that a full server lets pass.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from slotcache.address import injective
from slotcache.entry import Entry, Selector
from slotcache.stores.base import Feedback, Place, Quarantine, place_of
from slotcache.stores.redis_layout import Layout
from slotcache.stores.redis_link import RedisLink, StoreFull, Word

MARKS: Final = 256
"""How many invalidations a bucket remembers."""

_FEEDBACK: Final = 10_000
_WAITING: Final = 10_000


class RedisNotes(ABC):
    """The part of `RedisStore` that has nothing to do with entries."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._refused = 0

    @property
    @abstractmethod
    def _layout(self) -> Layout:
        """The names of the keys, once it is known into how many buckets they are divided."""

    def switches(self) -> frozenset[str]:
        return frozenset(intent.decode() for intent in self._link.call("HKEYS", self._layout.switches))

    def set_switch(self, intent: str, *, off: bool, now: float) -> None:
        if off:
            self._set(self._layout.switches, intent, repr(now))
        else:
            self._link.call("HDEL", self._layout.switches, intent)

    def add_feedback(self, feedback: Feedback) -> None:
        row = [feedback.hit_id, feedback.at, feedback.author, feedback.note, feedback.key]
        self._set(self._layout.feedback, injective((feedback.hit_id, feedback.author)), json.dumps(row), "once")
        if self._link.call("HLEN", self._layout.feedback) > _FEEDBACK:
            oldest = self.feedback()[: _FEEDBACK // 100]
            self._link.call("HDEL", self._layout.feedback, *(injective((one.hit_id, one.author)) for one in oldest))

    def feedback(self) -> Sequence[Feedback]:
        rows = (Feedback(*json.loads(row)) for row in self._link.call("HVALS", self._layout.feedback))
        return tuple(sorted(rows, key=lambda one: (one.at, one.hit_id, one.author)))

    def add_quarantine(self, quarantine: Quarantine) -> None:
        row = [*quarantine.place, quarantine.at, quarantine.hit_id, quarantine.author]
        self._set(self._layout.quarantine, injective(quarantine.place), json.dumps(row), "once")
        # Answers that are being made right now were promised a place before; the mark takes the promise back.
        tenant, customer, key = quarantine.place
        selector = Selector(key=key, tenant=tenant, customer=customer)
        for bucket in range(self._layout.buckets):
            self._mark(bucket, selector)

    def end_quarantine(self, place: Place) -> bool:
        return bool(self._link.call("HDEL", self._layout.quarantine, injective(place)))

    def in_quarantine(self, place: Place) -> bool:
        return bool(self._link.call("HEXISTS", self._layout.quarantine, injective(place)))

    def quarantines(self) -> Sequence[Quarantine]:
        rows = (Quarantine(*json.loads(row)) for row in self._link.call("HVALS", self._layout.quarantine))
        return tuple(sorted(rows, key=lambda one: (one.at, one.place)))

    def _end_quarantines(self, approved: Iterable[Entry]) -> None:
        """Let approved answers end what is older than they are."""
        since = {one.place: one.at for one in self.quarantines()}
        for entry in approved:
            place = place_of(entry.address)
            if since.get(place, math.inf) <= entry.created:
                self.end_quarantine(place)

    def _quarantined(self) -> set[Place]:
        return {one.place for one in self.quarantines()}

    def note_waiting(self, key: str, *, now: float) -> None:
        try:
            self._link.call("HINCRBY", self._layout.waiting, key, 1)
            if self._link.call("HLEN", self._layout.waiting) > _WAITING:
                seldom = list(self.waiting())[-_WAITING // 100 :]
                self._link.call("HDEL", self._layout.waiting, *seldom)
        except StoreFull:
            self._refused += 1

    def waiting(self) -> Mapping[str, int]:
        rows = self._link.call("HGETALL", self._layout.waiting)
        scores = {key.decode(): int(times) for key, times in rows.items()}
        return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))

    def _mark(self, bucket: int, selector: Selector) -> None:
        """Let no answer that is being made now and that matches be kept in a bucket."""
        self._script(bucket, "mark", selector.to_json(), MARKS)

    def _script(self, bucket: int, operation: str, *words: Word) -> Any:
        keys = self._layout.name(bucket, "meta"), self._layout.name(bucket, "never")
        return self._link.script(keys, operation, *words)

    def _set(self, key: str, field: Word, value: Word, once: str = "") -> None:
        """Set a field of a hash, even on a server that has no memory left."""
        self._link.script((key,), "set", field, value, once)
