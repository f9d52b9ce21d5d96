from __future__ import annotations

import itertools

import pytest

from slotcache.learning.pace import ASKED, REPEATS, percentile, undisturbed


@pytest.mark.parametrize(("seconds", "within"), [([], 0.0), ([3.0], 3.0), (range(101), 95)])
def test_pace_percentile(seconds: list[float], within: float) -> None:
    assert percentile(seconds) == within


def test_pace_counts_the_best_of_several_attempts() -> None:
    readings = itertools.cycle([9.0, 1.0, 9.0, 9.0, 9.0])
    now = 0.0

    def read(_: str) -> None:
        nonlocal now
        now += next(readings)

    assert undisturbed(read, ["a", "b"], timer=lambda: now) == 1.0


def test_pace_asks_a_sample_spread_over_all() -> None:
    asked: dict[str, int] = {}
    undisturbed(lambda text: asked.update({text: asked.get(text, 0) + 1}), [str(at) for at in range(10 * ASKED)])
    assert len(asked) == ASKED
    assert set(asked.values()) == {REPEATS}
    assert max(map(int, asked)) > 9 * ASKED
