"""Calibration, risk against coverage, and the Wilson interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.reporting.curves import calibration, calibration_error, coverage_risk, discrimination, risk_area
from slotcache.reporting.shares import share

READINGS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)


def test_curves_share_matches_the_published_interval() -> None:
    found = share(81, 263)
    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=1e-4)


@given(st.integers(0, 300), st.integers(0, 300))
def test_curves_share_lies_within_its_bounds(count: int, more: int) -> None:
    found = share(count, count + more)
    assert 0.0 <= found.low <= found.rate <= found.high <= 1.0 or not found.total


@given(READINGS)
def test_curves_calibration_counts_every_reading_once(readings: list[tuple[float, bool]]) -> None:
    assert sum(b.right.total for b in calibration(readings)) == len(readings)


def test_curves_calibration_error_is_the_mean_gap() -> None:
    readings = [(0.95, True)] * 8 + [(0.95, False)] * 2
    assert calibration_error(calibration(readings)) == pytest.approx(0.15)


def test_curves_coverage_risk_takes_equal_confidence_in_at_once() -> None:
    points = coverage_risk([(0.9, True), (0.8, False), (0.8, True)], total=4)
    assert [(p.bar, p.coverage, p.risk) for p in points] == [
        (0.9, 0.25, 0.0),
        (0.8, 0.75, pytest.approx(1 / 3, abs=1e-6)),
    ]


def test_curves_coverage_risk_bounds_the_risk_exactly() -> None:
    (point,) = coverage_risk([(0.9, True)] * 59 + [(0.9, False)], total=100)
    assert (point.accepted, point.wrong) == (60, 1)
    assert point.high == pytest.approx(0.0894, abs=1e-4)


@pytest.mark.parametrize(
    ("readings", "area"),
    [
        ([], None),
        ([(0.9, True), (0.8, True)], 0.0),
        ([(0.9, True), (0.8, False)], 0.25),
        ([(0.9, False), (0.8, True)], 0.75),
        ([(0.9, False), (0.9, True)], 0.5),
    ],
)
def test_curves_risk_area_is_the_mean_risk(readings: list[tuple[float, bool]], area: float | None) -> None:
    assert risk_area(readings) == area


@pytest.mark.parametrize(
    ("readings", "chance"),
    [
        ([(0.9, True)], None),
        ([(0.9, True), (0.8, False)], 1.0),
        ([(0.8, True), (0.9, False)], 0.0),
        ([(0.9, True), (0.9, False)], 0.5),
    ],
)
def test_curves_discrimination(readings: list[tuple[float, bool]], chance: float | None) -> None:
    assert discrimination(readings) == chance


@given(READINGS)
def test_curves_coverage_never_falls(readings: list[tuple[float, bool]]) -> None:
    coverage = [p.coverage for p in coverage_risk(readings, total=len(readings))]
    assert coverage == sorted(coverage)
