from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from slotcache.errors import ConfigurationError
from slotcache.evaluation.bounds import proportion


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        pytest.param(0, 20, 0.0, 0.16843, id="none"),
        pytest.param(20, 20, 0.83157, 1.0, id="all"),
        pytest.param(10, 20, 0.27196, 0.72804, id="half"),
        pytest.param(1, 1000, 0.0000253, 0.0055589, id="rare"),
        pytest.param(0, 0, 0.0, 1.0, id="of nothing"),
    ],
)
def test_bounds_known_values(count: int, total: int, low: float, high: float) -> None:
    got = proportion(count, total)
    assert (got.low, got.high) == pytest.approx((low, high), abs=1e-5)


@given(st.data())
def test_bounds_are_where_the_binomial_tail_is_two_and_a_half_percent(data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 500))
    got = proportion(data.draw(st.integers(0, total)), total)
    assert got.count == total or binom.cdf(got.count, total, got.high) == pytest.approx(0.025, abs=1e-6)
    assert got.count == 0 or binom.sf(got.count - 1, total, got.low) == pytest.approx(0.025, abs=1e-6)


def test_bounds_are_wider_with_more_confidence() -> None:
    assert proportion(3, 50, confidence=0.99).high > proportion(3, 50).high


@pytest.mark.parametrize(("count", "total", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 0.0), (1, 5, 1.0)])
def test_bounds_refuse_nonsense(count: int, total: int, confidence: float) -> None:
    with pytest.raises(ConfigurationError):
        proportion(count, total, confidence=confidence)


@pytest.mark.parametrize(("count", "total", "text"), [(1, 4, "1 of 4 = 25.00% [0.63%, 80.59%]"), (0, 0, "- of 0")])
def test_bounds_print(count: int, total: int, text: str) -> None:
    assert str(proportion(count, total)) == text
