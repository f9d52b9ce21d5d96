"""One caller of this process fills a key while the others wait for it."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock

from slotcache.entry import Entry


class Flight:
    """A fill in progress. Its result is the entry that was stored, or None when nothing was kept."""

    __slots__ = ("done", "waiting")

    def __init__(self) -> None:
        self.done: Future[Entry | None] = Future()
        # From here on nobody who waits can cancel it for the others.
        self.done.set_running_or_notify_cancel()
        self.waiting = 0


class Flights:
    """The fills in progress, by address."""

    def __init__(self, *, max_waiters: int) -> None:
        """Make an empty table.

        Args:
            max_waiters: How many callers may wait for one flight.
        """
        self._max_waiters = max_waiters
        self._lock = Lock()
        self._flights: dict[str, Flight] = {}

    def join(self, address: str) -> tuple[Flight | None, bool]:
        """Take part in filling an address.

        Returns:
            The flight and whether the caller leads it; no flight when too many wait for it already.
        """
        with self._lock:
            flight = self._flights.get(address)
            if flight is None:
                self._flights[address] = flight = Flight()
                return flight, True
            if flight.waiting >= self._max_waiters:
                return None, False
            flight.waiting += 1
            return flight, False

    def land(self, address: str, flight: Flight, entry: Entry | None) -> None:
        """End a flight and tell the waiting callers."""
        with self._lock:
            if self._flights.get(address) is flight:
                del self._flights[address]
        flight.done.set_result(entry)

    def __len__(self) -> int:
        return len(self._flights)
