"""The file of the review page: acts that are only added, claims, and the queue that is worked out from the record."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from slotcache.errors import StoreError

APPLICATION_ID: Final = 0x510CAC1A
"""Marks a file as the store of a review page."""

SCHEMA_VERSION: Final = 1
_BUSY_SECONDS: Final = 30.0

_TABLES: Final = """
CREATE TABLE acts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    author TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    undoes TEXT NOT NULL
);
CREATE INDEX acts_subject ON acts (subject, number);
CREATE INDEX acts_author ON acts (author, number);
CREATE UNIQUE INDEX acts_undone_once ON acts (undoes) WHERE undoes != '';
CREATE TRIGGER acts_stay BEFORE DELETE ON acts BEGIN SELECT raise(ABORT, 'acts are never removed'); END;
CREATE TRIGGER acts_keep BEFORE UPDATE ON acts BEGIN SELECT raise(ABORT, 'acts are never changed'); END;
CREATE TABLE claims (
    subject TEXT PRIMARY KEY,
    author TEXT NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE queue (
    id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    why TEXT NOT NULL,
    priority REAL NOT NULL,
    open INTEGER NOT NULL,
    harm REAL NOT NULL,
    doubt REAL NOT NULL,
    traffic REAL NOT NULL,
    last REAL NOT NULL,
    reported REAL NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX queue_order ON queue (priority DESC, id, open) WHERE open;
CREATE INDEX queue_why ON queue (why, priority DESC, id, open) WHERE open;
CREATE INDEX queue_text ON queue (text, why, priority, id);
CREATE TABLE answers (
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (name, digest)
) WITHOUT ROWID;
CREATE TABLE progress (
    source TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) WITHOUT ROWID;
"""


class Database:
    """Connections to one file; safe to use from many threads, and beside other processes that use the file.

    Readers see what was committed before they began and never wait for the writer; writers take turns.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file; it is made when it is not there.

        Raises:
            StoreError: the file belongs to another program or to a newer slotcache, or cannot be opened.
        """
        self.path = Path(path)
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock, self._writing = threading.Lock(), threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connection()
            if recognise(connection, self.path):
                connection.executescript(
                    f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {APPLICATION_ID};"
                    f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
                )
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise StoreError(f"{self.path}: cannot be opened: {error}") from None
        except StoreError:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            yield self._connection()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that nobody else writes in; kept when the block ends well.

        Raises:
            StoreError: the file cannot be written; nothing of the block was kept.
        """
        with self._writing:
            connection = self._connection()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: cannot be written: {error}") from None
            finally:
                if connection.in_transaction:
                    connection.rollback()

    def close(self) -> None:
        """Let go of the file. Calling it twice is harmless."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("PRAGMA cache_size = -8192")
            with self._lock:
                self._opened.append(found)
            self._local.connection = found
        return found


def recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is still empty.

    Raises:
        StoreError: it is something else than the store of a review page that this version reads.
    """
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application == APPLICATION_ID and 0 < version <= SCHEMA_VERSION:
        return False
    if application == APPLICATION_ID:
        raise StoreError(f"{path}: labels of a newer slotcache (format {version}); update slotcache")
    if application or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: not the labels of a review page; name another file")
    return True
