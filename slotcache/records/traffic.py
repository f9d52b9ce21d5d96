"""The observer that records traffic: a bounded queue, a thread that writes, and losses that are counted."""

from __future__ import annotations

import atexit
import os
import queue
import random
import secrets
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from slotcache.domain.loader import load_domain
from slotcache.errors import Abstain, ConfigurationError
from slotcache.events import Answered, Event, LookedUp, Withdrawn
from slotcache.records.capture import Read, capture
from slotcache.records.places import Sweep, open_place
from slotcache.records.record import Record
from slotcache.records.redact import Redactor

_DAY: Final = 86_400.0
_BATCH: Final = 256
_SWEEP_SECONDS: Final = 60.0
_STOP: Final = object()
_LIVE: Final[weakref.WeakSet[TrafficRecord]] = weakref.WeakSet()


class TrafficRecord:
    """Records every decision of the caches that it observes; safe to share between threads and caches.

    It never makes a request wait and never raises: when the queue is full or the file cannot be written, the record is
    lost and counted (`counts`). Several processes of one machine may write to one file, and bots on any number of
    machines to one Redis or Valkey; files of several machines are merged with `slotcache records export` and `import`.
    """

    def __init__(
        self,
        where: str | Path,
        *,
        sample: float = 1.0,
        days: float = 90.0,
        rows: int = 1_000_000,
        waiting: int = 10_000,
        pause: float = 0.2,
        busy_seconds: float = 5.0,
        personal: Mapping[str, str] | None = None,
        read: Read | None = None,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Name the place; it is opened by the writer.

        Args:
            where: A SQLite file, made when it is not there; or the URL of Redis or Valkey servers (see
                `slotcache.stores.redis_url`), for bots on several machines.
            sample: Share of decisions to record, in (0, 1]. Near misses, disagreements of the readers, reported false
                hits and withheld answers are always recorded.
            days: How long records are kept.
            rows: How many records are kept at most; the oldest go first.
            waiting: How many events may wait for the writer.
            pause: Seconds for which the writer collects events before it writes.
            busy_seconds: For how long the writer of a file waits for other writers.
            personal: Expressions that find personal data; those of the shipped base when None.
            read: Reads redacted questions again and notes whether their key was kept; usually `parser.parse`.
            clock: Seconds since the epoch.
            chance: Gives numbers in [0, 1), for sampling.

        Raises:
            ConfigurationError: a dial makes no sense.
            StoreError: what is there is no traffic record.
        """
        if not 0.0 < sample <= 1.0:
            raise ConfigurationError(f"sample is {sample!r}; give a share above 0 and at most 1")
        if days <= 0 or rows < 1 or waiting < 1:
            raise ConfigurationError("days, rows and waiting must be above 0")
        self.where = where
        self._place = open_place(where, busy_seconds=busy_seconds)
        self._sample, self._days, self._rows = sample, days, rows
        self._pause = pause
        self._expressions, self._read = personal, read
        self._clock, self._chance = clock, chance
        self._waiting = waiting
        self._closed = False
        self._swept = float("-inf")
        self._redactor: Redactor | None = None
        self._place.check()
        self._start()
        _LIVE.add(self)
        atexit.register(self._close_at_exit)

    def __call__(self, event: Event) -> None:
        """Take note of an event; quick, and never raises on purpose."""
        if not isinstance(event, LookedUp | Answered | Withdrawn):
            return
        rate = 1.0 if self._sample == 1.0 or _always(event) else self._sample
        if rate < 1.0 and self._chance() >= rate:
            self._count("sampled_out")
            return
        if self._closed:
            self._count("lost")
            return
        if self._process != os.getpid():
            # A fork copies the queue but not the thread; what waits is written by the parent.
            self._start()
        try:
            self._queue.put_nowait((event, 1.0 / rate))
        except queue.Full:
            self._count("lost")

    def counts(self) -> dict[str, int]:
        """What this process did: `recorded`, `lost`, `sampled_out`, `removed`, `trouble`."""
        with self._lock:
            return {name: self._counts[name] for name in ("recorded", "lost", "sampled_out", "removed", "trouble")}

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything that was noted so far is written or lost; gives whether that happened in time."""
        if self._process != os.getpid():
            return True
        done = threading.Event()
        try:
            self._queue.put(done, timeout=timeout)
        except queue.Full:
            return False
        return done.wait(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Write what waits and stop. What is noted afterwards is lost and counted."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._close_at_exit)
        if self._process != os.getpid():
            return
        try:
            self._queue.put(_STOP, timeout=timeout)
        except queue.Full:
            self._count("lost", self._queue.qsize())
            return
        self._thread.join(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        """A queue, a thread and a name of this process's own; nothing of a parent's is touched."""
        self._process = os.getpid()
        self._writer = secrets.token_hex(8)
        self._numbers = self._told_lost = 0
        self._counts: Counter[str] = Counter()
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._queue: queue.Queue[object] = queue.Queue(self._waiting)
        self._thread = threading.Thread(target=self._work, name="slotcache-records", daemon=True)
        self._thread.start()

    def _close_at_exit(self) -> None:
        if self._process == os.getpid():
            self.close(timeout=2.0)

    def _work(self) -> None:
        going = True
        while going:
            batch: list[tuple[Event, float]] = []
            flushed: list[threading.Event] = []
            item = self._queue.get()
            until = time.monotonic() + self._pause
            while True:
                if item is _STOP:
                    going = False
                elif isinstance(item, threading.Event):
                    flushed.append(item)
                else:
                    batch.append(item)  # type: ignore[arg-type]
                if not going or flushed or len(batch) >= _BATCH:
                    break
                try:
                    item = self._queue.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    break
            with self._writing:
                self._write(batch)
            for done in flushed:
                done.set()
        with self._writing:
            self._place.close()

    def _write(self, batch: list[tuple[Event, float]]) -> None:
        records = [record for event, weight in batch if (record := self._capture(event, weight)) is not None]
        if not records:
            return
        lost, now = self.counts()["lost"], self._clock()
        due = not 0 <= now - self._swept < _SWEEP_SECONDS
        kept = self._place.write(
            records,
            writer=self._writer,
            at=now,
            lost=lost if lost != self._told_lost else None,
            sweep=Sweep(now - self._days * _DAY, self._rows) if due else None,
        )
        self._count("recorded", kept.written)
        self._count("removed", kept.removed)
        if not kept.whole:
            self._count("lost", len(records) - kept.written)
            self._count("trouble")
            return
        self._told_lost = lost
        if due:
            self._swept = now

    def _capture(self, event: Event, weight: float) -> Record | None:
        self._numbers += 1
        try:
            if self._redactor is None:
                found = self._expressions if self._expressions is not None else load_domain("english").personal
                self._redactor = Redactor(found)
            number = f"{self._writer}-{self._numbers:x}"
            return capture(event, number=number, redact=self._redactor, weight=weight, read=self._read)
        except Exception:  # one event that cannot be told must not stop the others from being recorded
            self._count("lost")
            self._count("trouble")
            return None

    def _count(self, name: str, by: int = 1) -> None:
        with self._lock:
            self._counts[name] += by


def _always(event: LookedUp | Answered | Withdrawn) -> bool:
    """Whether an event is too rare and too telling to be left to chance."""
    if isinstance(event, Withdrawn):
        return True
    if isinstance(event, LookedUp) and event.near is not None:
        return True
    return event.withheld is not None or event.outcome.abstain is Abstain.READERS_DISAGREE


def _before_fork() -> None:
    """Let go of the files: open on both sides, one side would delete what the other still writes to."""
    for record in tuple(_LIVE):
        record._writing.acquire()
        record._place.close()


def _after_fork_in_parent() -> None:
    for record in tuple(_LIVE):
        if record._writing.locked():
            record._writing.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent)
