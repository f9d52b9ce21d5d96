"""Dates that depend on the day they are asked must never be shared."""

from __future__ import annotations

import pytest

from slotcache.parsing.quantities.calendar import is_relative


@pytest.mark.parametrize("value", ["D+0", "D+1", "D+1-morning", "week-1", "month+0", "year+1", "W5+1", "W5-1", "M12-1"])
def test_is_relative_knows_dates_that_move(value: str) -> None:
    assert is_relative(value)


@pytest.mark.parametrize("value", ["2026-12-25", "--12-25", "W5", "2026-12", "2026", "--12", "---15"])
def test_is_relative_leaves_dates_that_stay(value: str) -> None:
    assert not is_relative(value)
