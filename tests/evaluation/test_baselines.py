from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from slotcache.evaluation.baselines import Threshold, separation, word_cosine
from slotcache.evaluation.pairs import Pair


@pytest.mark.parametrize(
    ("a", "b", "cosine"), [("a b", "A, b!", 1.0), ("a", "b", 0.0), ("", "a", 0.0), ("a a", "a b", 2 / 8**0.5)]
)
def test_baselines_word_cosine(a: str, b: str, cosine: float) -> None:
    assert word_cosine(a, b) == pytest.approx(cosine)


def _pairs(same: list[bool]) -> list[Pair]:
    return [Pair("a", "b", each) for each in same]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_baselines_auc_is_scikit_learns(rows: list[tuple[bool, int]]) -> None:
    same, scores = [s for s, _ in rows], [v / 5 for _, v in rows]
    expected = roc_auc_score(same, scores) if len(set(same)) == 2 else 0.5
    assert separation(_pairs(same), scores).auc == pytest.approx(expected)


def test_baselines_threshold_is_inclusive() -> None:
    assert separation(_pairs([True, False, False]), [0.9, 0.9, 0.8], at=[0.9]).thresholds == (
        Threshold(0.9, 1, 1, 0.5, 1.0),
    )


@pytest.mark.parametrize(("right", "share"), [([0.91, 0.5], 0.5), ([0.9, 0.9], 0.0)])
def test_baselines_without_wrong_stays_above_every_wrong_pair(right: list[float], share: float) -> None:
    assert separation(_pairs([True, True, False]), [*right, 0.9]).without_wrong == share


def test_baselines_every_hundredth_is_a_threshold() -> None:
    found = separation(_pairs([True, False]), [0.9, 0.4]).thresholds
    assert [t.at for t in found] == [step / 100 for step in range(101)]
    assert [(t.false_hits, t.hits) for t in (found[40], found[41], found[91])] == [(1, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize(("same", "at"), [([True, False], 0.9), ([True, True], None)])
def test_baselines_says_which_threshold_is_without_wrong(same: list[bool], at: float | None) -> None:
    assert separation(_pairs(same), [0.9, 0.9]).without_wrong_at == at
