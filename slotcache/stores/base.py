"""What a store must do, so that the cache can be indifferent to where answers live.

Stores are synchronous. The async shell runs them in a bounded thread pool, except those that say `local`, which never
block. One protocol was chosen over a second, async one because the costly part of a lookup elsewhere than in memory is
the way to the disk or the server, beside which a change of thread (some ten microseconds) does not show, and because
two implementations of every store is how an async path comes to disagree with the sync one.

A cell is the unit of place: everything that `get`, `put`, `acquire`, `release` and `retire` touch belongs to one cell
(its entries, their history, its leases), and an entry's id begins with its cell. A store may therefore keep a cell in
one Redis Cluster slot (`{cell}` as the hash tag) and make each of these one atomic step there. What spans cells
(`find`, `invalidate`, `put_many`, switches, feedback, quarantine) needs no transaction across them: each method says
what it promises.

Stores never read a clock. Failing to reach the data is `StoreUnavailable`, whatever the library underneath raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from slotcache.address import Address
from slotcache.entry import Entry, Retired, Selector

LEASE_TOLERANCE: Final = 60.0
"""Seconds by which the clocks of two askers may differ: a lease that ends later than any could, by more than this, was
granted before the clock was set back, and does not count."""


class PutResult(StrEnum):
    """What became of an entry handed to a store."""

    STORED = "stored"
    UNCHANGED = "unchanged"
    APPROVED_EXISTS = "approved_exists"
    LEASE_LOST = "lease_lost"
    INVALIDATED = "invalidated"
    QUARANTINED = "quarantined"
    STORE_FULL = "store_full"


@dataclass(frozen=True, slots=True)
class Lease:
    """The answer to a request to fill one variant of a cell.

    Attributes:
        cell: Where.
        variant: Which fingerprint.
        holder: Who asked.
        granted: Whether the asker may fill; otherwise somebody else is filling.
        ticket: Number of the latest invalidation when it was granted.
        held: What the cell holds at that moment.
    """

    cell: str
    variant: str
    holder: str
    granted: bool
    ticket: int
    held: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Feedback:
    """A report that an answer was wrong.

    Attributes:
        hit_id: The hit that was reported; it begins with the entry's id.
        at: When it was reported, in seconds since the epoch.
        author: Who reported it.
        note: What they said.
        key: The printed key, when the entry was still known.
    """

    hit_id: str
    at: float
    author: str = ""
    note: str = ""
    key: str = ""


Place = tuple[str, str, str]
"""Tenant, customer (empty for answers that everybody may read) and printed key."""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A key that gave a wrong answer: no learned answer fills it until a person approves one or clears it.

    It stands for a key of one tenant (and customer) in all locales, models, prompts, epochs and generations, so that
    neither a retraining nor a new policy epoch lets it lapse.

    Attributes:
        tenant: Whose bot gave the answer.
        customer: The customer whose answer it was; empty for one that everybody could read.
        key: The printed key.
        at: Since when, in seconds since the epoch.
        hit_id: The hit that was reported first.
        author: Who reported it.
    """

    tenant: str
    customer: str
    key: str
    at: float
    hit_id: str = ""
    author: str = ""

    @property
    def place(self) -> Place:
        """What is in quarantine."""
        return self.tenant, self.customer, self.key


def place_of(address: Address) -> Place:
    """What a report about an answer at this address puts in quarantine."""
    return address.namespace.tenant, address.namespace.customer, str(address.key)


class Store(Protocol):
    """Where answers live. Implementations are safe to use from many threads."""

    @property
    def local(self) -> bool:
        """Whether no method ever waits for a disk, a server or another process."""

    def get(self, cell: str) -> Sequence[Entry]:
        """All entries in recall in a cell, expired ones included."""

    def put(self, entry: Entry, *, lease: Lease | None = None) -> PutResult:
        """Keep an entry in place of the one with the same address, which moves to the history.

        Atomic: a reader sees the former entry or this one, and what was acknowledged survives the death of the process.
        A learned entry never replaces an approved one that is still valid when the new one was created. With a lease,
        the entry is refused when the lease is no longer the holder's, or when an invalidation with a number above its
        ticket matches the entry; a granted lease ends with the put, whatever its result. A learned entry is refused
        while its place is in quarantine; an approved one that is younger than the quarantine ends it. A store that has
        no room or takes no writes says `STORE_FULL`: what it holds can still be served.
        """

    def put_many(self, entries: Sequence[Entry]) -> int:
        """Keep many entries; gives how many were new. Stores with transactions keep all of them or none."""

    def acquire(self, cell: str, variant: str, *, holder: str, now: float, seconds: float) -> Lease:
        """Ask to fill a variant for so many seconds from `now`. A lease that has run out is granted anew.

        Clocks of several askers may differ by `LEASE_TOLERANCE`.
        """

    def release(self, lease: Lease) -> None:
        """Give a lease back without filling; no effect when it is no longer the holder's."""

    def entry(self, entry_id: str) -> Entry | None:
        """The entry in recall with this id."""

    def retire(self, entry_id: str, *, reason: str, now: float) -> Entry | None:
        """Take an entry out of recall into the history, and end a fill in progress; gives what was taken."""

    def find(self, selector: Selector) -> Iterator[Entry]:
        """Entries in recall that match, in no particular order, without holding up others meanwhile."""

    def invalidate(self, selector: Selector, *, reason: str, now: float) -> int:
        """Take all matching entries out of recall; gives how many.

        An answer that was being made when this is called and that matches is not kept afterwards either.
        """

    def history(self, cell: str) -> Sequence[Retired]:
        """Entries of a cell that left recall, oldest first, as far as the bounded history reaches."""

    def sweep(self, now: float) -> int:
        """Move entries whose time is over at `now` to the history; gives how many."""

    def switches(self) -> frozenset[str]:
        """Intents that are switched off."""

    def set_switch(self, intent: str, *, off: bool, now: float) -> None:
        """Switch an intent off or on for every process that uses this store."""

    def add_feedback(self, feedback: Feedback) -> None:
        """Record a report. The same hit reported twice by one author counts once."""

    def feedback(self) -> Sequence[Feedback]:
        """All reports, oldest first."""

    def add_quarantine(self, quarantine: Quarantine) -> None:
        """Let no learned answer fill a place from now on, not even one that is being made; the first report stands."""

    def end_quarantine(self, place: Place) -> bool:
        """Let learned answers fill a place again; gives whether it was in quarantine."""

    def in_quarantine(self, place: Place) -> bool:
        """Whether no learned answer may fill a place."""

    def quarantines(self) -> Sequence[Quarantine]:
        """Everything that is in quarantine, oldest first."""

    def note_waiting(self, key: str, *, now: float) -> None:
        """Count a question whose answer could not be kept because its asker was not fillable."""

    def waiting(self) -> Mapping[str, int]:
        """How often each key was asked without being fillable, most often first."""

    def counts(self) -> Mapping[str, int]:
        """At least `entries`, `history`, `evicted`, `damaged` and `quarantined`."""

    def close(self) -> None:
        """Let go of files and connections. Calling it twice is harmless."""
