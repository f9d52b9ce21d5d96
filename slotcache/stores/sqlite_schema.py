"""The tables of the SQLite store, and what happens when a file was made by another version."""

from __future__ import annotations

import sqlite3
from typing import Final

from slotcache.errors import StoreError

APPLICATION_ID: Final = 0x510CAC4E
"""Marks a file as a slotcache store."""

SCHEMA_VERSION: Final = 2
"""Raised with every change of the tables; each version is a step of `_STEPS`."""

_TABLES: Final = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    cell TEXT NOT NULL,
    variant TEXT NOT NULL,
    key TEXT NOT NULL,
    intent TEXT NOT NULL,
    tenant TEXT NOT NULL,
    customer TEXT NOT NULL,
    epoch TEXT NOT NULL,
    generation TEXT NOT NULL,
    approved INTEGER NOT NULL,
    created REAL NOT NULL,
    expires REAL,
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX entries_address ON entries (cell, variant);
CREATE INDEX entries_key ON entries (key);
CREATE INDEX entries_intent ON entries (intent);
CREATE INDEX entries_epoch ON entries (epoch, tenant);
CREATE INDEX entries_customer ON entries (customer) WHERE customer != '';
CREATE INDEX entries_age ON entries (approved, created);
CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
CREATE TABLE slots (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries (number) ON DELETE CASCADE,
    PRIMARY KEY (name, value, entry)
) WITHOUT ROWID;
CREATE INDEX slots_entry ON slots (entry);
CREATE TABLE tags (
    tag TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries (number) ON DELETE CASCADE,
    PRIMARY KEY (tag, entry)
) WITHOUT ROWID;
CREATE INDEX tags_entry ON tags (entry);
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    cell TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX history_cell ON history (cell);
CREATE TABLE leases (
    cell TEXT NOT NULL,
    variant TEXT NOT NULL,
    holder TEXT NOT NULL,
    expires REAL NOT NULL,
    PRIMARY KEY (cell, variant)
) WITHOUT ROWID;
CREATE TABLE marks (number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, selector TEXT NOT NULL);
CREATE TABLE switches (intent TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hit TEXT NOT NULL,
    at REAL NOT NULL,
    author TEXT NOT NULL,
    note TEXT NOT NULL,
    key TEXT NOT NULL,
    UNIQUE (hit, author)
);
CREATE TABLE waiting (key TEXT PRIMARY KEY, times INTEGER NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO tallies VALUES ('entries', 0), ('history', 0), ('evicted', 0);
CREATE TRIGGER entries_in AFTER INSERT ON entries BEGIN
    UPDATE tallies SET value = value + 1 WHERE name = 'entries';
END;
CREATE TRIGGER entries_out AFTER DELETE ON entries BEGIN
    UPDATE tallies SET value = value - 1 WHERE name = 'entries';
END;
CREATE TRIGGER history_in AFTER INSERT ON history BEGIN
    UPDATE tallies SET value = value + 1 WHERE name = 'history';
    UPDATE tallies SET value = value + 1 WHERE name = 'evicted' AND new.reason = 'evicted';
END;
CREATE TRIGGER history_out AFTER DELETE ON history BEGIN
    UPDATE tallies SET value = value - 1 WHERE name = 'history';
END;
"""


_QUARANTINE: Final = """
CREATE TABLE quarantine (
    tenant TEXT NOT NULL,
    customer TEXT NOT NULL,
    key TEXT NOT NULL,
    at REAL NOT NULL,
    hit TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (tenant, customer, key)
) WITHOUT ROWID;
"""

_STEPS: Final = (_TABLES, _QUARANTINE)
"""What leads from each version to the next, beginning with a new file."""


def recognise(connection: sqlite3.Connection, where: str) -> int:
    """The schema version of a file, 0 for a new one; changes nothing.

    Raises:
        StoreError: the file belongs to another program or to a newer slotcache.
        sqlite3.Error: the file is damaged or cannot be reached.
    """
    owner, version, tables = (
        connection.execute(question).fetchone()[0]
        for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if owner != APPLICATION_ID and (owner or tables):
        raise StoreError(f"{where} is the database of another program; name another file for the cache")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{where} has schema {version} and this slotcache knows up to {SCHEMA_VERSION}; upgrade slotcache, or "
            "name another file"
        )
    return int(version)


def prepare(connection: sqlite3.Connection, where: str) -> None:
    """Make the tables in a new file, or bring those of an older slotcache up to date.

    Args:
        connection: Open, in autocommit mode.
        where: The file, for messages.

    Raises:
        StoreError: the file belongs to another program or to a newer slotcache.
        sqlite3.Error: the file is damaged or cannot be reached.
    """
    version = recognise(connection, where)
    if version == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made the tables while this one waited for its turn.
        for step in _STEPS[recognise(connection, where) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    statements, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
