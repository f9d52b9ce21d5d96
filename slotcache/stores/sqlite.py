"""Answers in one SQLite file: the default store. Several processes and threads may use it at once.

Write-ahead logging lets readers go on while one writer commits. Every change is one transaction, so a process that is
killed leaves the former state or the new one, and what was acknowledged stays. A damaged file is moved aside and
counted, and the store starts empty.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

from slotcache.entry import Entry, Retired, Selector
from slotcache.errors import ConfigurationError
from slotcache.stores.base import LEASE_TOLERANCE, Feedback, Lease, Place, PutResult, Quarantine, place_of
from slotcache.stores.sqlite_files import SqliteFile

_MARKS: Final = 256
_WAITING: Final = 10_000
_BATCH: Final = 500


def default_path() -> Path:
    """The file that is used when none is named: SLOTCACHE_STORE, or one in the user's data folder."""
    named = os.environ.get("SLOTCACHE_STORE")
    return Path(named) if named else user_data_path("slotcache", appauthor=False) / "answers.sqlite3"


class SqliteStore:
    """A store in one file.

    When it is full, expired entries leave first, then the oldest learned ones, then the oldest approved ones.
    """

    local = False

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_entries: int = 2_000_000,
        max_history: int = 200_000,
        busy_seconds: float = 1.0,
    ) -> None:
        """Open or make the file.

        Args:
            path: The file; `default_path()` when None.
            max_entries: How many entries may be in recall.
            max_history: How many entries that left recall are kept.
            busy_seconds: For how long a statement waits for other writers before the store counts as unavailable.

        Raises:
            ConfigurationError: a bound is not positive.
            StoreError: the file belongs to another program or to a newer slotcache.
        """
        if max_entries < 1 or max_history < 1:
            raise ConfigurationError("max_entries and max_history must be at least 1")
        if not busy_seconds > 0:
            raise ConfigurationError("busy_seconds must be above 0")
        self._max_entries = max_entries
        self._max_history = max_history
        self._unreadable = 0
        self._file = SqliteFile(Path(path) if path is not None else default_path(), busy_seconds=busy_seconds)
        self._file.check()

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def get(self, cell: str) -> tuple[Entry, ...]:
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM entries WHERE cell = ?", (cell,)).fetchall()
        return tuple(self._readable(rows))

    def put(self, entry: Entry, *, lease: Lease | None = None) -> PutResult:
        with self._file.writing() as db:
            if lease is not None:
                refused = _refused(db, entry, lease)
                _end_lease(db, lease)
                if refused is not None:
                    return refused
            result = _keep(db, entry)
            self._make_room(db, entry.created)
            return result

    def put_many(self, entries: Sequence[Entry]) -> int:
        with self._file.writing() as db:
            stored = sum(_keep(db, entry) is PutResult.STORED for entry in entries)
            if entries:
                self._make_room(db, max(entry.created for entry in entries))
            return stored

    def _make_room(self, db: sqlite3.Connection, now: float) -> None:
        excess = _tally(db, "entries") - self._max_entries
        if excess > 0:
            excess -= _retire_where(db, "expires <= ? ORDER BY expires LIMIT ?", (now, excess), "expired", now)
        if excess > 0:
            _retire_where(db, "1 ORDER BY approved, created LIMIT ?", (excess,), "evicted", now)
        surplus = _tally(db, "history") - self._max_history
        if surplus > 0:
            oldest = "SELECT number FROM history ORDER BY number LIMIT ?"
            db.execute(f"DELETE FROM history WHERE number IN ({oldest})", (surplus,))

    def acquire(self, cell: str, variant: str, *, holder: str, now: float, seconds: float) -> Lease:
        with self._file.writing() as db:
            row = db.execute("SELECT expires FROM leases WHERE cell = ? AND variant = ?", (cell, variant)).fetchone()
            granted = row is None or not now < row[0] <= now + seconds + LEASE_TOLERANCE
            if granted:
                db.execute("DELETE FROM leases WHERE expires <= ?", (now,))
                db.execute("REPLACE INTO leases VALUES (?, ?, ?, ?)", (cell, variant, holder, now + seconds))
            ticket = db.execute("SELECT coalesce(max(number), 0) FROM marks").fetchone()[0]
            rows = db.execute("SELECT body FROM entries WHERE cell = ?", (cell,)).fetchall()
        return Lease(cell, variant, holder, granted, int(ticket), tuple(self._readable(rows)))

    def release(self, lease: Lease) -> None:
        with self._file.writing() as db:
            _end_lease(db, lease)

    def entry(self, entry_id: str) -> Entry | None:
        with self._file.reading() as db:
            rows = db.execute("SELECT body FROM entries WHERE id = ?", (entry_id,)).fetchall()
        return next(self._readable(rows), None)

    def retire(self, entry_id: str, *, reason: str, now: float) -> Entry | None:
        with self._file.writing() as db:
            rows = db.execute("SELECT body FROM entries WHERE id = ?", (entry_id,)).fetchall()
            _retire_where(db, "id = ?", (entry_id,), reason, now)
            entry = next(self._readable(rows), None)
            if entry is not None:
                at = (entry.cell, entry.address.variant)
                db.execute("DELETE FROM leases WHERE cell = ? AND variant = ?", at)
            return entry

    def find(self, selector: Selector) -> Iterator[Entry]:
        where, values = _where(selector)
        after = -1
        while True:
            # In pages, so that a long walk keeps no read transaction open and the log can be checkpointed.
            with self._file.reading() as db:
                page = f"SELECT body, number FROM entries WHERE number > ? AND {where} ORDER BY number LIMIT ?"
                rows = db.execute(page, (after, *values, _BATCH)).fetchall()
            if not rows:
                return
            after = rows[-1][1]
            yield from (entry for entry in self._readable(rows) if selector.matches(entry))

    def invalidate(self, selector: Selector, *, reason: str, now: float) -> int:
        with self._file.writing() as db:
            db.execute("INSERT INTO marks (at, selector) VALUES (?, ?)", (now, selector.to_json()))
            db.execute("DELETE FROM marks WHERE number <= (SELECT max(number) FROM marks) - ?", (_MARKS,))
        where, values = _where(selector)
        total = 0
        while True:
            # In batches, so that serving processes can store answers in between.
            with self._file.writing() as db:
                gone = _retire_where(db, f"{where} LIMIT ?", (*values, _BATCH), reason, now)
                self._make_room(db, now)
            total += gone
            if gone == 0:
                return total

    def history(self, cell: str) -> Sequence[Retired]:
        with self._file.reading() as db:
            rows = db.execute("SELECT body, reason, at FROM history WHERE cell = ? ORDER BY number", (cell,)).fetchall()
        return tuple(Retired(entry, row[1], row[2]) for row in rows for entry in self._readable([row]))

    def sweep(self, now: float) -> int:
        total = 0
        while True:
            with self._file.writing() as db:
                gone = _retire_where(db, "expires <= ? LIMIT ?", (now, _BATCH), "expired", now)
                self._make_room(db, now)
            total += gone
            if gone == 0:
                return total

    def switches(self) -> frozenset[str]:
        with self._file.reading() as db:
            return frozenset(intent for (intent,) in db.execute("SELECT intent FROM switches").fetchall())

    def set_switch(self, intent: str, *, off: bool, now: float) -> None:
        with self._file.writing() as db:
            if off:
                db.execute("INSERT OR IGNORE INTO switches VALUES (?, ?)", (intent, now))
            else:
                db.execute("DELETE FROM switches WHERE intent = ?", (intent,))

    def add_feedback(self, feedback: Feedback) -> None:
        with self._file.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO feedback (hit, at, author, note, key) VALUES (?, ?, ?, ?, ?)",
                (feedback.hit_id, feedback.at, feedback.author, feedback.note, feedback.key),
            )

    def feedback(self) -> Sequence[Feedback]:
        with self._file.reading() as db:
            rows = db.execute("SELECT hit, at, author, note, key FROM feedback ORDER BY number").fetchall()
        return tuple(Feedback(*row) for row in rows)

    def add_quarantine(self, quarantine: Quarantine) -> None:
        with self._file.writing() as db:
            values = (*quarantine.place, quarantine.at, quarantine.hit_id, quarantine.author)
            db.execute("INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?, ?)", values)

    def end_quarantine(self, place: Place) -> bool:
        with self._file.writing() as db:
            return _end_quarantine(db, place)

    def in_quarantine(self, place: Place) -> bool:
        with self._file.reading() as db:
            return _in_quarantine(db, place)

    def quarantines(self) -> Sequence[Quarantine]:
        with self._file.reading() as db:
            rows = db.execute("SELECT * FROM quarantine ORDER BY at, tenant, customer, key").fetchall()
        return tuple(Quarantine(*row) for row in rows)

    def note_waiting(self, key: str, *, now: float) -> None:
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO waiting VALUES (?, 1, ?) "
                "ON CONFLICT (key) DO UPDATE SET times = times + 1, at = excluded.at",
                (key, now),
            )
            if db.execute("SELECT count(*) FROM waiting").fetchone()[0] > _WAITING:
                db.execute("DELETE FROM waiting WHERE key IN (SELECT key FROM waiting ORDER BY at LIMIT 100)")

    def waiting(self) -> Mapping[str, int]:
        with self._file.reading() as db:
            return dict(db.execute("SELECT key, times FROM waiting ORDER BY times DESC, key").fetchall())

    def counts(self) -> Mapping[str, int]:
        with self._file.reading() as db:
            tallies: dict[str, int] = dict(db.execute("SELECT name, value FROM tallies").fetchall())
            quarantined = int(db.execute("SELECT count(*) FROM quarantine").fetchone()[0])
        return tallies | {"damaged": self._file.damaged + self._unreadable, "quarantined": quarantined}

    def close(self) -> None:
        self._file.close()

    def _readable(self, rows: Sequence[Sequence[object]]) -> Iterator[Entry]:
        """Entries of rows whose first column is a body; one that cannot be read is counted and answers nothing."""
        for row in rows:
            entry = _entry(row)
            if entry is None:
                self._unreadable += 1
            else:
                yield entry


def _tally(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute("SELECT value FROM tallies WHERE name = ?", (name,)).fetchone()[0])


def _entry(row: Sequence[object]) -> Entry | None:
    try:
        return Entry.from_json(str(row[0]))
    except ValueError:
        return None


def _refused(db: sqlite3.Connection, entry: Entry, lease: Lease) -> PutResult | None:
    row = db.execute("SELECT holder FROM leases WHERE cell = ? AND variant = ?", (lease.cell, lease.variant)).fetchone()
    if row is None or row[0] != lease.holder:
        return PutResult.LEASE_LOST
    later = "SELECT number, selector FROM marks WHERE number > ? ORDER BY number"
    since = db.execute(later, (lease.ticket,)).fetchall()
    lost_track = bool(since) and since[0][0] > lease.ticket + 1
    if lost_track or any(Selector.from_json(selector).matches(entry) for _, selector in since):
        return PutResult.INVALIDATED
    return None


def _end_lease(db: sqlite3.Connection, lease: Lease) -> None:
    at = (lease.cell, lease.variant, lease.holder)
    db.execute("DELETE FROM leases WHERE cell = ? AND variant = ? AND holder = ?", at)


def _in_quarantine(db: sqlite3.Connection, place: Place) -> bool:
    known = "SELECT 1 FROM quarantine WHERE tenant = ? AND customer = ? AND key = ?"
    return db.execute(known, place).fetchone() is not None


def _end_quarantine(db: sqlite3.Connection, place: Place, *, until: float = math.inf) -> bool:
    ended = "DELETE FROM quarantine WHERE tenant = ? AND customer = ? AND key = ? AND at <= ?"
    return db.execute(ended, (*place, until)).rowcount > 0


def _keep(db: sqlite3.Connection, entry: Entry) -> PutResult:
    if entry.approved:
        _end_quarantine(db, place_of(entry.address), until=entry.created)
    elif _in_quarantine(db, place_of(entry.address)):
        return PutResult.QUARANTINED
    at = (entry.cell, entry.address.variant)
    rows = db.execute("SELECT body FROM entries WHERE cell = ? AND variant = ?", at).fetchall()
    for former in filter(None, map(_entry, rows)):
        if former.approved and not entry.approved and not former.expired(entry.created):
            return PutResult.APPROVED_EXISTS
        if former.approved and former.says_the_same_as(entry):
            return PutResult.UNCHANGED
    if rows:
        _retire_where(db, "cell = ? AND variant = ?", at, "superseded", entry.created)
    space, key = entry.address.namespace, entry.key
    number = db.execute(
        "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(entry.id, *at, str(key), key.intent, space.tenant, space.customer, space.epoch, space.generation),
            *(entry.approved, entry.created, entry.expires, entry.to_json()),
        ),
    ).lastrowid
    if not key.is_verbatim:
        db.executemany("INSERT INTO slots VALUES (?, ?, ?)", [(name, value, number) for name, value in key.slots])
    db.executemany("INSERT INTO tags VALUES (?, ?)", [(tag, number) for tag in dict.fromkeys(entry.tags)])
    return PutResult.STORED


def _retire_where(db: sqlite3.Connection, where: str, values: Sequence[object], reason: str, now: float) -> int:
    """Move entries to the history; `where` may carry an ORDER BY and a LIMIT. Gives how many."""
    rows = db.execute(f"SELECT number, cell, body FROM entries WHERE {where}", values).fetchall()
    db.executemany(
        "INSERT INTO history (cell, reason, at, body) VALUES (?, ?, ?, ?)",
        [(cell, reason, now, body) for _, cell, body in rows],
    )
    db.executemany("DELETE FROM entries WHERE number = ?", [(row[0],) for row in rows])
    return len(rows)


def _where(selector: Selector) -> tuple[str, tuple[object, ...]]:
    """The selector in SQL; it selects exactly what `Selector.matches` does."""
    columns = ("key", "intent", "epoch", "tenant", "customer", "generation")
    clauses: list[str] = []
    values: list[object] = []
    for name in columns:
        value = getattr(selector, name)
        if value is not None:
            clauses.append(f"{name} = ?")
            values.append(value)
    for name, value in selector.slots:
        if value == "*":
            clauses.append("number IN (SELECT entry FROM slots WHERE name = ?)")
            values.append(name)
        else:
            clauses.append("number IN (SELECT entry FROM slots WHERE name = ? AND value = ?)")
            values.extend((name, value))
    if selector.tag is not None:
        clauses.append("number IN (SELECT entry FROM tags WHERE tag = ?)")
        values.append(selector.tag)
    return " AND ".join(clauses) or "1", tuple(values)
