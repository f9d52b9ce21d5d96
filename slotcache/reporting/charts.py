"""Coordinates of the page's charts, in the units of their SVG view boxes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.reporting.curves import Bin, Point
from slotcache.reporting.shares import Share
from slotcache.reporting.traffic import Period

WIDTH: Final = 420
HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 34


@dataclass(frozen=True, slots=True)
class Mark:
    """One point with its error bar and what it says."""

    x: float
    y: float
    low: float
    high: float
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        marks: Points.
        line: The points as an SVG polyline.
        x_ticks: Position and text.
        y_ticks: Position and text.
        second: A second line over the same axes; empty for none.
    """

    marks: tuple[Mark, ...]
    line: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    second: str = ""


def calibration_chart(bins: Sequence[Bin]) -> Chart | None:
    """Share right against confidence; None when nothing was read."""
    if not bins:
        return None
    marks = tuple(
        Mark(
            _x(b.confidence),
            _y(b.right.rate),
            _y(b.right.low),
            _y(b.right.high),
            f"confidence {b.confidence:.0%}: {b.right.count} of {b.right.total} right",
        )
        for b in bins
    )
    return Chart(marks, _line(marks), _ticks(_x, 1.0), _ticks(_y, 1.0))


def coverage_chart(points: Sequence[Point]) -> Chart | None:
    """Share wrong against coverage; None when nothing was read."""
    if not points:
        return None
    top = _round_up(max(point.risk for point in points))
    marks = tuple(
        Mark(
            _x(p.coverage),
            _y(p.risk / top),
            _y(p.risk / top),
            _y(p.risk / top),
            f"bar {p.bar:.2f}: {p.coverage:.1%} accepted, {p.risk:.2%} of them wrong",
        )
        for p in points
    )
    return Chart(marks, _line(marks), _ticks(_x, 1.0), _ticks(_y, top))


def trend_chart(days: Sequence[Period]) -> Chart | None:
    """Share of questions with a key and share of hits, by day; None for fewer than two days."""
    if len(days) < 2:
        return None

    def marks(values: Sequence[float]) -> tuple[Mark, ...]:
        places = [_x(at / (len(days) - 1)) for at in range(len(days))]
        return tuple(Mark(x, _y(v), _y(v), _y(v), "") for x, v in zip(places, values, strict=True))

    keyed = marks([day.keyed / (day.asked or 1) for day in days])
    hits = marks([day.hits / (day.asked or 1) for day in days])
    ends = ((_x(0.0), days[0].name), (_x(1.0), days[-1].name))
    return Chart(keyed, _line(keyed), ends, _ticks(_y, 1.0), _line(hits))


def versions_chart(models: Sequence[tuple[str, Share]]) -> Chart | None:
    """Wrong among accepted readings, by model version in the order given; None for fewer than two versions."""
    if len(models) < 2:
        return None
    top = _round_up(max(wrong.high for _, wrong in models))
    places = [(at + 0.5) / len(models) for at in range(len(models))]
    marks = tuple(
        Mark(
            _x(place),
            _y(wrong.rate / top),
            _y(wrong.low / top),
            _y(wrong.high / top),
            f"{name}: {wrong.count} of {wrong.total} wrong, {wrong.low:.1%} to {wrong.high:.1%}",
        )
        for place, (name, wrong) in zip(places, models, strict=True)
    )
    ends = ((_x(0.0), models[0][0]), (_x(1.0), models[-1][0]))
    return Chart(marks, _line(marks), ends, _ticks(_y, top))


def _x(share: float) -> float:
    return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def _line(marks: Sequence[Mark]) -> str:
    return " ".join(f"{mark.x},{mark.y}" for mark in marks)


def _ticks(at: Callable[[float], float], top: float) -> tuple[tuple[float, str], ...]:
    digits = 0 if top >= 0.2 else 1 if top >= 0.02 else 2
    return tuple((at(step / 4), f"{step / 4 * top:.{digits}%}") for step in range(5))


def _round_up(value: float) -> float:
    """The next round number: 1, 2 or 4 of a power of ten, at most 1."""
    if value <= 0:
        return 0.04
    power = 10.0 ** math.floor(math.log10(value))
    return float(min(1.0, next(step * power for step in (1, 2, 4, 10) if step * power >= value)))
