"""Repairs misspelt words against the domain's own vocabulary, and only where one repair is possible.

A repair never lands on a protected word, never replaces a real English word, and is refused when two domain words of
different meaning are equally near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from slotcache.parsing.english import english_words

_SHORTEST: Final = 4
"""Shorter words have too many neighbours to be repaired safely."""

_TWO_EDITS_FROM: Final = 8
"""Words from this length on may differ in two places."""


class Speller:
    """Finds the one domain word that a misspelt word can be.

    Args:
        vocabulary: Words that the domain's phrases use.
        protected: Words no repair may land on.
        meaning: Word -> an identity of what it means; two candidates with one identity do not compete.
    """

    def __init__(self, vocabulary: Iterable[str], protected: Iterable[str], *, meaning: Callable[[str], object]) -> None:
        self._vocabulary = set(vocabulary)
        self._targets = sorted(
            word for word in self._vocabulary - set(protected) if len(word) >= _SHORTEST and word.isalpha()
        )
        self._meaning = meaning

    def knows(self, word: str) -> bool:
        """Whether a word needs no repair: the domain uses it, or it is English."""
        return word in self._vocabulary or word in english_words()

    @lru_cache(maxsize=8192)  # noqa: B019 - one speller lives as long as its parser
    def repair(self, word: str) -> str | None:
        """The word meant, or None when the word is known, too short, or could be several words."""
        if len(word) < _SHORTEST or not word.isalpha() or self.knows(word):
            return None
        limit = 2 if len(word) >= _TWO_EDITS_FROM else 1
        near = process.extract(word, self._targets, scorer=OSA.distance, score_cutoff=limit, limit=8)
        near = [(target, distance) for target, distance, _ in near if _same_start(word, target)]
        if not near:
            return None
        best = min(distance for _, distance in near)
        winners = [target for target, distance in near if distance == best]
        if len({self._meaning(target) for target in winners}) > 1:
            return None
        if best == 2 and any(distance == 2 and target not in winners for target, distance in near):
            return None
        return winners[0]


def _same_start(word: str, target: str) -> bool:
    """Misspellings rarely touch the first letter, and a changed one is often another word."""
    return word[0] == target[0] or (word[:2] == target[1::-1])
