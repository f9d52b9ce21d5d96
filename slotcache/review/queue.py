"""The queue: every question of the traffic once, with how often it was asked and how much it deserves a look."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from slotcache.entry import Entry
from slotcache.learning.labels import signature
from slotcache.records.capture import answer_digest
from slotcache.records.record import Kind, Record
from slotcache.reporting.judged import Answers
from slotcache.review.acts import question_id
from slotcache.review.database import Database
from slotcache.review.weigh import NOTHING, Weight, Why, weigh

_BATCH: Final = 2_000
_VARIANTS: Final = 6
_RECORDS: Final = "records"
_COLUMNS: Final = "id, text, why, priority, open, harm, doubt, traffic, last, reported, body"


@dataclass(frozen=True, slots=True)
class Item:
    """One question, however often and in whatever spelling it was asked, or one key that waits for a person.

    Attributes:
        id: Its subject.
        text: The question as it was asked first, redacted; the printed key of a key.
        why: The most pressing reason to look.
        priority: Harm x traffic x doubt.
        open: Whether somebody should look.
        harm: What a wrong reading would cost, in [0, 1].
        doubt: How likely it is wrong, in [0, 1].
        traffic: How often it was asked.
        last: When it was asked last, in seconds since the epoch.
        reported: When its answer was last reported as wrong; 0.0 for never.
        reasons: How often each reason came up.
        variants: Further spellings.
        record: The last record of its look-up; None of a key.
        hit_id: The hit that served it last, or that was reported; empty for none.
    """

    id: str
    text: str
    why: Why
    priority: float = 0.0
    open: bool = False
    harm: float = 0.0
    doubt: float = 0.0
    traffic: float = 0.0
    last: float = 0.0
    reported: float = 0.0
    reasons: Mapping[str, float] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    record: Record | None = None
    hit_id: str = ""

    @property
    def is_key(self) -> bool:
        """Whether it is a key that waits for a person rather than a question."""
        return self.why in (Why.QUARANTINE, Why.CONFLICT, Why.WAITING)


class Queue:
    """The queue of one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_in(self, records: Iterable[tuple[int, Record]]) -> int:
        """Add records with their positions; those taken in before are passed over. Gives how many were new."""
        listed = iter(records)
        taken = 0
        while batch := list(islice(listed, _BATCH)):
            with self._database.writing() as db:
                taken += _take(db, batch)
        return taken

    def position(self) -> int:
        """Position of the last record that was taken in; 0 for none."""
        with self._database.reading() as db:
            row = db.execute("SELECT number FROM progress WHERE source = ?", (_RECORDS,)).fetchone()
            return 0 if row is None else int(row[0])

    def forget(self) -> None:
        """Empty the queue, for a record that begins anew. Labels stay, and settle what they settled before."""
        with self._database.writing() as db:
            for table in ("queue", "answers", "progress"):
                db.execute(f"DELETE FROM {table}")

    def note_answers(self, entries: Iterable[Entry]) -> None:
        """Note which answers stand under which keys, so that confusing keys with one answer counts for little."""
        pairs = {(str(entry.key), answer_digest(entry.answer)) for entry in entries}
        with self._database.writing() as db:
            db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", sorted(pairs))

    def set_keys(self, items: Iterable[Item]) -> None:
        """Replace the keys that wait for a person by these."""
        wanted = {item.id: item for item in items}
        with self._database.writing() as db:
            marks = (Why.QUARANTINE.value, Why.CONFLICT.value, Why.WAITING.value)
            for (id,) in db.execute("SELECT id FROM queue WHERE why IN (?, ?, ?)", marks).fetchall():
                if id not in wanted:
                    db.execute("DELETE FROM queue WHERE id = ?", (id,))
            for item in wanted.values():
                _keep(db, item)

    def item(self, id: str) -> Item | None:
        """One question or key."""
        with self._database.reading() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM queue WHERE id = ?", (id,)).fetchone()
            return None if row is None else _item(row)

    def page(self, *, why: Why | None = None, search: str = "", first: int = 0, most: int = 50) -> list[Item]:
        """Questions to look at, the most pressing first; a search finds questions that nobody need look at, too.

        Args:
            why: Only these.
            search: Words of the question or its key.
            first: How many to pass over.
            most: How many to give.
        """
        where, values = ["open"], list[object]()
        if search:
            where, values = ["text LIKE ? ESCAPE '\\'"], [f"%{_literal(search)}%"]
        if why is not None:
            where, values = [*where, "why = ?"], [*values, why.value]
        # The ids come out of an index alone; whole rows are read only for what is shown.
        ids = f"SELECT id FROM queue WHERE {' AND '.join(where)} ORDER BY priority DESC, id LIMIT ? OFFSET ?"
        with self._database.reading() as db:
            found = db.execute(
                f"SELECT {_COLUMNS} FROM queue WHERE id IN ({ids}) ORDER BY priority DESC, id", (*values, most, first)
            )
            return [_item(row) for row in found]

    def next(self, *, author: str, now: float, why: Why | None = None, after: str = "") -> str | None:
        """The most pressing question that nobody else looks at; behind another one when that is to be passed over."""
        where, values = ["open", "NOT (coalesce(author, ?) != ? AND until > ?)"], list[object]((author, author, now))
        if why is not None:
            where, values = [*where, "why = ?"], [*values, why.value]
        with self._database.reading() as db:
            passed = db.execute("SELECT priority, id FROM queue WHERE id = ?", (after,)).fetchone() if after else None
            if passed is not None:
                where.append("(priority < ? OR (priority = ? AND id > ?))")
                values += [passed[0], passed[0], passed[1]]
            row = db.execute(
                "SELECT id FROM queue LEFT JOIN claims ON claims.subject = queue.id "
                f"WHERE {' AND '.join(where)} ORDER BY priority DESC, id LIMIT 1",
                values,
            ).fetchone()
            return None if row is None else str(row[0])

    def counts(self) -> dict[Why, int]:
        """How many wait for each reason."""
        with self._database.reading() as db:
            found = dict(db.execute("SELECT why, count(*) FROM queue WHERE open GROUP BY why").fetchall())
        return {why: found[why.value] for why in Why if why.value in found}


def _take(db: sqlite3.Connection, batch: Sequence[tuple[int, Record]]) -> int:
    row = db.execute("SELECT number FROM progress WHERE source = ?", (_RECORDS,)).fetchone()
    known = 0 if row is None else int(row[0])
    # Another process that serves this page may have taken them in meanwhile.
    fresh = [record for number, record in batch if number > known]
    if not fresh:
        return 0
    _note_answers(db, fresh)
    answers = _answers(db)
    items: dict[str, Item] = {}
    for record in fresh:
        if record.kind is Kind.ANSWER or not signature(record.text):
            continue
        id = question_id(record.text)
        if id not in items:
            row = db.execute(f"SELECT {_COLUMNS} FROM queue WHERE id = ?", (id,)).fetchone()
            items[id] = _item(row) if row is not None else Item(id, record.text, Why.NONE)
        items[id] = added(items[id], record, weigh(record, answers))
    for item in items.values():
        _keep(db, item)
    db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (_RECORDS, batch[-1][0]))
    return len(fresh)


def added(item: Item, record: Record, weight: Weight) -> Item:
    """An item with one more record of its question."""
    reported = record.kind is Kind.FALSE_HIT
    reasons = dict(item.reasons)
    if weight is not NOTHING:
        reasons[weight.why.value] = reasons.get(weight.why.value, 0.0) + record.weight
    known = {item.text, *item.variants}
    variants = item.variants if record.text in known else (*item.variants, record.text)[:_VARIANTS]
    traffic = item.traffic + (0.0 if reported else record.weight)
    # What was reported stays the reason to look; otherwise the last reading counts, by the model in use.
    now = Weight(item.why, item.harm, item.doubt) if item.why is Why.REPORTED and not reported else weight
    return replace(
        item,
        why=now.why,
        harm=now.harm,
        doubt=now.doubt,
        traffic=traffic,
        priority=now.product * max(1.0, traffic),
        last=max(item.last, record.at),
        reported=max(item.reported, record.at) if reported else item.reported,
        reasons=reasons,
        variants=variants,
        record=item.record if reported else record,
        hit_id=record.hit_id or item.hit_id,
    )


def _keep(db: sqlite3.Connection, item: Item) -> None:
    body = {
        "reasons": dict(item.reasons),
        "variants": list(item.variants),
        "record": item.record.to_json() if item.record is not None else None,
        "hit_id": item.hit_id,
    }
    values = (
        item.id,
        item.text,
        item.why.value,
        item.priority,
        item.priority > 0 and not _settled(db, item),
        item.harm,
        item.doubt,
        item.traffic,
        item.last,
        item.reported,
        json.dumps(body, separators=(",", ":")),
    )
    db.execute(f"INSERT OR REPLACE INTO queue ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _settled(db: sqlite3.Connection, item: Item) -> bool:
    """Whether a person settled it, and no report of a wrong answer came in after that."""
    row = db.execute(
        "SELECT max(at) FROM acts WHERE subject = ? AND kind IN ('label', 'personal', 'leave', 'approve', 'clear') "
        "AND NOT EXISTS (SELECT 1 FROM acts AS later WHERE later.undoes = acts.id)",
        (item.id,),
    ).fetchone()
    return row[0] is not None and row[0] >= max(item.reported, item.last if item.is_key else 0.0)


def _note_answers(db: sqlite3.Connection, records: Iterable[Record]) -> None:
    pairs: set[tuple[str, str]] = set()
    for record in records:
        if record.answer is not None and record.key is not None:
            pairs.add((record.key, record.answer))
            if record.intent is not None:
                pairs.add((record.intent, record.answer))
    db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", sorted(pairs))


def _answers(db: sqlite3.Connection) -> Answers:
    answers = Answers()
    for name, digest in db.execute("SELECT name, digest FROM answers"):
        answers.add(name, digest)
    return answers


def _literal(search: str) -> str:
    return "".join(f"\\{c}" if c in "\\%_" else c for c in " ".join(search.split()))


def _item(row: Any) -> Item:
    id, text, why, priority, is_open, harm, doubt, traffic, last, reported, body = row
    more = json.loads(body)
    return Item(
        id,
        text,
        Why(why),
        priority,
        bool(is_open),
        harm,
        doubt,
        traffic,
        last,
        reported,
        more["reasons"],
        tuple(more["variants"]),
        Record.from_json(more["record"]) if more["record"] else None,
        more["hit_id"],
    )
