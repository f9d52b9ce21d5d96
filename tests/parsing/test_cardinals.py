"""Spelled-out cardinals, checked against a renderer and against text2num."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.parsing.cardinals import TENS, UNDER_TWENTY, read_cardinal

ONES = {number: word for word, number in UNDER_TWENTY.items()}
DECADES = {number: word for word, number in TENS.items() if word != "fourty"}


def spelled(number: int, *, joined: bool) -> list[str]:
    """A number in words, with or without "and"."""
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            link = ["and"] if rest and joined and rest < 100 else []
            return [
                *spelled(number // size, joined=joined),
                name,
                *link,
                *(spelled(rest, joined=joined) if rest else []),
            ]
    if number < 20:
        return [ONES[number]]
    return [DECADES[number // 10 * 10], *([ONES[number % 10]] if number % 10 else [])]


@given(st.integers(2, 9_999_999))
def test_cardinals_read_what_is_spelled_out(number: int) -> None:
    words = spelled(number, joined=True)
    assert read_cardinal([*words, "items"], 0) == (number, len(words))


@given(st.integers(2, 999_999))
def test_cardinals_agree_with_text2num(number: int) -> None:
    text2num = pytest.importorskip("text_to_num").text2num
    words = spelled(number, joined=True)
    assert text2num(" ".join(words), "en") == number == (read_cardinal(words, 0) or (0, 0))[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a hundred items", (100, 2)),
        ("hundred items", (100, 1)),
        ("a thousand", (1000, 2)),
        ("5 hundred", (500, 2)),
        ("5 thousand", (5000, 2)),
        ("two lakh", (200_000, 2)),
        ("one hundred", (100, 2)),
        ("a hundred and one", (101, 4)),
        ("two hundred one by one", (200, 2)),
        ("one hundred and two hundred", (100, 2)),
        ("two hundred and fifty thousand", (250_000, 5)),
        ("one thousand and two thousand", (1000, 2)),
        ("one two", None),
        ("one item", None),
        ("a item", None),
        ("500 hundred", None),
        ("5 items", None),
        ("items", None),
    ],
)
def test_cardinals_leave_articles_and_pronouns_alone(text: str, value: tuple[int, int] | None) -> None:
    assert read_cardinal(text.split(), 0) == value
