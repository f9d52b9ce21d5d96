"""How far confidence can be trusted: calibration, and risk against coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.evaluation.baselines import ranked_above
from slotcache.evaluation.bounds import proportion
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
        accepted: Questions accepted.
        wrong: Those of them that are wrong.
        high: Exact (Clopper-Pearson) 95 % upper bound of the risk, in [0, 1].
    """

    bar: float
    coverage: float
    risk: float
    accepted: int
    wrong: int
    high: float


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
    steps = list(_steps(readings))
    step = max(1, len(steps) // _POINTS)
    kept = [found for at, found in enumerate(steps) if at % step == 0 or at == len(steps) - 1]
    return tuple(
        Point(
            round(bar, 6),
            round(accepted / max(total, accepted), 6),
            round(wrong / accepted, 6),
            accepted,
            wrong,
            round(proportion(wrong, accepted).high, 6),
        )
        for bar, accepted, wrong in kept
    )


def risk_area(readings: Sequence[tuple[float, bool]]) -> float | None:
    """Area under the curve of risk against the share of readings accepted; 0.0 is best, None of nothing.

    It is the mean risk over all readings, each at the bar that just takes it in.
    """
    area, before = 0.0, 0
    for _, accepted, wrong in _steps(readings):
        area += (accepted - before) * wrong / accepted
        before = accepted
    return round(area / before, 6) if before else None


def discrimination(readings: Sequence[tuple[float, bool]]) -> float | None:
    """Probability that a right reading is more confident than a wrong one (0.5 is chance); None without both."""
    right = sorted(confidence for confidence, good in readings if good)
    wrong = sorted(confidence for confidence, good in readings if not good)
    return round(ranked_above(right, wrong), 6) if right and wrong else None


def _steps(readings: Sequence[tuple[float, bool]]) -> Iterator[tuple[float, int, int]]:
    """(bar, accepted, wrong) at each confidence that occurs, from the highest down."""
    ordered = sorted(readings, key=lambda item: -item[0])
    wrong = 0
    for at, (confidence, right) in enumerate(ordered, start=1):
        wrong += not right
        # A bar takes in everything of its confidence, so steps stand only where the confidence changes.
        if at == len(ordered) or ordered[at][0] != confidence:
            yield confidence, at, wrong
