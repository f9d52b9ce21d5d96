"""Sizes, weights, lengths, volumes and percentages: `size.10`, `size.uk.10`, `2kg`, `30x40cm`, `20` (percent)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slotcache.parsing.quantities.money import by_weight
from slotcache.parsing.quantities.numbers import Found, digits, numbers, pair, plain, word

_UNITS: Final = {
    spelling: (unit, Decimal(factor))
    for unit, factor, spellings in (
        ("kg", "1", "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes"),
        ("kg", "0.001", "g gm gms gram grams gramme grammes"),
        ("lb", "1", "lb lbs"),
        ("lb", "0.0625", "oz ounce ounces"),
        ("cm", "1", "cm cms centimetre centimetres centimeter centimeters"),
        ("cm", "0.1", "mm millimetre millimetres millimeter millimeters"),
        ("cm", "100", "metre metres meter meters"),
        ("km", "1", "km kms kilometre kilometres kilometer kilometers"),
        ("in", "1", "inch inches"),
        ("in", "12", "ft foot feet"),
        ("in", "36", "yard yards"),
        ("mi", "1", "mile miles"),
        ("ml", "1", "ml millilitre millilitres milliliter milliliters"),
        ("ml", "1000", "litre litres liter liters ltr"),
    )
    for spelling in spellings.split()
}
_LETTERS: Final = {
    "xs": "xs", "xxs": "xxs", "xl": "xl", "xxl": "xxl", "2xl": "xxl", "xxxl": "xxxl", "3xl": "xxxl", "4xl": "4xl",
}  # fmt: skip
_SAID_SIZES: Final = {"s": "s", "m": "m", "l": "l", "small": "s", "medium": "m", "large": "l"}
_SYSTEMS: Final = {"uk": "uk", "usa": "us", "us": "us", "eu": "eu", "european": "eu"}
STARTS: Final = frozenset(
    {*_LETTERS, *_SYSTEMS, "size", "sizes", "sized", "one", "a", "half", "couple", "from", "between"}
)
"""Words that a size or measure can start with, besides digits."""

_SIZE_NUMBER: Final = re.compile(r"\d{1,3}(?:\.5)?\Z")


def read_measure(words: Sequence[str], at: int) -> Found:
    """Read a size or a measure, or two of them joined."""
    return pair(words, at, lambda position: _size(words, position) or _measure(words, position))


def read_percent(words: Sequence[str], at: int) -> Found:
    """Read a percentage, or two of them joined."""
    return pair(words, at, lambda position: _percent(words, position))


def _percent(words: Sequence[str], at: int) -> Found:
    amount = numbers(words, at)
    if amount is None:
        return None
    following = word(words, amount.end)
    if following in ("%", "percent", "pct", "percentage"):
        end = amount.end + 1
    elif following == "per" and word(words, amount.end + 1) == "cent":
        end = amount.end + 2
    else:
        return None
    value = amount.printed(plain)
    return (value, end) if value else None


def _measure(words: Sequence[str], at: int) -> Found:
    if (area := _sides(words, at)) is not None:
        return area
    amount = numbers(words, at)
    if amount is None:
        return None
    name = word(words, amount.end)
    if name in ("pound", "pounds") and by_weight(words):
        name = "lb"
    if name not in _UNITS:
        return None
    unit, factor = _UNITS[name]
    value = amount.printed(lambda size: f"{plain(size * factor)}{unit}")
    return (value, amount.end + 1) if value else None


def _sides(words: Sequence[str], at: int) -> Found:
    """ "30 x 40 cm", "30 by 40 by 20 inches"."""
    sides: list[Decimal] = []
    end = at
    while (size := digits(word(words, end))) is not None:
        sides.append(size)
        end += 1
        if word(words, end) not in ("x", "by"):
            break
        end += 1
    if len(sides) < 2 or word(words, end) not in _UNITS:
        return None
    unit, factor = _UNITS[word(words, end)]
    return "x".join(plain(side * factor) for side in sides) + unit, end + 1


def _size(words: Sequence[str], at: int) -> Found:
    start, system = at, ""
    if word(words, start) in _SYSTEMS and word(words, start + 1) in ("size", "sizes"):
        system, start = _SYSTEMS[word(words, start)] + ".", start + 1
    said = word(words, start) in ("size", "sizes", "sized")
    if not said:
        return _letters(words, at)
    start += 1
    if not system and word(words, start) in _SYSTEMS:
        system, start = _SYSTEMS[word(words, start)] + ".", start + 1
    letters = _letters(words, start)
    if letters is not None:
        return "size." + system + letters[0].removeprefix("size."), letters[1]
    text = word(words, start)
    if text in _SAID_SIZES:
        return f"size.{system}{_SAID_SIZES[text]}", start + 1
    if not _SIZE_NUMBER.match(text):
        return None
    number = Decimal(text)
    end = start + 1
    if list(words[end : end + 3]) == ["and", "a", "half"]:
        number, end = number + Decimal("0.5"), end + 3
    return f"size.{system}{plain(number)}", end


def _letters(words: Sequence[str], at: int) -> Found:
    text = word(words, at)
    if text in _LETTERS:
        return f"size.{_LETTERS[text]}", at + 1
    joined = text + word(words, at + 1)
    if joined in _LETTERS and text in ("2", "3", "4"):
        return f"size.{_LETTERS[joined]}", at + 2
    return None
