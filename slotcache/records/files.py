"""Reads traffic records, and ships them between machines as JSON lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from slotcache.errors import ConfigurationError, StoreError
from slotcache.records.places import is_url
from slotcache.records.record import Kind, Record
from slotcache.records.schema import INSERT, connect, recognise, row
from slotcache.records.stream import StreamPlace

_BATCH: Final = 2_000
_BUSY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        added: Records that were new.
        known: Records that were there already.
    """

    added: int
    known: int


def read_records(path: str | Path, *, since: float = 0.0, kinds: Iterable[Kind] = tuple(Kind)) -> Iterator[Record]:
    """Records in the order in which they were kept, read while bots go on writing.

    Args:
        path: The traffic record, a file or a URL.
        since: Earliest time (inclusive), in seconds since the epoch.
        kinds: Which records.

    Raises:
        StoreError: the file is not there, cannot be read or is no traffic record.
    """
    if is_url(path):
        chosen = frozenset(kinds)
        yield from (r for _, r in numbered_records(path) if r.at >= since and r.kind in chosen)
        return
    wanted = [kind.value for kind in kinds]
    marks = ", ".join("?" * len(wanted))
    with closing(_open(Path(path))) as connection:
        try:
            found = connection.execute(
                f"SELECT body FROM records WHERE at >= ? AND kind IN ({marks}) ORDER BY number", (since, *wanted)
            )
            for (body,) in found:
                yield Record.from_json(body)
        except (sqlite3.Error, ValueError) as error:
            raise StoreError(f"{path}: cannot be read: {error}") from None


def numbered_records(path: str | Path, *, after: int = 0) -> Iterator[tuple[int, Record]]:
    """Records with their positions, which only ever grow; for readers who come back for what is new.

    Args:
        path: The traffic record.
        after: Position of the last record that was read, 0 for none.

    Raises:
        StoreError: as `read_records`.
    """
    if is_url(path):
        with closing(StreamPlace(str(path))) as stream:
            yield from stream.read(after=after)
        return
    with closing(_open(Path(path))) as connection:
        try:
            found = connection.execute("SELECT number, body FROM records WHERE number > ? ORDER BY number", (after,))
            for number, body in found:
                yield number, Record.from_json(body)
        except (sqlite3.Error, ValueError) as error:
            raise StoreError(f"{path}: cannot be read: {error}") from None


def last_number(path: str | Path) -> int:
    """Position of the last record; 0 when there is none.

    Raises:
        StoreError: as `read_records`.
    """
    if is_url(path):
        with closing(StreamPlace(str(path))) as stream:
            return stream.last()
    with closing(_open(Path(path))) as connection:
        try:
            return int(connection.execute("SELECT coalesce(max(number), 0) FROM records").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be read: {error}") from None


def lost(path: str | Path) -> int:
    """How many records the writers of a traffic record have reported as lost."""
    if is_url(path):
        with closing(StreamPlace(str(path))) as stream:
            return stream.lost()
    with closing(_open(Path(path))) as connection:
        try:
            return int(connection.execute("SELECT coalesce(sum(lost), 0) FROM losses").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be read: {error}") from None


def export_lines(path: str | Path, *, since: float = 0.0) -> Iterator[str]:
    """Records as JSON lines, without line ends."""
    return (record.to_json() for record in read_records(path, since=since))


def import_lines(path: str | Path, lines: Iterable[str], *, name: str = "input") -> Imported:
    """Add records from JSON lines; those that are there already are passed over.

    Args:
        path: The traffic record; it is made when it is not there.
        lines: One record a line; empty lines are passed over.
        name: What errors call the source.

    Raises:
        ConfigurationError: a line is no record; nothing of it or after it was added.
        StoreError: the file cannot be written.
    """
    if is_url(path):
        raise ConfigurationError(f"{path}: records are imported into a file; bots write to servers themselves")
    records = _records(lines, name)
    added = known = 0
    try:
        with closing(connect(Path(path), busy_seconds=_BUSY_SECONDS)) as connection:
            while batch := list(islice(records, _BATCH)):
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    before = connection.total_changes
                    connection.executemany(INSERT, map(row, batch))
                    new = connection.total_changes - before
                added += new
                known += len(batch) - new
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path}: cannot be written: {error}") from None
    return Imported(added, known)


def _records(lines: Iterable[str], name: str) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Record.from_json(line)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(
                f"{name}:{number}: {error}; expected a line that `slotcache records export` wrote"
            ) from None


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise StoreError(f"{path}: there is no such traffic record")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be opened: {error}") from None
    try:
        if recognise(connection, path):
            raise StoreError(f"{path}: the traffic record is empty; attach it to a bot first")
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(f"{path}: cannot be read: {error}") from None
    except StoreError:
        connection.close()
        raise
    return connection
