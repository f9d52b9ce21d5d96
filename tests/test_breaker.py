from __future__ import annotations

import pytest

from slotcache.breaker import Breaker


@pytest.fixture
def broken() -> Breaker:
    """One that has just opened at 100."""
    breaker = Breaker(failures=2, pause=10)
    breaker.failed(99.0)
    breaker.failed(100.0)
    return breaker


def test_breaker_lets_through_until_it_failed_often_enough() -> None:
    breaker = Breaker(failures=2, pause=10)
    breaker.failed(0.0)
    assert breaker.allows(0.0)


def test_breaker_counts_failures_in_a_row_only() -> None:
    breaker = Breaker(failures=2, pause=10)
    breaker.failed(0.0)
    breaker.succeeded()
    breaker.failed(0.0)
    assert breaker.allows(0.0)


@pytest.mark.parametrize(("now", "allowed"), [(100.0, False), (109.9, False), (110.0, True), (50.0, True)])
def test_breaker_pauses_for_as_long_as_it_was_told(broken: Breaker, now: float, allowed: bool) -> None:
    assert broken.allows(now) is allowed


def test_breaker_lets_one_try_after_the_pause(broken: Breaker) -> None:
    assert [broken.allows(110.0), broken.allows(110.0)] == [True, False]


def test_breaker_closes_when_the_try_succeeds(broken: Breaker) -> None:
    broken.allows(110.0)
    broken.succeeded()
    assert broken.allows(110.0)
    assert not broken.open


def test_breaker_pauses_again_when_the_try_fails(broken: Breaker) -> None:
    broken.allows(110.0)
    broken.failed(111.0)
    assert [broken.allows(120.0), broken.allows(121.0)] == [False, True]
