"""Recorded traffic: who asked what and when, and, when somebody labelled it, what the right answer was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from slotcache.errors import ConfigurationError
from slotcache.evaluation.rows import Row


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of recorded traffic.

    Attributes:
        text: The utterance.
        customer: Who asked; None when unknown.
        at: When, in seconds since the epoch; None when unknown.
        truth: What tells whether an answer is right for it: the right answer, or else the label of the question. Empty
            when nobody said.
        answer: The right answer; empty when nobody said.
        kind: What sort of question it is; empty when nobody said.
    """

    text: str
    customer: str | None = None
    at: float | None = None
    truth: str = ""
    answer: str = ""
    kind: str = ""


def traffic_from(rows: Iterable[Row]) -> list[Asked]:
    """Traffic from rows with `text` and, where given, `customer`, `time` (ISO 8601), `question`, `answer` and `kind`.

    Raises:
        ConfigurationError: a field has the wrong form.
    """
    return [_asked(row) for row in rows]


def _asked(row: Row) -> Asked:
    for name in ("text", "customer", "time", "question", "answer", "kind"):
        if name in row and not isinstance(row[name], str):
            raise ConfigurationError(f"{name!r} must be a text in {row!r}")
    answer = row.get("answer", "")
    return Asked(
        text=row["text"],
        customer=row.get("customer") or None,
        at=_seconds(row["time"]) if "time" in row else None,
        truth=answer or row.get("question", ""),
        answer=answer,
        kind=row.get("kind", ""),
    )


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        raise ConfigurationError(f"{time!r} is no time; write it as 2026-03-02T06:00:43Z") from None
