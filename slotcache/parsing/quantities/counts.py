"""Counts and ordinals. "One" counts only where a noun follows it: in "the one i ordered" it is a pronoun."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from slotcache.parsing.quantities.numbers import Found, numbers, plain, word

_ORDINAL_WORDS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS: Final = {name: str(number) for number, name in enumerate(_ORDINAL_WORDS.split(), start=1)} | {
    "thirtieth": "30",
}
"""Ordinal words and their numbers."""

_ORDINAL_DIGITS: Final = re.compile(r"([1-9]\d{0,3})(?:st|nd|rd|th)\Z")
_POINTERS: Final = """
the this that these those which what a another any each every no some other new old wrong right same different better
best cheaper bigger smaller first last next only my your his her our their
"""
_POINTING: Final = frozenset(_POINTERS.split())
"""Words before "one" that make it a pronoun."""

_GRAMMAR: Final = """
i you he she it we they me us them who whom that which what when where why how if is are am was were be been has have
had do does did can could will would shall should may might must not to for in on at by with without from as so but and
or because than then too also please now yet still just only really off time way stop another thing else
"""
_NO_NOUN: Final = frozenset(_GRAMMAR.split())
_OWN: Final = frozenset({"my", "the", "these", "those", "our", "them", "us"})

COUNT_STARTS: Final = frozenset({"x", "one", "a", "half", "couple", "dozen", "from", "between"})
"""Words that a count can start with, besides digits."""

ORDINAL_STARTS: Final = frozenset(ORDINALS)
"""Words that an ordinal can start with, besides digits."""


def read_count(words: Sequence[str], at: int) -> Found:
    """Read a number of things, or two of them joined: "2 x", "x 2", "3 or 4", "5 +", "a dozen"."""
    if word(words, at) == "x" and word(words, at + 1).isdecimal():
        amount = numbers(words, at + 1)
        if amount is None or word(words, amount.end) == "x":
            return None
        return amount.printed(plain) or "", amount.end
    amount = numbers(words, at)
    if amount is None:
        return None
    end = amount.end
    if word(words, at) == "one" and end == at + 1 and not _counts(words, at):
        return None
    if word(words, end) == "x" and not word(words, end + 1).isdecimal():
        end += 1
    value = amount.printed(plain)
    return (value, end) if value else None


def read_ordinal(words: Sequence[str], at: int) -> Found:
    """Read an ordinal: "first", "21st"."""
    text = word(words, at)
    match = _ORDINAL_DIGITS.match(text)
    value = match[1] if match else ORDINALS.get(text)
    if value is None or (text == "second" and word(words, at - 1)[:1].isdigit()):
        return None
    return value, at + 1


def _counts(words: Sequence[str], at: int) -> bool:
    before, after = word(words, at - 1), word(words, at + 1)
    if before in _POINTING or not after:
        return False
    if after == "of":
        return word(words, at + 2) in _OWN
    return after not in _NO_NOUN and not after[:1].isdigit()
