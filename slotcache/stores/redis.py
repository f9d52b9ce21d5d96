"""Answers on Redis or Valkey servers: for bots of several processes or machines.

Redis >= 6.2 or Valkey, alone, behind Sentinel or as a cluster. `redis_layout` tells what is kept where. Every
operation on a cell is one script on one node and so happens as a whole or not at all, whoever dies meanwhile; nothing
needs two nodes to agree. What concerns many cells goes from bucket to bucket in small batches, so that no command keeps
the server from others for long.

An invalidation leaves a mark in a bucket before it walks it. A fill that began before the mark is checked against it
when its answer arrives; one that was stored before is met by the walk. A quarantine is written down before its marks,
and a learned answer reads it after its ticket was taken, so that no order of events lets one slip through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Self

from slotcache.entry import Entry, Retired, Selector, cell_of
from slotcache.errors import StoreUnavailable
from slotcache.stores.base import LEASE_TOLERANCE, Lease, PutResult, place_of
from slotcache.stores.redis_layout import Layout, best_index, fields_of, labels_wanted, token_of
from slotcache.stores.redis_link import Call, RedisLink, StoreFull, Word
from slotcache.stores.redis_notes import RedisNotes
from slotcache.stores.redis_schema import prepare
from slotcache.stores.redis_url import Options, RedisUrl

_PAGE: Final = 100
"""Entries looked at by one command."""
_TAKEN: Final = 32
"""Entries moved by one command, which takes about a millisecond."""
_PUTS: Final = 25
_PUT_BYTES: Final = 1_000_000
_TURNS: Final = 8
_UNWRITTEN: Final = -1
"""Ticket of a lease that the server did not take down."""
_LEASE_LIFE: Final = 3600.0
"""Seconds after its end for which a lease is remembered, so that a late answer of its holder is still kept."""


class RedisStore(RedisNotes):
    """A store on servers that many processes share.

    Each bucket holds its share of `max_entries`; when it is full, expired entries leave first, then the oldest learned
    ones, then the oldest approved ones. When the server itself is full, answers are refused and counted, and what is
    there is still served.
    """

    local = False

    def __init__(self, url: RedisUrl) -> None:
        """Use the servers at an address.

        Raises:
            StoreError: the keys belong to a newer slotcache, or the server drops any key when it is full.
        """
        self.url = url
        self._options: Options = url.options
        self._named = Layout(url.options.prefix, url.options.buckets)
        self._unreadable = 0
        super().__init__(RedisLink(url, prepare=self._prepare))
        # What cannot be reached now may be back by the first lookup, and is checked then.
        with suppress(StoreUnavailable):
            self._link.ready()

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Use the servers at a URL.

        Args:
            url: See `redis_url` for the forms and the options that it may carry.
            options: The same options; they win over those in the URL.

        Raises:
            ConfigurationError: the URL or an option makes no sense.
            StoreError: as for the constructor.
        """
        return cls(RedisUrl.parse(url, **options))

    def _prepare(self, call: Call) -> None:
        options = self._options
        buckets = prepare(call, prefix=options.prefix, buckets=options.buckets, where=self.url.shown)
        if buckets != self._named.buckets:
            self._named = Layout(options.prefix, buckets)

    @property
    def _layout(self) -> Layout:
        self._link.ready()
        return self._named

    def get(self, cell: str) -> tuple[Entry, ...]:
        return tuple(self._readable(self._link.call("HVALS", self._layout.cell(cell))))

    def put(self, entry: Entry, *, lease: Lease | None = None) -> PutResult:
        if lease is not None and lease.ticket == _UNWRITTEN:
            self._refused += 1
            return PutResult.STORE_FULL
        result = self._put(entry, lease)
        if lease is not None and result is not PutResult.STORED:
            self.release(lease)
        if entry.approved and result in (PutResult.STORED, PutResult.UNCHANGED):
            self._end_quarantines([entry])
        return result

    def _put(self, entry: Entry, lease: Lease | None) -> PutResult:
        for _ in range(_TURNS):
            ticket: int | None = lease.ticket if lease is not None else None
            if not entry.approved:
                if lease is None:
                    ticket = self._latest_mark(self._bucket(entry.cell))
                if self.in_quarantine(place_of(entry.address)):
                    return PutResult.QUARANTINED
            results, marks = self._put_in(self._bucket(entry.cell), [entry], ticket, lease)
            if results:
                return results[0]
            if lease is not None:
                if _withdrawn(entry, marks, lease.ticket):
                    return PutResult.INVALIDATED
                # None of them was about this entry; from now on only later ones count.
                lease = Lease(lease.cell, lease.variant, lease.holder, True, marks[-1][0], ())
        raise StoreUnavailable(f"{self.url.shown}: too many invalidations at the same time")

    def put_many(self, entries: Sequence[Entry]) -> int:
        batches: dict[int, list[Entry]] = defaultdict(list)
        for entry in entries:
            batches[self._bucket(entry.cell)].append(entry)
        results = [result for bucket, some in batches.items() for result in self._put_bucket(bucket, some)]
        self._end_quarantines(entry for entry in entries if entry.approved)
        full = sum(result is PutResult.STORE_FULL for result in results)
        if full:
            raise StoreUnavailable(f"{self.url.shown}: no room for {full} of {len(entries)} entries")
        return sum(result is PutResult.STORED for result in results)

    def _put_bucket(self, bucket: int, entries: Sequence[Entry]) -> Iterator[PutResult]:
        for batch in _batches(entries):
            for _ in range(_TURNS):
                ticket = self._latest_mark(bucket)
                held = self._quarantined()
                some = [entry for entry in batch if entry.approved or place_of(entry.address) not in held]
                results, _ = self._put_in(bucket, some, ticket, None) if some else ([], ())
                if results or not some:
                    break
            else:
                raise StoreUnavailable(f"{self.url.shown}: too many invalidations at the same time")
            yield from results

    def _put_in(
        self, bucket: int, entries: Sequence[Entry], ticket: int | None, lease: Lease | None
    ) -> tuple[list[PutResult], Sequence[tuple[int, Selector]]]:
        """What became of entries of one bucket; nothing, but the latest marks, when there are some after the ticket."""
        try:
            said = self._script(
                bucket,
                "put",
                "" if ticket is None else ticket,
                "" if lease is None else lease.holder,
                self._share(self._options.max_entries),
                self._share(self._options.max_history),
                *(field for entry in entries for field in fields_of(entry)),
            )
        except StoreFull:
            self._refused += len(entries)
            return [PutResult.STORE_FULL] * len(entries), ()
        if said[0] == b"withdrawn":
            pairs = (mark.decode().split(" ", 1) for mark in said[1:])
            return [], [(int(number), Selector.from_json(selector)) for number, selector in pairs]
        return [PutResult(word.decode()) for word in said], ()

    def acquire(self, cell: str, variant: str, *, holder: str, now: float, seconds: float) -> Lease:
        ends = now + seconds
        life = int((seconds + _LEASE_LIFE) * 1000)
        asked: tuple[Word, ...] = (cell, variant, holder, repr(now), repr(ends), repr(ends + LEASE_TOLERANCE), life)
        bucket = self._bucket(cell)
        try:
            granted, mark, *bodies = self._script(bucket, "acquire", *asked)
        except StoreFull:
            # Nobody can be kept waiting where nothing can be written; the answer will be refused and counted.
            return Lease(cell, variant, holder, True, _UNWRITTEN, self.get(cell))
        return Lease(cell, variant, holder, bool(granted), int(mark), tuple(self._readable(bodies)))

    def release(self, lease: Lease) -> None:
        self._script(self._bucket(lease.cell), "release", lease.cell, lease.variant, lease.holder)

    def entry(self, entry_id: str) -> Entry | None:
        cell = cell_of(entry_id)
        return next((entry for entry in self.get(cell) if entry.id == entry_id), None) if cell else None

    def retire(self, entry_id: str, *, reason: str, now: float) -> Entry | None:
        cell = cell_of(entry_id)
        if not cell:
            return None
        history = self._share(self._options.max_history)
        body = self._script(self._bucket(cell), "retire", cell, token_of(entry_id), reason, repr(now), history)
        return next(self._readable([body] if body else [], numbered=False), None)

    def find(self, selector: Selector) -> Iterator[Entry]:
        wanted = labels_wanted(selector)
        for bucket in range(self._layout.buckets):
            seen: set[bytes] = set()
            for page in self._pages(bucket, best_index(wanted)):
                fresh = [number for number in page if number not in seen]
                seen.update(fresh)
                bodies = self._script(bucket, "fetch", " ".join(wanted), *fresh) if fresh else []
                yield from (entry for entry in self._readable(bodies, numbered=False) if selector.matches(entry))

    def invalidate(self, selector: Selector, *, reason: str, now: float) -> int:
        wanted = labels_wanted(selector)
        index = best_index(wanted)
        told = (reason, repr(now), self._share(self._options.max_history), index or "", " ".join(wanted))
        total = 0
        for bucket in range(self._layout.buckets):
            self._mark(bucket, selector)
            for page in self._pages(bucket, index):
                for at in range(0, len(page), _TAKEN):
                    total += self._script(bucket, "take", *told, *page[at : at + _TAKEN])
        return total

    def history(self, cell: str) -> Sequence[Retired]:
        rows = (row.split(b"\n", 2) for row in self._link.call("LRANGE", self._layout.history(cell), 0, -1))
        return tuple(
            Retired(entry, reason.decode(), float(at))
            for reason, at, body in rows
            for entry in self._readable([body], numbered=False)
        )

    def sweep(self, now: float) -> int:
        total = 0
        for bucket in range(self._layout.buckets):
            found = _TAKEN
            while found == _TAKEN:
                history = self._share(self._options.max_history)
                found, taken = self._script(bucket, "sweep", repr(now), _TAKEN, history)
                total += taken
        return total

    def counts(self) -> Mapping[str, int]:
        """`refused` counts what this process could not keep because the server took no writes."""
        told = [self._script(bucket, "counts") for bucket in range(self._layout.buckets)]
        names = ("entries", "history", "evicted")
        return {
            **{name: sum(one[at] for one in told) for at, name in enumerate(names)},
            "damaged": self._unreadable,
            "refused": self._refused,
            "quarantined": self._link.call("HLEN", self._layout.quarantine),
        }

    def close(self) -> None:
        self._link.close()

    def _bucket(self, cell: str) -> int:
        return self._layout.bucket(cell)

    def _share(self, bound: int) -> int:
        return -(-bound // self._layout.buckets)

    def _latest_mark(self, bucket: int) -> int:
        return int(self._link.call("HGET", self._layout.name(bucket, "meta"), "mark") or 0)

    def _pages(self, bucket: int, index: str | None) -> Iterator[list[bytes]]:
        """Numbers of the entries of a bucket, a few at a time; some may come twice."""
        cursor: Any = 0
        while True:
            if index is None:
                cursor, found = self._link.call("HSCAN", self._layout.name(bucket, "entries"), cursor, "COUNT", _PAGE)
            else:
                key = self._layout.name(bucket, f"index:{index}")
                cursor, found = self._link.call("SSCAN", key, cursor, "COUNT", _PAGE)
            numbers = list(found)
            yield from (numbers[at : at + _PAGE] for at in range(0, len(numbers), _PAGE))
            if int(cursor) == 0:
                return

    def _readable(self, bodies: Sequence[bytes], *, numbered: bool = True) -> Iterator[Entry]:
        """Entries of bodies; one that cannot be read is counted and answers nothing."""
        for body in bodies:
            try:
                yield Entry.from_json((body.partition(b" ")[2] if numbered else body).decode())
            except ValueError:
                self._unreadable += 1


def _withdrawn(entry: Entry, marks: Sequence[tuple[int, Selector]], ticket: int) -> bool:
    """Whether an answer must not be kept: an invalidation since its ticket matches, or they are no longer all known."""
    lost_track = bool(marks) and marks[0][0] > ticket + 1
    return lost_track or any(number > ticket and selector.matches(entry) for number, selector in marks)


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Some entries at a time, so that no script runs for long and no message grows without bound."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) == _PUTS or size + len(entry.answer) > _PUT_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += len(entry.answer)
    if batch:
        yield batch
