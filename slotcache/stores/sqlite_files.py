"""Connections to the SQLite file: one for each thread, reopened after a fork, moved aside when the file is damaged."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock

from slotcache.errors import StoreError, StoreUnavailable
from slotcache.stores.sqlite_schema import prepare, recognise

_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BESIDE: Final = ("", "-wal", "-shm")
_MAX_IDLE: Final = 16
_Place = tuple[int, int]


class _Connection(sqlite3.Connection):
    """A connection that remembers which file it was opened on, whatever stands under that name later."""

    place: _Place | None = None


_INHERITED: Final[list[_Connection]] = []


class SqliteFile:
    """Hands out pooled connections to one file and turns every failure into `StoreUnavailable`."""

    def __init__(self, path: Path, *, busy_seconds: float) -> None:
        """Name the file; nothing is opened yet.

        Args:
            path: The file. Its folder is made when it does not exist.
            busy_seconds: For how long a statement waits for other writers.
        """
        self.path = path
        self.damaged = 0
        self._busy = busy_seconds
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._process = os.getpid()
        self._closed = False

    def check(self) -> None:
        """Open the file now, so that a wrong one is found at start-up.

        Raises:
            StoreError: the file belongs to another program or to a newer slotcache.
        """
        try:
            with self.reading():
                pass
        except StoreUnavailable:
            # Damaged files were moved aside by now; whatever else is wrong may be over by the first lookup.
            return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for statements that change nothing.

        Raises:
            StoreUnavailable: the file cannot be reached, is damaged, or the store was closed.
        """
        connection = None
        try:
            connection = self._take()
            yield connection
        except (sqlite3.Error, OSError) as error:
            self._discard(connection)
            connection = None
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
                self._set_aside()
            raise StoreUnavailable(f"{self.path}: {error}") from error
        finally:
            if connection is not None:
                self._give_back(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that is committed at the end, or undone when anything fails.

        Raises:
            StoreUnavailable: as for `reading`, or other writers took too long.
        """
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the idle connections now and those in use when they come back."""
        self._closed = True
        self._drop_idle()

    def _take(self) -> _Connection:
        if self._closed:
            raise StoreUnavailable(f"{self.path}: the store is closed")
        if self._process != os.getpid():
            # SQLite connections must not be used, not even closed, on the other side of a fork.
            _INHERITED.extend(self._idle)
            self._idle, self._process = [], os.getpid()
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._connect()
        if connection.place != self._place():
            # Removed, restored from a copy, or moved aside by another process that found it damaged. What is written
            # to the old file nobody else would ever see, withdrawals among it.
            connection.close()
            self._drop_idle()
            raise StoreUnavailable(f"{self.path}: another file stands in its place; it is opened anew")
        return connection

    def _place(self) -> _Place | None:
        """Which file stands under the name now; None without one."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _give_back(self, connection: _Connection) -> None:
        if self._closed or len(self._idle) >= _MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def _discard(self, connection: _Connection | None) -> None:
        if connection is not None:
            connection.close()

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _connect(self) -> _Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
            factory=_Connection,
        )
        try:
            recognise(connection, str(self.path))
            # A committed transaction survives the death of the process; only a power cut may take the last ones.
            # The page cache of 8 MiB holds the upper levels of every index up to millions of entries.
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "cache_size = -8192"):
                connection.execute(f"PRAGMA {pragma}")
            prepare(connection, str(self.path))
            connection.place = self._place()
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> None:
        """Move a damaged file out of the way, unless another process has done so already."""
        try:
            with FileLock(f"{self.path}.lock", timeout=self._busy), self._lock:
                self._drop_idle()
                if self._is_damaged():
                    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
                    for suffix in _BESIDE:
                        source = Path(f"{self.path}{suffix}")
                        if source.exists():
                            os.replace(source, _unused(f"{self.path}.damaged-{stamp}{suffix}"))
                    self.damaged += 1
        except (OSError, TimeoutError):
            # Not allowed to move it, or somebody else is at it: the next failure tries again.
            return

    def _is_damaged(self) -> bool:
        """Whether the file that is there now is the damaged one."""
        try:
            connection = self._connect()
        except sqlite3.DatabaseError as error:
            return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
        except StoreError:
            return False
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        except sqlite3.DatabaseError as error:
            return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
        finally:
            connection.close()


def _unused(path: str) -> str:
    """A path at which nothing is yet."""
    number = 0
    candidate = path
    while os.path.exists(candidate):
        number += 1
        candidate = f"{path}.{number}"
    return candidate
