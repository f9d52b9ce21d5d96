"""The pattern language: what a pattern expands to, and what it says when it cannot be read."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.domain.patterns import ADJACENT, TYPES, PatternError, expand, references
from slotcache.domain.schema import SlotType
from slotcache.parsing.normalise import Normaliser

NORMALISER = Normaliser({"u": "you"})


def expanded(pattern: str) -> list[str]:
    """Each sequence printed: steps by spaces, alternatives by |."""
    return [" ".join("|".join(labels) for labels in sequence) for sequence in expand(pattern, NORMALISER.words)]


@pytest.mark.parametrize(
    ("pattern", "sequences"),
    [
        ("Cancel Order", ["cancel order"]),
        ("cancel|stop order", ["cancel|stop order"]),
        ("cancel the? order", ["cancel the order", "cancel order"]),
        ("box~", ["box|boxes|boxed|boxing"]),
        ("{ship}|post <duration>", ["{ship}|post <duration>"]),
        ("two-day|express shipping", ["2 day shipping", "express shipping"]),
        ("can't", ["can not"]),
        ("u", ["you"]),
        ("pre-order~", ["pre order|orders|ordered|ordering"]),
        ("in +stock", [f"in {ADJACENT} stock"]),
        ("twenty-one days", ["21 days"]),
        ("two hundred items", ["200 items"]),
        ("ship to the us", ["ship to the usa"]),
        ("id like", ["i would like"]),
        ("order no. 12345", ["order number 12345"]),
    ],
)
def test_patterns_expand(pattern: str, sequences: list[str]) -> None:
    assert expanded(pattern) == sequences


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("", "at least one word"),
        ("a||b", "empty alternative"),
        ("{ship", "lacks its closing"),
        ("<duration", "lacks its closing"),
        ("{}", "name"),
        ("<durations>", "<durations>"),
        ("?", "empty alternative"),
        ("~", "behind a word"),
        ("...", "nothing in"),
    ],
)
def test_patterns_say_what_is_wrong(pattern: str, complaint: str) -> None:
    with pytest.raises(PatternError, match=complaint):
        expanded(pattern)


@pytest.mark.parametrize(
    ("pattern", "names"), [("a {ship}|b {x}?", {"ship", "x"}), ("+{ship}", {"ship"}), ("<duration> a", set())]
)
def test_patterns_name_the_concepts_they_refer_to(pattern: str, names: set[str]) -> None:
    assert references(pattern) == names


def test_patterns_know_every_type_of_slot() -> None:
    assert {*get_args(SlotType)} - {"closed"} == TYPES


ELEMENTS = st.sampled_from("cancel order~ the? {ship} <money> two-day a|b can't|c +now twenty one u".split())  # noqa: SIM905


@given(st.lists(ELEMENTS, min_size=1, max_size=5).filter(lambda elements: elements != ["the?"]))
def test_patterns_expand_to_words_that_stay_as_they_are(elements: list[str]) -> None:
    for sequence in expand(" ".join(elements), NORMALISER.words):
        words = [label for labels in sequence for label in labels if label[0] not in "{<+"]
        assert all(NORMALISER.words(word) == (word,) for word in words)
