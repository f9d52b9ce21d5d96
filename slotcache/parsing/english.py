"""The English words that a misspelling is told from: the frequency list that symspellpy ships."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

_COMMON: Final = 1_000_000
"""Uses, in a corpus of 10^12 words, from which on a word counts as common."""


@lru_cache(maxsize=1)
def english_words() -> dict[str, int]:
    """English words with their number of uses in a large corpus (Google's n-grams crossed with SCOWL)."""
    text = files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    cells = text.split()
    return dict(zip(cells[::2], map(int, cells[1::2]), strict=True))


def common_words(first: str, length: int) -> Sequence[str]:
    """Common English words with a first letter and a length."""
    return _index().get((first, length), ())


@lru_cache(maxsize=1)
def _index() -> dict[tuple[str, int], list[str]]:
    index: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word, uses in english_words().items():
        if uses >= _COMMON:
            index[word[0], len(word)].append(word)
    return index
