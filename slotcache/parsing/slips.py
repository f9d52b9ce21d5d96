"""How likely fingers are to have made one word out of another: a weighted edit distance.

Letters doubled or halved and letters that changed places are the commonest slips, then a lost letter, a vowel for a
vowel and a neighbouring key; a letter from elsewhere on the keyboard usually makes another word, and so does a changed
first letter ("unshipped", "iphone").
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

DOUBLED: Final = 0.4
SWAPPED: Final = 0.5
VOWEL: Final = 0.7
LOST: Final = 0.75
NEIGHBOUR: Final = 0.9
STRANGE: Final = 1.2

_FIRST: Final = 0.8
"""Added where the first letter is concerned."""

_FIRST_SWAPPED: Final = 0.2
_ALIKE: Final = frozenset({"cs", "sc", "ck", "kc", "sz", "zs", "iy", "yi", "ey", "ye"})
_VOWELS: Final = frozenset("aeiou")
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_AROUND: Final = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))


def _neighbours() -> frozenset[str]:
    pairs = set()
    for row, keys in enumerate(_ROWS):
        for at, key in enumerate(keys):
            for down, along in _AROUND:
                if 0 <= row + down < len(_ROWS) and 0 <= at + along < len(_ROWS[row + down]):
                    pairs.add(key + _ROWS[row + down][at + along])
    return frozenset(pairs)


_NEIGHBOURS: Final = _neighbours()


@lru_cache(maxsize=4_096)
def slip(typed: str, meant: str) -> float:
    """Cost of typing one word when another is meant; 0.0 for the word itself.

    >>> slip("adress", "address") < slip("canel", "cancel") < slip("rebase", "rebate")
    True
    """
    older: list[float] = []
    row = [0.0]
    for column in range(1, len(meant) + 1):
        row.append(row[-1] + _lost(meant, column - 1))
    for at, letter in enumerate(typed):
        following = [row[0] + _extra(typed, at)]
        for column, target in enumerate(meant):
            cost = min(
                row[column] + _changed(letter, target, first=at == 0 or column == 0),
                row[column + 1] + _extra(typed, at),
                following[column] + _lost(meant, column),
            )
            if at and column and letter == meant[column - 1] != target == typed[at - 1]:
                cost = min(cost, older[column - 1] + SWAPPED + (_FIRST_SWAPPED if at == 1 else 0.0))
            following.append(cost)
        older, row = row, following
    return row[-1]


def _changed(typed: str, meant: str, *, first: bool) -> float:
    if typed == meant:
        return 0.0
    pair = typed + meant
    if (typed in _VOWELS and meant in _VOWELS) or pair in _ALIKE:
        cost = VOWEL
    else:
        cost = NEIGHBOUR if pair in _NEIGHBOURS else STRANGE
    return cost + (_FIRST if first else 0.0)


def _extra(typed: str, at: int) -> float:
    letter = typed[at]
    if at and letter == typed[at - 1]:
        return DOUBLED
    beside = typed[max(at - 1, 0) : at] + typed[at + 1 : at + 2]
    slips = any(letter + other in _NEIGHBOURS or letter + other in _ALIKE for other in beside)
    cost = NEIGHBOUR if slips else STRANGE
    return cost + (0.0 if at else _FIRST)


def _lost(meant: str, at: int) -> float:
    if at and meant[at] == meant[at - 1]:
        return DOUBLED
    return LOST + (0.0 if at else _FIRST)
