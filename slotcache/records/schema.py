"""The table of the traffic record. What is searched is a column; `body` holds the whole record as JSON."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from slotcache.errors import StoreError
from slotcache.records.record import Record

APPLICATION_ID: Final = 0x510CACE7
"""Marks a file as a traffic record."""

SCHEMA_VERSION: Final = 1

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    decision TEXT NOT NULL,
    reason TEXT NOT NULL,
    key TEXT,
    intent TEXT,
    abstain TEXT,
    confidence REAL NOT NULL,
    model TEXT NOT NULL,
    tenant TEXT NOT NULL,
    normal TEXT NOT NULL,
    hit_id TEXT,
    near_key TEXT,
    weight REAL NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS records_at ON records (at);
CREATE INDEX IF NOT EXISTS records_normal ON records (normal, at);
CREATE INDEX IF NOT EXISTS records_hit ON records (hit_id) WHERE hit_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS losses (
    writer TEXT PRIMARY KEY,
    at REAL NOT NULL,
    lost INTEGER NOT NULL
) WITHOUT ROWID;
"""

INSERT: Final = """
INSERT OR IGNORE INTO records (id, at, kind, decision, reason, key, intent, abstain, confidence, model, tenant, normal,
    hit_id, near_key, weight, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def row(record: Record) -> tuple[object, ...]:
    """The columns of a record, for `INSERT`."""
    return (
        record.id,
        record.at,
        record.kind.value,
        record.decision,
        record.reason,
        record.key,
        record.intent,
        record.abstain,
        record.confidence,
        record.model,
        record.tenant,
        record.normal,
        record.hit_id,
        record.near_key,
        record.weight,
        record.to_json(),
    )


def connect(path: Path, *, busy_seconds: float) -> sqlite3.Connection:
    """Open a traffic record for writing; it is made when it is not there.

    Raises:
        StoreError: the file belongs to another program or to a newer slotcache.
        sqlite3.Error: the file cannot be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    try:
        fresh = recognise(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if fresh:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is still empty.

    Raises:
        StoreError: it is something else than a traffic record that this version reads.
    """
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application == APPLICATION_ID and 0 < version <= SCHEMA_VERSION:
        return False
    if application == APPLICATION_ID:
        raise StoreError(f"{path}: a traffic record of a newer slotcache (format {version}); update slotcache")
    if application or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreError(f"{path}: not a traffic record; name another file")
    return True
