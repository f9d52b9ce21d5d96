"""Reads spelled-out cardinal numbers: "twenty-one", "two hundred and fifty", "a thousand"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SMALL: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"

UNDER_TWENTY: Final = {word: number for number, word in enumerate(_SMALL.split())}
"""Value of the words below twenty."""

TENS: Final = {word: number * 10 for number, word in enumerate(_TENS.split(), start=2)} | {"fourty": 40}
"""Value of the words for whole tens."""

_SCALES: Final = {"hundred": 100, "thousand": 1_000, "lakh": 100_000, "million": 1_000_000}

STARTS: Final = frozenset({*UNDER_TWENTY, *TENS, *_SCALES, "a"})
"""Words that a spelled-out number can start with."""


def read_cardinal(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """Read the longest cardinal that starts at a position.

    A lone "one" is a pronoun as often as a number and "a" is an article, so neither is read alone. Digits may stand
    before a scale ("5 hundred").

    Args:
        words: Lower-case words of one clause.
        at: Position of the first word.

    Returns:
        The value and the position after it, or None.

    >>> read_cardinal("two hundred and fifty items".split(), 0)
    (250, 4)
    >>> read_cardinal(["one", "item"], 0) is None
    True
    """
    total = 0
    position = following = at
    ceiling = max(_SCALES.values()) + 1
    while (group := _below_thousand(words, following, first=following == at)) is not None:
        value, after = group
        scale = _SCALES.get(_word(words, after), 1)
        if scale < 1_000:
            if words[at] != "one" or after > at + 1:
                total, position = total + value, after
            break
        if scale >= ceiling:
            break
        total, position, ceiling = total + value * scale, after + 1, scale
        following = position + (_word(words, position) == "and")
    return (total, position) if position > at else None


def _below_thousand(words: Sequence[str], at: int, *, first: bool) -> tuple[int, int] | None:
    head = _below_hundred(words, at) or (_before_scale(words, at) if first else None)
    if head is None:
        return None
    value, after = head
    if _word(words, after) != "hundred" or not 0 < value < 100:
        return head
    start = after + 1 + (_word(words, after + 1) == "and")
    rest = _below_hundred(words, start)
    # "two hundred and one" counts; "two hundred one by one" does not, so a lone "one" needs its "and". In "between one
    # hundred and two hundred" there are two numbers.
    if rest is None or rest[0] == 0 or (rest[0] == 1 and start == after + 1) or _word(words, rest[1]) == "hundred":
        return value * 100, after + 1
    return value * 100 + rest[0], rest[1]


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int] | None:
    word = _word(words, at)
    if word in UNDER_TWENTY:
        return UNDER_TWENTY[word], at + 1
    if word not in TENS:
        return None
    ones = UNDER_TWENTY.get(_word(words, at + 1), 0)
    return (TENS[word] + ones, at + 2) if 0 < ones < 10 else (TENS[word], at + 1)


def _before_scale(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """What can stand before a scale only at the start of a number: nothing, "a", or digits."""
    word, following = _word(words, at), _word(words, at + 1)
    if word in _SCALES:
        return 1, at
    if following in _SCALES and word == "a":
        return 1, at + 1
    longest = 2 if following == "hundred" else 3
    if following in _SCALES and word.isdecimal() and len(word) <= longest and word[0] != "0":
        return int(word), at + 1
    return None


def _word(words: Sequence[str], at: int) -> str:
    return words[at] if at < len(words) else ""
