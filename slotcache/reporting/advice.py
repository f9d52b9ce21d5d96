"""What to do next, worked out from the report: the most harmful first, a handful at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from slotcache.key import Key
from slotcache.reporting.confusion import ABSENT, Cell
from slotcache.reporting.judged import OUT_OF_SCOPE
from slotcache.reporting.report import Report, Section

_MOST: Final = 5
_LOOSE: Final = 0.1
"""Calibration error from which confidence is not worth much."""

_FEW: Final = 200
"""In-scope questions below which bounds are too wide to conclude much."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do.

    Attributes:
        what: What to do, in a few words.
        why: What the report shows.
        anchor: The part of the page that shows it.
    """

    what: str
    why: str
    anchor: str


def advice(report: Report) -> tuple[Step, ...]:
    """The next steps, the most pressing first."""
    return tuple(step for _, step in zip(range(_MOST), _steps(report), strict=False))


def _steps(report: Report) -> Iterator[Step]:
    traffic, section = report.traffic, report.headline
    if traffic.reported:
        yield Step(
            "Look at the answers that were reported as wrong",
            f"“{traffic.reported[0].text}”"
            + (f" and {len(traffic.reported) - 1} more" if len(traffic.reported) > 1 else ""),
            "reported",
        )
    if section is not None:
        yield from _misread(section)
    if report.diff is not None and report.diff.harm_after > report.diff.harm_before:
        yield Step(
            f"Do not promote {report.diff.after}",
            f"harm rises from {report.diff.harm_before:g} to {report.diff.harm_after:g}",
            "diff",
        )
    if traffic.residue:
        words = ", ".join(f"“{word.word}”" for word in traffic.residue[:3])
        yield Step(
            f"Teach the domain {words}",
            f"nothing accounts for them; “{traffic.residue[0].word}” alone keeps "
            f"{_counted(traffic.residue[0].count, 'question')} from a key",
            "residue",
        )
    if section is not None and section.suspects:
        yield Step("Check labels that may be wrong", f"{len(section.suspects)} of them", "suspects")
    if traffic.near_misses:
        first = traffic.near_misses[0]
        yield Step(
            "Look at the near misses",
            f"a protected word blocked “{first.text}” {_counted(first.count, 'time')}; confirm that it should",
            "near",
        )
    # The deterministic reader is always sure, and a few readings calibrate nothing.
    judged = sum(b.right.total for b in section.calibration) if section is not None and report.model else 0
    if section is not None and judged >= _FEW and section.calibration_error > _LOOSE:
        yield Step(
            "Retrain: confidence is off",
            f"on average by {section.calibration_error:.0%} from the share that is right",
            "calibration",
        )
    if section is None:
        yield Step("Label some questions", "without labels, right and wrong are not known", "summary")
    elif section.right.total < _FEW:
        yield Step(
            "Label more questions",
            f"{section.right.total} in-scope questions leave the wrong share anywhere up to {section.wrong.high:.1%}",
            "intents",
        )
    if report.lost:
        yield Step("Give the traffic record more room", f"the bots lost {report.lost:,} records", "summary")


def _misread(section: Section) -> Iterator[Step]:
    harmful = [cell for cell in section.keys.cells if cell.harm]
    if harmful:
        cell = harmful[0]
        times = (
            f"asked {_counted(cell.traffic, 'time')}" if cell.traffic > cell.count else _counted(cell.count, "question")
        )
        yield Step(_apart(cell), f"{times}, and a wrong answer would have been served", "keys")
    elif section.outside.count:
        yield Step(
            "Turn away what is out of scope",
            f"{section.outside.count} of {section.outside.total} such questions got a key",
            "intents",
        )


def _apart(cell: Cell) -> str:
    """What to keep apart, in as few words as tell it."""
    if cell.gold == OUT_OF_SCOPE:
        return f"Turn away what is read as {cell.read} and is out of scope"
    asked, read = Key.parse(cell.gold), Key.parse(cell.read)
    if asked.intent != read.intent:
        return f"Keep {asked.intent} from being read as {read.intent}"
    held, seen = asked.as_dict(), read.as_dict()
    slots = sorted(name for name in {*held, *seen} if held.get(name) != seen.get(name))
    told = "; ".join(f"{name} {held.get(name, ABSENT)} is read as {seen.get(name, ABSENT)}" for name in slots)
    return f"Keep values of {asked.intent} apart: {told}"


def _counted(count: float, thing: str) -> str:
    return f"{count:,.0f} {thing}" if round(count) == 1 else f"{count:,.0f} {thing}s"
