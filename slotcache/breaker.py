"""Leaves a store alone for a while after it failed several times in a row."""

from __future__ import annotations

from threading import Lock


class Breaker:
    """Decides whether the store may be tried at a moment; it reads no clock.

    After `failures` in a row nothing is let through for `pause` seconds, then one request at a time tries again. A
    clock that is set back never keeps it closed for longer than `pause`.
    """

    def __init__(self, *, failures: int, pause: float) -> None:
        self._failures = failures
        self._pause = pause
        self._in_a_row = 0
        self._since: float | None = None
        self._lock = Lock()

    @property
    def open(self) -> bool:
        """Whether the store is being left alone."""
        return self._since is not None

    def allows(self, now: float) -> bool:
        """Whether the store may be tried at `now`."""
        with self._lock:
            if self._since is None:
                return True
            if 0 <= now - self._since < self._pause:
                return False
            # The one that is let through; the others wait for its result, or for another pause.
            self._since = now
            return True

    def succeeded(self) -> None:
        """Note that the store answered."""
        if self._in_a_row:
            with self._lock:
                self._in_a_row, self._since = 0, None

    def failed(self, now: float) -> None:
        """Note that the store did not answer."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._failures:
                self._since = now
