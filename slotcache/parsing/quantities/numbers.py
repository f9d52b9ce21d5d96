"""Numbers in normalised words, and what joins two of them: ranges, alternatives and open ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

_PLAIN: Final = re.compile(r"(?:0|[1-9]\d{0,8})(?:\.\d{1,4})?\Z")
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}\Z")
_FRACTION: Final = re.compile(r"([1-9]\d?)/(2|3|4|5|8|10)\Z")
_HALF: Final = Decimal("0.5")

RANGE: Final = ".."
"""Joins the two ends of a range; alone at the end it leaves the range open (`5..` is "5 or more", written `5+`)."""

OR: Final = "|"
"""Joins two alternatives ("30 or 60"), which are not the range between them."""


Found = tuple[str, int] | None
"""A printed value and the position after its words, if there is one."""

_LINKS: Final[dict[str, dict[str, str]]] = {
    "": {"to": RANGE, "through": RANGE, "thru": RANGE, "or": OR},
    "between": {"and": RANGE},
    "from": {"to": RANGE, "till": RANGE, "until": RANGE, "through": RANGE, "thru": RANGE},
}
"""Opening word of two values -> the words that may stand between them, and what these say."""


class Number(NamedTuple):
    """A number and the position after it."""

    value: Decimal
    end: int


class Numbers(NamedTuple):
    """One or two numbers, what joins them, and the position after them."""

    values: tuple[Decimal, ...]
    joint: str
    end: int

    def printed(self, form: Callable[[Decimal], str | None]) -> str | None:
        """The value that they make with a unit; None when the unit does not fit one of them."""
        texts = [form(value) for value in self.values]
        return join([text for text in texts if text is not None], self.joint) if None not in texts else None


def join(values: Sequence[str], joint: str) -> str:
    """Print one value or two.

    >>> join(["P3D", "P5D"], RANGE), join(["5"], RANGE), join(["5"], "")
    ('P3D..P5D', '5..', '5')
    """
    return joint.join(values) if len(values) > 1 else values[0] + joint


def word(words: Sequence[str], at: int) -> str:
    """The word at a position, or nothing beyond the ends."""
    return words[at] if 0 <= at < len(words) else ""


def plain(value: Decimal) -> str:
    """A number without a needless point or exponent.

    >>> plain(Decimal("2.50")), plain(Decimal("1E+2"))
    ('2.5', '100')
    """
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def digits(text: str) -> Decimal | None:
    """The number that one token writes. "1.000" is one to some and a thousand to others, so it is neither."""
    return Decimal(text) if _PLAIN.match(text) and not _GROUPED.match(text) else None


def fraction(text: str) -> Decimal | None:
    """The value of "1/2" or "3/4"; None for other tokens, and for thirds, which have no end."""
    match = _FRACTION.match(text)
    if match is None or match[2] == "3" or int(match[1]) >= int(match[2]):
        return None
    return Decimal(match[1]) / Decimal(match[2])


def cardinal(words: Sequence[str], at: int) -> Number | None:
    """A number said to count or measure: digits, "one", "2 and a half", "2 1/2", "a couple of", "half a dozen"."""
    first = word(words, at)
    following = word(words, at + 1)
    if first == "half":
        dozen = at + 1 + (following in ("a", "an"))
        return Number(Decimal(6), dozen + 1) if word(words, dozen) == "dozen" else None
    if first in ("a", "one") and following in ("couple", "dozen"):
        return cardinal(words, at + 1)
    if first == "couple":
        return Number(Decimal(2), at + (2 if following == "of" else 1))
    if first == "dozen":
        return Number(Decimal(12), at + 1)
    value = Decimal(1) if first == "one" else digits(first)
    if value is None:
        return None
    if following == "dozen":
        return Number(value * 12, at + 2)
    if list(words[at + 1 : at + 4]) == ["and", "a", "half"]:
        return Number(value + _HALF, at + 4)
    part = fraction(following)
    return Number(value, at + 1) if part is None else Number(value + part, at + 2)


def numbers(words: Sequence[str], at: int) -> Numbers | None:
    """One number, or two with one unit behind them: "3 to 5", "between 3 and 5", "3 or 4", "5 +".

    A range rises: "from 5 to 3" tells of a change.
    """
    opener = word(words, at)
    links = _LINKS.get(opener, _LINKS[""])
    first = cardinal(words, at + (opener in _LINKS))
    if first is None:
        return None
    joint = links.get(word(words, first.end), "")
    second = cardinal(words, first.end + 1) if joint else None
    if second and (first.value < second.value if joint == RANGE else first.value != second.value):
        return Numbers((first.value, second.value), joint, second.end)
    if opener in _LINKS:
        return None
    if word(words, first.end) == "+":
        return Numbers((first.value,), RANGE, first.end + 1)
    return Numbers((first.value,), "", first.end)


def pair(words: Sequence[str], at: int, read: Callable[[int], Found]) -> Found:
    """One complete value, or two of them: "3 days to 2 weeks", "between monday and friday", "$ 20 or $ 30".

    Args:
        words: Normalised words.
        at: Position of the first word.
        read: Position -> the value that stands there.
    """
    opener = word(words, at)
    if opener in _LINKS and (whole := read(at)) is not None:
        return whole
    links = _LINKS.get(opener, _LINKS[""])
    first = read(at + (opener in _LINKS))
    if first is None:
        return None
    value, end = first
    joint = links.get(word(words, end), "")
    second = read(end + 1) if joint and RANGE not in value and OR not in value else None
    if second and second[0] != value and RANGE not in second[0] and OR not in second[0]:
        return join([value, second[0]], joint), second[1]
    return None if opener in _LINKS else first
