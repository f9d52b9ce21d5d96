from __future__ import annotations

import pytest

from slotcache.evaluation.analysis import PairAnalysis, analyse, texts_of
from slotcache.evaluation.pairs import Pair

PAIRS = [
    Pair("how do i renew a book", "how can i renew a book", True),
    Pair("how do i renew a book", "zeppelin", True),
    Pair("how do i renew a book", "how do i not renew a book", True),
    Pair("how do i renew a book", "how do i renew a dvd", False),
    Pair("how do i renew a book", "how do i renew a novel", False),
]


@pytest.fixture
def found(seen) -> PairAnalysis:
    return analyse(PAIRS, {text: seen(text) for text in texts_of(PAIRS)}, classes=("negation", "money"))


def test_analysis_every_error_has_its_cause(found: PairAnalysis) -> None:
    assert [[str(cause) for cause in error.causes] for error in found.missed] == [
        ["guard residue: zeppelin"],
        ["guard protected negation: not"],
    ]
    assert [error.outcome.pair.b for error in found.false_hits] == ["how do i renew a novel"]
    assert all(error.causes for error in found.false_hits)


def test_analysis_counts_words_left_over(found: PairAnalysis) -> None:
    assert dict(found.residue)["zeppelin"] == 1


def test_analysis_confidence_of_pairs_that_meet(found: PairAnalysis) -> None:
    assert sorted(right for _, right in found.confident) == [False, True]


def test_analysis_texts_are_read_once() -> None:
    assert len(texts_of(PAIRS)) == 6


def test_vetoes_count_what_a_class_blocks_and_keeps_apart(found: PairAnalysis) -> None:
    by_name = {veto.name: veto for veto in found.vetoes}
    negation, money = by_name["negation"], by_name["money"]
    assert (negation.blocked.count, negation.blocked.total, negation.alone, negation.kept_apart.count) == (1, 3, 1, 0)
    assert (money.blocked.count, money.kept_apart.count) == (0, 0)


def test_vetoes_a_pair_that_meets_is_blocked_by_nothing(found: PairAnalysis) -> None:
    assert sum(veto.blocked.count for veto in found.vetoes) == len(found.missed)


def test_vetoes_a_pair_that_meets_by_its_own_words_is_blocked_by_nothing(seen) -> None:
    pair = Pair("zeppelin", "Zeppelin?", True)
    found = analyse([pair], {text: seen(text) for text in texts_of([pair])})
    assert (found.report.same_customer.hits.count, found.vetoes) == (1, ())
