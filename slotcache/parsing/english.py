"""The English words that a misspelling is told from: the frequency list that symspellpy ships."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def english_words() -> dict[str, int]:
    """English words with their number of uses in a large corpus (Google's n-grams crossed with SCOWL)."""
    text = files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    cells = text.split()
    return dict(zip(cells[::2], map(int, cells[1::2]), strict=True))
