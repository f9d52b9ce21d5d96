"""How far confidence can be trusted: calibration, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.reporting.shares import Share, share

_BINS: Final = 10
_POINTS: Final = 60


@dataclass(frozen=True, slots=True)
class Bin:
    """Readings of about the same confidence.

    Attributes:
        low: Lowest confidence (inclusive).
        high: Highest confidence (exclusive, inclusive in the last bin).
        confidence: Mean confidence, in [0, 1].
        right: How many of them were right.
    """

    low: float
    high: float
    confidence: float
    right: Share


@dataclass(frozen=True, slots=True)
class Point:
    """What a bar on the confidence would do.

    Attributes:
        bar: Lowest confidence that is accepted (inclusive).
        coverage: Share of questions accepted, in [0, 1].
        risk: Share of the accepted that are wrong, in [0, 1].
    """

    bar: float
    coverage: float
    risk: float


def calibration(readings: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Bins of equal width over (confidence, whether right); empty bins are left out."""
    held: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for confidence, right in readings:
        held[min(int(confidence * _BINS), _BINS - 1)].append((confidence, right))
    return tuple(
        Bin(
            at / _BINS,
            (at + 1) / _BINS,
            round(sum(confidence for confidence, _ in found) / len(found), 6),
            share(sum(right for _, right in found), len(found)),
        )
        for at, found in enumerate(held)
        if found
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """Mean distance between confidence and share right, weighted by readings (expected calibration error)."""
    total = sum(b.right.total for b in bins)
    return round(sum(b.right.total * abs(b.confidence - b.right.rate) for b in bins) / total, 6) if total else 0.0


def coverage_risk(readings: Sequence[tuple[float, bool]], *, total: int) -> tuple[Point, ...]:
    """Risk at each bar, from the highest down; at most about 60 points.

    Args:
        readings: (confidence, whether right) of each reading that could be accepted.
        total: All questions, those without a reading among them.
    """
    ordered = sorted(readings, key=lambda item: -item[0])
    points: list[Point] = []
    wrong = 0
    for at, (confidence, right) in enumerate(ordered, start=1):
        wrong += not right
        # A bar takes in everything of its confidence, so points stand only where the confidence changes.
        if at < len(ordered) and ordered[at][0] == confidence:
            continue
        points.append(Point(round(confidence, 6), round(at / max(total, at), 6), round(wrong / at, 6)))
    step = max(1, len(points) // _POINTS)
    return tuple(point for at, point in enumerate(points) if at % step == 0 or at == len(points) - 1)
