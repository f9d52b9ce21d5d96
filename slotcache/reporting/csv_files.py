"""The report as CSV files, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from slotcache.reporting.confusion import Matrix
from slotcache.reporting.report import Report

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")

_Rows = Iterable[Sequence[object]]


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write one file for each part of the report.

    Args:
        report: The report.
        folder: Where; made when it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(folder / f"{name}.csv", header, rows) for name, header, rows in _files(report)]


def _files(report: Report) -> Iterator[tuple[str, Sequence[str], _Rows]]:
    sections, traffic = report.sections, report.traffic
    yield (
        "summary",
        (
            "source",
            "questions",
            "right",
            "abstained",
            "wrong",
            "wrong_low",
            "wrong_high",
            "out_of_scope_accepted",
            "harm",
        ),
        (
            (
                *(s.source, s.questions, s.right.count, s.abstained.count, s.wrong.count),
                *(s.wrong.low, s.wrong.high, s.outside.count, s.harm),
            )
            for s in sections
        ),
    )
    yield (
        "cells",
        ("source", "matrix", "asked", "read_as", "count", "accepted", "traffic", "harm"),
        (
            (s.source, m.name, c.gold, c.read, c.count, c.accepted, c.traffic, c.harm)
            for s in sections
            for m in _matrices(s.intents, s.slots, s.keys)
            for c in m.cells
        ),
    )
    yield (
        "rows",
        ("source", "matrix", "name", "questions", "right", "abstained", "wrong", "most_confused_with", "harm"),
        (
            (
                *(s.source, m.name, r.name, r.right.total, r.right.count, r.abstained.count, r.wrong.count),
                *(r.most_confused_with, r.harm),
            )
            for s in sections
            for m in _matrices(s.intents, s.slots, s.keys)
            for r in m.rows
        ),
    )
    yield (
        "questions",
        ("text", "asked", "read_as", "leaning", "abstain", "confidence", "traffic", "harmful", "verdict"),
        (
            (q.text, q.gold, q.read, q.leaning, q.abstain, q.confidence, q.traffic, q.harmful, q.verdict)
            for q in report.questions.values()
        ),
    )
    yield (
        "calibration",
        ("source", "low", "high", "confidence", "readings", "right", "right_low", "right_high"),
        (
            (s.source, b.low, b.high, b.confidence, b.right.total, b.right.count, b.right.low, b.right.high)
            for s in sections
            for b in s.calibration
        ),
    )
    yield (
        "coverage_risk",
        ("source", "bar", "coverage", "risk"),
        ((s.source, p.bar, p.coverage, p.risk) for s in sections for p in s.coverage_risk),
    )
    yield (
        "suspects",
        ("source", "text", "label", "rather", "why", "confidence"),
        (
            (s.source, report.questions[x.question].text, x.label, x.rather, x.why, x.confidence)
            for s in sections
            for x in s.suspects
        ),
    )
    yield (
        "residue",
        ("word", "count", "example"),
        ((w.word, w.count, w.examples[0] if w.examples else "") for w in traffic.residue),
    )
    yield (
        "trend",
        ("by", "name", "asked", "hits", "keyed", "near_misses", "disagreements", "reported"),
        (
            (by, p.name, p.asked, p.hits, p.keyed, p.near_misses, p.disagreements, p.reported)
            for by, periods in (("model", traffic.models), ("day", traffic.days))
            for p in periods
        ),
    )
    if report.diff is not None:
        yield (
            "moved",
            ("text", "before", "after", "kind", "traffic", "before_verdict", "after_verdict"),
            (
                (m.text, m.before, m.after, m.kind, m.traffic, m.before_verdict, m.after_verdict)
                for m in report.diff.moved
            ),
        )
        yield (
            "touched",
            ("entry", "question", "before", "after", "approved"),
            ((t.id, t.question, t.before, t.after, t.approved) for t in report.diff.touched),
        )


def _matrices(intents: Matrix, slots: Sequence[Matrix], keys: Matrix) -> Iterator[Matrix]:
    yield intents
    yield from slots
    yield keys


def _write(path: Path, header: Sequence[str], rows: _Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([_safe(value) for value in row] for row in rows)
    return path


def _safe(value: object) -> object:
    """A value that no spreadsheet takes for a formula: questions are written by customers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
