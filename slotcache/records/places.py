"""Where traffic records are kept: a SQLite file, or a stream on the Redis or Valkey servers that all bots reach."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from slotcache.errors import StoreError
from slotcache.records.record import Record
from slotcache.records.schema import INSERT, connect, row

_URL: Final = "://"


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of some records.

    Attributes:
        written: How many were written; the others are lost.
        removed: How many older ones were removed for their age or number.
        whole: Whether nothing went wrong.
    """

    written: int
    removed: int = 0
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is to be removed: records from before `oldest` (seconds since the epoch), and the oldest above `rows`."""

    oldest: float
    rows: int


class Place(Protocol):
    """Takes records from one writer's thread."""

    def check(self) -> None:
        """Find out at start-up whether records can be kept here at all; what may be over later passes.

        Raises:
            StoreError: they cannot.
        """

    def write(
        self, records: Sequence[Record], *, writer: str, at: float, lost: int | None, sweep: Sweep | None
    ) -> Kept:
        """Keep records, and how many this writer has lost so far when that is not None. Never raises."""

    def close(self) -> None:
        """Let go of files and connections; the next write opens them again."""


def is_url(where: str | Path) -> bool:
    """Whether a place is on servers rather than a file."""
    return _URL in str(where)


def open_place(where: str | Path, *, busy_seconds: float) -> Place:
    """The place at a path or a URL.

    Raises:
        ConfigurationError: the URL makes no sense.
    """
    if is_url(where):
        from slotcache.records.stream import StreamPlace

        return StreamPlace(str(where))
    return FilePlace(Path(where), busy_seconds=busy_seconds)


class FilePlace:
    """A SQLite file, for the processes of one machine."""

    def __init__(self, path: Path, *, busy_seconds: float) -> None:
        self._path, self._busy = path, busy_seconds
        self._connection: sqlite3.Connection | None = None

    def check(self) -> None:
        """Raise when the file is there and is no traffic record."""
        with suppress(sqlite3.Error, OSError):
            connect(self._path, busy_seconds=self._busy).close()

    def write(
        self, records: Sequence[Record], *, writer: str, at: float, lost: int | None, sweep: Sweep | None
    ) -> Kept:
        """Keep all of them or none."""
        try:
            connection = self._connection = self._connection or connect(self._path, busy_seconds=self._busy)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, map(row, records))
            if lost is not None:
                connection.execute("INSERT OR REPLACE INTO losses VALUES (?, ?, ?)", (writer, at, lost))
            removed = _sweep(connection, sweep) if sweep is not None else 0
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError, StoreError):
            # A full disk, a locked or damaged file, a folder that went away: the next batch tries anew.
            self.close()
            return Kept(0, whole=False)
        return Kept(len(records), removed)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _sweep(connection: sqlite3.Connection, sweep: Sweep) -> int:
    before = connection.total_changes
    connection.execute("DELETE FROM records WHERE at < ?", (sweep.oldest,))
    connection.execute(
        "DELETE FROM records WHERE number <= (SELECT number FROM records ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (sweep.rows,),
    )
    return connection.total_changes - before
