"""What one raw piece of text stands for: its words, whatever its neighbours are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

from slotcache.parsing.cardinals import STARTS, TENS, UNDER_TWENTY
from slotcache.parsing.contractions import CLITICS, CONTRACTIONS
from slotcache.parsing.english import english_words
from slotcache.parsing.tokenizer import EMOJI

_SPELT: Final[Mapping[str, tuple[str, ...]]] = {
    "&": ("and",),
    "->": ("to",),
    "=>": ("to",),
    "→": ("to",),
    "➡": ("to",),
    "×": ("x",),
    "№": ("number",),
    "½": ("1/2",),
    "¼": ("1/4",),
    "¾": ("3/4",),
}
_INITIALS: Final = re.compile(r"(?:[a-z]\.)+[a-z]\.?\Z")
_THOUSANDS: Final = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?\Z")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?\Z")
_RUN: Final = re.compile(r"([a-wyz])\1{2,}")
_PICTOGRAM: Final = re.compile(EMOJI + r"\Z")
_MODIFIERS: Final = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_FACES: Final = re.compile(
    "[\U0001f600-\U0001f644\U0001f910-\U0001f917\U0001f920-\U0001f925\U0001f927-\U0001f92f\U0001f970-\U0001f97a"
    "\U0001fae0-\U0001fae8\u2639\u263a\u2764\u2665\U0001f493\U0001f495-\U0001f49f\U0001f5a4\U0001f90d\U0001f90e\U0001f9e1]"
)
"""Smileys and hearts: they colour a message and change no answer. Hands, flags and the rest may."""

_CALENDAR_WORDS: Final = """
mon tue tues wed weds thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday
jan feb mar apr jun jul aug sep sept oct nov dec january february march april may june july august september october
november december am pm
"""
_CALENDAR: Final = frozenset(_CALENDAR_WORDS.split())
_ORDINAL_WORDS: Final = "first second third fourth fifth sixth seventh eighth ninth"
_ORDINALS: Final = {word: number for number, word in enumerate(_ORDINAL_WORDS.split(), start=1)}
_MOST_RUNS: Final = 4


class WordForms:
    """Raw piece -> the words it stands for.

    Args:
        rewrites: Spelling -> words, as the domain says; they come before everything else.
    """

    def __init__(self, rewrites: Mapping[str, tuple[str, ...]]) -> None:
        self._rewrites = rewrites

    def __call__(self, piece: str) -> tuple[str, ...]:
        """The words of a piece; none for a smiley."""
        if (known := self._known(piece)) is not None:
            return known
        if piece[0] == "'" or piece[-1] == "'":
            bare = piece.strip("'")
            return self(bare) if bare else ()
        if piece.isalpha():
            relaxed = self._relaxed(piece)
            return self._known(relaxed) or (relaxed,)
        if _INITIALS.match(piece):
            letters = piece.replace(".", "")
            return self._known(letters) or ("usa" if letters == "us" else letters,)
        if _THOUSANDS.match(piece):
            return (piece.replace(",", ""),)
        if piece[0] == "." and piece[1:].isdecimal():
            return ("0" + piece,)
        if _PICTOGRAM.match(piece):
            bare = _MODIFIERS.sub("", piece)
            return () if not bare or _FACES.match(bare) else (bare,)
        if "'" in piece:
            return self._opened(piece)
        return (piece,)

    def _known(self, piece: str) -> tuple[str, ...] | None:
        if piece in self._rewrites:
            return self._rewrites[piece]
        long = CONTRACTIONS.get(piece)
        return tuple(long.split()) if long else _SPELT.get(piece)

    def _opened(self, piece: str) -> tuple[str, ...]:
        """Words of a piece with an apostrophe in it: an ending of its own, or one in the wrong place ("do'nt")."""
        for clitic in CLITICS:
            if piece.endswith(clitic) and len(piece) > len(clitic):
                return (*self(piece[: -len(clitic)]), *CONTRACTIONS[clitic].split())
        return self._known(piece.replace("'", "")) or (piece,)

    def _relaxed(self, word: str) -> str:
        """A word without stretched letters ("soooo"); "aaa" and "xxxl" are not stretched."""
        runs = list(_RUN.finditer(word))
        if not runs or len(runs) > _MOST_RUNS or len(set(word)) == 1:
            return word
        head, *rest = _RUN.split(word)
        stretched = list(zip(rest[::2], rest[1::2], strict=True))
        spellings = [
            head + "".join(letter * count + text for (letter, text), count in zip(stretched, counts, strict=True))
            for counts in product((2, 1), repeat=len(runs))
        ]
        known = english_words()
        return next((word for word in spellings if word in known or self._known(word)), spellings[-1])


def is_number(word: str) -> bool:
    """Whether a word is a number in digits, or the start of a spelled-out one."""
    return bool(_NUMBER.match(word)) or (word in STARTS and word != "a")


def makes_range(left: str, right: str) -> bool:
    """Whether a hyphen between two words means "to": rising numbers, weekdays, months, times of day."""
    if left in _CALENDAR and (right in _CALENDAR or (left in ("am", "pm") and is_number(right))):
        return True
    if left in UNDER_TWENTY and right in UNDER_TWENTY:
        return UNDER_TWENTY[left] < UNDER_TWENTY[right]
    if not (_NUMBER.match(left) and _NUMBER.match(right)):
        return False
    comparable = max(len(left), len(right)) <= 3 or len(left) == len(right) or "." in left + right
    return comparable and float(left) < float(right)


def rejoined(pieces: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Put together what a hyphen holds together: "twenty-first", and "5-3", which is no range and not two numbers."""
    joined: list[tuple[str, int]] = []
    for piece, at in pieces:
        if len(joined) > 1 and joined[-1][0] == "-":
            left, start = joined[-2]
            if left in TENS and piece in _ORDINALS:
                joined[-2:] = [(_ordinal(TENS[left] + _ORDINALS[piece]), start)]
                continue
            if _NUMBER.match(left) and _NUMBER.match(piece) and not makes_range(left, piece):
                joined[-2:] = [(f"{left}-{piece}", start)]
                continue
        joined.append((piece, at))
    return joined


def _ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
