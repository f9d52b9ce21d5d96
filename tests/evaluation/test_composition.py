from __future__ import annotations

import pytest

from slotcache.evaluation.composition import MOST_PAIRS, composition, frames
from slotcache.evaluation.pairs import Pair

GRAMMAR = {"can", "i", "a", "my", "the", "it"}


def _framed(count: int) -> list[Pair]:
    return [Pair(f"can i return a thing{at} tomorrow", f"sending number{at} elsewhere", True) for at in range(count)]


@pytest.mark.parametrize(("count", "crowded"), [(MOST_PAIRS, 0), (MOST_PAIRS + 1, MOST_PAIRS + 1)])
def test_composition_a_frame_of_more_than_five_pairs_is_crowded(count: int, crowded: int) -> None:
    got = composition(_framed(count), function_words=GRAMMAR)
    assert got.framed.count == crowded
    assert bool(got.frames) == bool(crowded)


def test_composition_both_questions_of_a_pair_count_once() -> None:
    pair = Pair("can i return a skirt tomorrow", "can i return a dress tomorrow", False)
    assert composition([pair] * MOST_PAIRS, function_words=GRAMMAR).frames == ()


def test_composition_numbers_are_one_frame() -> None:
    assert "return within # days _" in set(frames("return within 30 days please", function_words=GRAMMAR))


def test_composition_grammar_alone_is_no_frame() -> None:
    assert list(frames("can i my the it", function_words=GRAMMAR)) == []


def test_composition_short_texts_have_no_frame() -> None:
    assert list(frames("return my skirt")) == []


@pytest.mark.parametrize(
    ("a", "b", "same", "tells"),
    [
        ("can i cancel", "can i cancel", True, 1),
        ("can i cancel", "where is it", True, 0),
        ("can i cancel", "can i cancel", False, 0),
        ("can i cancel", "where is it", False, 1),
    ],
)
def test_composition_words_that_speak_for_the_label(a: str, b: str, same: bool, tells: int) -> None:
    assert composition([Pair(a, b, same)]).telling.count == tells
