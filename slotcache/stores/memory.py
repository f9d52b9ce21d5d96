"""Answers in the memory of one process: bounded, thread-safe, gone when the process ends."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from threading import RLock

from slotcache.entry import Entry, Retired, Selector, cell_of
from slotcache.errors import ConfigurationError
from slotcache.stores.base import LEASE_TOLERANCE, Feedback, Lease, Place, PutResult, Quarantine, place_of

_MARKS = 256
_FEEDBACK = 10_000
_WAITING = 10_000


class MemoryStore:
    """A store for tests, demos and bots of one process.

    When it is full, expired entries leave first, then the oldest learned ones, then the oldest approved ones.
    """

    local = True

    def __init__(self, *, max_entries: int = 100_000, max_history: int = 10_000) -> None:
        """Make an empty store.

        Args:
            max_entries: How many entries may be in recall.
            max_history: How many entries that left recall are remembered.

        Raises:
            ConfigurationError: a bound is not positive.
        """
        if max_entries < 1 or max_history < 1:
            raise ConfigurationError("max_entries and max_history must be at least 1")
        self._max_entries = max_entries
        self._lock = RLock()
        # Values are replaced as a whole and never changed, so `get` needs no lock.
        self._cells: dict[str, tuple[Entry, ...]] = {}
        self._learned: OrderedDict[str, None] = OrderedDict()
        self._approved: OrderedDict[str, None] = OrderedDict()
        self._expiry: list[tuple[float, str]] = []
        self._history: deque[Retired] = deque(maxlen=max_history)
        self._leases: dict[tuple[str, str], tuple[str, float]] = {}
        self._marks: deque[tuple[int, Selector]] = deque(maxlen=_MARKS)
        self._mark = 0
        self._switches: frozenset[str] = frozenset()
        self._feedback: OrderedDict[tuple[str, str], Feedback] = OrderedDict()
        self._quarantine: dict[Place, Quarantine] = {}
        self._waiting: OrderedDict[str, int] = OrderedDict()
        self._evicted = 0

    def get(self, cell: str) -> tuple[Entry, ...]:
        return self._cells.get(cell, ())

    def put(self, entry: Entry, *, lease: Lease | None = None) -> PutResult:
        with self._lock:
            if lease is not None:
                refused = self._refused(entry, lease)
                self.release(lease)
                if refused is not None:
                    return refused
            return self._keep(entry)

    def _refused(self, entry: Entry, lease: Lease) -> PutResult | None:
        holder, _ = self._leases.get((lease.cell, lease.variant), ("", 0.0))
        if holder != lease.holder:
            return PutResult.LEASE_LOST
        lost_track = bool(self._marks) and self._marks[0][0] > lease.ticket + 1
        matched = any(number > lease.ticket and selector.matches(entry) for number, selector in self._marks)
        return PutResult.INVALIDATED if matched or lost_track else None

    def _keep(self, entry: Entry) -> PutResult:
        held = self._quarantine.get(place_of(entry.address))
        if held is not None and not entry.approved:
            return PutResult.QUARANTINED
        if held is not None and held.at <= entry.created:
            del self._quarantine[held.place]
        for former in self.get(entry.cell):
            if former.address.variant != entry.address.variant:
                continue
            if former.approved and not entry.approved and not former.expired(entry.created):
                return PutResult.APPROVED_EXISTS
            if former.approved and former.says_the_same_as(entry):
                return PutResult.UNCHANGED
            self._take(former, "superseded", entry.created)
        self._cells[entry.cell] = (*self.get(entry.cell), entry)
        (self._approved if entry.approved else self._learned)[entry.id] = None
        if entry.expires is not None:
            heapq.heappush(self._expiry, (entry.expires, entry.id))
        self._make_room(entry.created)
        return PutResult.STORED

    def _make_room(self, now: float) -> None:
        while len(self._learned) + len(self._approved) > self._max_entries:
            if self._drop_expired(now, at_most=1):
                continue
            victim = self.entry(next(iter(self._learned or self._approved)))
            assert victim is not None
            self._take(victim, "evicted", now)
            self._evicted += 1
        if len(self._expiry) > 2 * self._max_entries + 64:
            known = [(at, entry_id) for at, entry_id in self._expiry if self.entry(entry_id) is not None]
            heapq.heapify(known)
            self._expiry = known

    def _drop_expired(self, now: float, *, at_most: int | None = None) -> int:
        dropped = 0
        while self._expiry and self._expiry[0][0] <= now and dropped != at_most:
            _, entry_id = heapq.heappop(self._expiry)
            entry = self.entry(entry_id)
            if entry is not None:
                self._take(entry, "expired", now)
                dropped += 1
        return dropped

    def _take(self, entry: Entry, reason: str, now: float) -> None:
        rest = tuple(other for other in self.get(entry.cell) if other.id != entry.id)
        if rest:
            self._cells[entry.cell] = rest
        else:
            self._cells.pop(entry.cell, None)
        self._learned.pop(entry.id, None)
        self._approved.pop(entry.id, None)
        self._history.append(Retired(entry, reason, now))

    def put_many(self, entries: Sequence[Entry]) -> int:
        with self._lock:
            return sum(self._keep(entry) is PutResult.STORED for entry in entries)

    def acquire(self, cell: str, variant: str, *, holder: str, now: float, seconds: float) -> Lease:
        with self._lock:
            _, until = self._leases.get((cell, variant), ("", 0.0))
            granted = not now < until <= now + seconds + LEASE_TOLERANCE
            if granted:
                if len(self._leases) > self._max_entries:
                    self._leases = {at: lease for at, lease in self._leases.items() if lease[1] > now}
                self._leases[cell, variant] = (holder, now + seconds)
            return Lease(cell, variant, holder, granted, self._mark, self.get(cell))

    def release(self, lease: Lease) -> None:
        with self._lock:
            if self._leases.get((lease.cell, lease.variant), ("", 0.0))[0] == lease.holder:
                del self._leases[lease.cell, lease.variant]

    def entry(self, entry_id: str) -> Entry | None:
        return next((entry for entry in self.get(cell_of(entry_id)) if entry.id == entry_id), None)

    def retire(self, entry_id: str, *, reason: str, now: float) -> Entry | None:
        with self._lock:
            entry = self.entry(entry_id)
            if entry is not None:
                self._take(entry, reason, now)
                self._leases.pop((entry.cell, entry.address.variant), None)
            return entry

    def find(self, selector: Selector) -> Iterator[Entry]:
        with self._lock:
            cells = list(self._cells.values())
        return (entry for cell in cells for entry in cell if selector.matches(entry))

    def invalidate(self, selector: Selector, *, reason: str, now: float) -> int:
        with self._lock:
            self._mark += 1
            self._marks.append((self._mark, selector))
            found = list(self.find(selector))
            for entry in found:
                self._take(entry, reason, now)
            return len(found)

    def history(self, cell: str) -> Sequence[Retired]:
        with self._lock:
            return tuple(retired for retired in self._history if retired.entry.cell == cell)

    def sweep(self, now: float) -> int:
        with self._lock:
            return self._drop_expired(now)

    def switches(self) -> frozenset[str]:
        return self._switches

    def set_switch(self, intent: str, *, off: bool, now: float) -> None:
        with self._lock:
            self._switches = self._switches | {intent} if off else self._switches - {intent}

    def add_feedback(self, feedback: Feedback) -> None:
        with self._lock:
            self._feedback.setdefault((feedback.hit_id, feedback.author), feedback)
            while len(self._feedback) > _FEEDBACK:
                self._feedback.popitem(last=False)

    def feedback(self) -> Sequence[Feedback]:
        with self._lock:
            return tuple(self._feedback.values())

    def add_quarantine(self, quarantine: Quarantine) -> None:
        with self._lock:
            self._quarantine.setdefault(quarantine.place, quarantine)

    def end_quarantine(self, place: Place) -> bool:
        with self._lock:
            return self._quarantine.pop(place, None) is not None

    def in_quarantine(self, place: Place) -> bool:
        return place in self._quarantine

    def quarantines(self) -> Sequence[Quarantine]:
        with self._lock:
            return tuple(sorted(self._quarantine.values(), key=lambda one: (one.at, one.place)))

    def note_waiting(self, key: str, *, now: float) -> None:
        with self._lock:
            self._waiting[key] = self._waiting.pop(key, 0) + 1
            while len(self._waiting) > _WAITING:
                self._waiting.popitem(last=False)

    def waiting(self) -> Mapping[str, int]:
        with self._lock:
            return dict(sorted(self._waiting.items(), key=lambda item: (-item[1], item[0])))

    def counts(self) -> Mapping[str, int]:
        with self._lock:
            return {
                "entries": len(self._learned) + len(self._approved),
                "history": len(self._history),
                "evicted": self._evicted,
                "damaged": 0,
                "quarantined": len(self._quarantine),
            }

    def close(self) -> None:
        return None
