"""Keeps acts and claims, and gives the labels that stand as the rows that `slotcache retrain` reads.

Two people at once never lose or duplicate a label: who writes names the last act that they saw on the subject, and is
told what was said meanwhile instead of writing over it; an act that is handed in twice is kept once.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slotcache.errors import StoreError
from slotcache.review.acts import SETTLES, Act, Kind, rounded, standing, written
from slotcache.review.database import Database, recognise

CLAIM_SECONDS: Final = 600.0
"""For how long a question that somebody opened is left to them."""

_COLUMNS: Final = "id, at, author, kind, subject, body, undoes, number"
_SOURCE: Final = "review"
RETRACT: Final = ".retract"
"""Ends the id of an act that a row with `retract` stands for, behind the id of the act that was taken back."""


@dataclass(frozen=True, slots=True)
class Written:
    """The act was kept, now or when it was handed in before."""

    act: Act


@dataclass(frozen=True, slots=True)
class Stale:
    """Nothing was kept: others acted on the subject since.

    Attributes:
        since: What they did, oldest first.
    """

    since: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """Who looks at a subject.

    Attributes:
        author: Who.
        until: When it is free again, in seconds since the epoch.
    """

    author: str
    until: float


class LabelStore:
    """Acts and claims in one file."""

    def __init__(self, path: str | Path) -> None:
        """Open the file; it is made when it is not there.

        Raises:
            StoreError: the file is there and is something else.
        """
        self.database = Database(path)

    def add(self, act: Act, *, seen: int | None = None) -> Written | Stale:
        """Keep an act.

        Args:
            act: What was done.
            seen: Number of the last act on the subject that its author saw, 0 for none; None adds whatever was said.
        """
        with self.database.writing() as db:
            known = _one(db, "id = ?", act.id)
            if known is not None:
                return Written(known)
            if act.undoes and (undone := _one(db, "undoes = ?", act.undoes)) is not None:
                return Stale((undone,))
            held = _all(db, "subject = ?", act.subject)
            if seen is not None and held and held[-1].number > seen:
                return Stale(tuple(one for one in held if one.number > seen))
            body = json.dumps(dict(act.body), sort_keys=True)
            values = (act.id, rounded(act.at), act.author, act.kind.value, act.subject, body, act.undoes)
            cursor = db.execute(
                "INSERT INTO acts (id, at, author, kind, subject, body, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)", values
            )
            db.execute("DELETE FROM claims WHERE subject = ?", (act.subject,))
            kept = _act((*values, cursor.lastrowid))
            _mark(db, act.subject, [*held, kept])
            return Written(kept)

    def undo(self, act: Act, *, author: str, at: float, id: str = "") -> Written | Stale:
        """Take an act back; its author and the one who takes it back both stay on record.

        Gives `Stale` when it was taken back before.
        """
        back = Act(id or secrets.token_hex(16), at, author, Kind.UNDO, act.subject, {"text": act.text}, act.id)
        return self.add(back)

    def act(self, id: str) -> Act | None:
        """The act with an id."""
        with self.database.reading() as db:
            return _one(db, "id = ?", id)

    def acts(self, subject: str) -> list[Act]:
        """Everything that was done about a subject, oldest first."""
        with self.database.reading() as db:
            return _all(db, "subject = ?", subject)

    def of_kinds(self, *kinds: Kind) -> list[Act]:
        """All acts of some kinds, oldest first."""
        marks = ", ".join("?" * len(kinds))
        with self.database.reading() as db:
            return _all(db, f"kind IN ({marks})", *(kind.value for kind in kinds))

    def recent(self, *, author: str = "", most: int = 100) -> list[tuple[Act, bool]]:
        """The last acts, newest first, each with whether it still stands; of one person when one is named."""
        where, values = ("author = ?", (author,)) if author else ("1", ())
        with self.database.reading() as db:
            found = db.execute(
                f"SELECT {_COLUMNS}, EXISTS (SELECT 1 FROM acts AS later WHERE later.undoes = acts.id) "
                f"FROM acts WHERE {where} ORDER BY number DESC LIMIT ?",
                (*values, most),
            )
            return [(_act(row[:-1]), not row[-1]) for row in found]

    def claim(self, subject: str, *, author: str, now: float, seconds: float = CLAIM_SECONDS) -> Claim:
        """Ask to look at a subject; gives who does: the asker, or another one whose claim has not run out."""
        with self.database.writing() as db:
            row = db.execute("SELECT author, until FROM claims WHERE subject = ?", (subject,)).fetchone()
            if row is not None and row[0] != author and row[1] > now:
                return Claim(*row)
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (subject, author, now + seconds))
            return Claim(author, now + seconds)

    def release(self, subject: str, *, author: str) -> None:
        """Leave a subject to others; no effect when it is not the author's."""
        with self.database.writing() as db:
            db.execute("DELETE FROM claims WHERE subject = ? AND author = ?", (subject, author))

    def rows(self) -> list[dict[str, Any]]:
        """The labels that stand, as `exported_rows` gives them."""
        with self.database.reading() as db:
            return rows_of(_all(db, "1"))

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()


def exported_rows(path: str | Path) -> list[dict[str, Any]]:
    """The labels that stand in a review page's file, as rows that `slotcache.learning.labels.accept` takes.

    A text whose label was taken back or changed is retracted first, since an earlier retraining may have taken it in.
    Proposals for the domain are among the rows only once somebody accepted them.

    Raises:
        StoreError: the file is not there or is something else.
    """
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"{path}: there are no labels there; name the file that `slotcache review --labels` uses")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return [] if recognise(connection, path) else rows_of(_all(connection, "1"))
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be read: {error}") from None


def retracts(id: str) -> str:
    """Id of the last act that a retraction forgets, from the id of the retraction or of the act itself."""
    return id.removesuffix(RETRACT)


def rows_of(acts: Iterable[Act]) -> list[dict[str, Any]]:
    """Rows for a retraining from all acts, in the order in which subjects were first spoken of."""
    by_subject: dict[str, list[Act]] = defaultdict(list)
    for act in acts:
        by_subject[act.subject].append(act)
    rows = [row for held in by_subject.values() for row in _rows(held)]
    # A phrase that was taken out with one proposal may stand in another one, which then has the last word.
    return sorted(rows, key=lambda row: not ("patch" in row and "retract" in row))


def _rows(held: list[Act]) -> Iterator[dict[str, Any]]:
    stands = standing(held)
    patch = next((act.body["patch"] for act in reversed(held) if "patch" in act.body), None)
    if patch is not None:
        # Taking a proposal back says nothing about the label of the question that it was made for.
        yield from _addition(patch, held, stands)
        return
    settled = [act for act in held if act.kind in (Kind.LABEL, Kind.PERSONAL, Kind.PAIR, Kind.UNDO)]
    last = next((act for act in reversed(stands) if act.kind in (*SETTLES, Kind.PAIR)), None)
    former = [act for act in settled if act is not last]
    if former:
        yield from _retraction(former)
    if last is not None:
        yield from _row(last)


def _addition(patch: Any, held: list[Act], stands: list[Act]) -> Iterator[dict[str, Any]]:
    """A row with a proposal that is accepted, or one that takes it out of the versions that may carry it."""
    times = sum(act.kind is Kind.ACCEPT for act in held)
    made = next((act for act in stands if act.kind is Kind.PROPOSE), None)
    accepted = next((act for act in reversed(stands) if act.kind is Kind.ACCEPT), None)
    if made is not None and accepted is not None:
        # Accepted anew, it is another row than the one that was taken back.
        yield _about(made) | ({"id": accepted.id} if times > 1 else {}) | {"patch": patch}
    elif times or (held[-1].kind is Kind.UNDO and "patch" in held[-1].body):
        last = next(act for act in reversed(held) if act.kind is Kind.UNDO)
        yield _about(last) | {"id": retracts(last.id), "patch": patch, "retract": True}


def _retraction(former: list[Act]) -> Iterator[dict[str, Any]]:
    """A row that forgets what was said before, if a retraining may have taken it in."""
    said, last = next((act for act in former if act.kind is not Kind.UNDO), former[-1]), former[-1]
    about = _about(last) | {"id": retracts(last.id)}
    if said.kind is Kind.PAIR:
        yield about | {"a": said.body["a"], "b": said.body["b"], "retract": True}
    elif said.text:
        yield about | {"text": said.text, "retract": True}


def _row(act: Act) -> Iterator[dict[str, Any]]:
    if act.kind is Kind.LABEL:
        yield _about(act) | {"text": act.text, "intent": act.body["intent"], "slots": act.body["slots"]}
    elif act.kind is Kind.PERSONAL:
        yield _about(act) | {"text": act.text, "personal": True}
    elif act.kind is Kind.PAIR:
        yield _about(act) | {"a": act.body["a"], "b": act.body["b"], "same": act.body["same"]}


def _about(act: Act) -> dict[str, Any]:
    model = act.body.get("model")
    return {
        "id": act.id,
        "source": _SOURCE,
        "labeller": act.author,
        "time": written(act.at),
        **({"model": model} if model else {}),
    }


def _mark(db: sqlite3.Connection, subject: str, held: list[Act]) -> None:
    """Take a settled question out of the queue, or put it back when what settled it was taken back."""
    settled = any(act.kind in SETTLES or act.kind in (Kind.APPROVE, Kind.CLEAR) for act in standing(held))
    db.execute("UPDATE queue SET open = (NOT ? AND priority > 0) WHERE id = ?", (settled, subject))


def _all(db: sqlite3.Connection, where: str, *values: object) -> list[Act]:
    return [_act(row) for row in db.execute(f"SELECT {_COLUMNS} FROM acts WHERE {where} ORDER BY number", values)]


def _one(db: sqlite3.Connection, where: str, *values: object) -> Act | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM acts WHERE {where}", values).fetchone()
    return None if row is None else _act(row)


def _act(row: Any) -> Act:
    id, at, author, kind, subject, body, undoes, number = row
    return Act(id, at, author, Kind(kind), subject, json.loads(body), undoes, number)
