"""Repairs misspelt words against the domain's own vocabulary, and only where one repair is possible.

A repair never lands on a protected word, never replaces a real English word, and is refused when a word of another
meaning could as well be meant. What is not repaired stays as it is, becomes residue, and costs a miss.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from slotcache.parsing.english import common_words, english_words
from slotcache.parsing.slips import LOST, NEIGHBOUR, SWAPPED, slip

_SHORTEST: Final = 4
"""Shorter words have too many neighbours to be repaired safely."""

_TWO_EDITS_FROM: Final = 8
"""Words from this length on may differ in two places."""

_COSTLIEST: Final = ((10, 1.7), (8, 1.1), (6, NEIGHBOUR), (_SHORTEST, LOST))
"""Length of the word, and the cost of the slips that may have made it; a single strange letter only in long words."""

_APART: Final = 0.4
"""A rival that costs this much more than the best candidate does not compete."""

_APART_FROM_RARER: Final = 0.2
_APART_FROM_COMMONER: Final = 0.8
_FAR: Final = 20
"""... where one of them is used this many times as often as the other."""

_STRANGER: Final = 0.6
"""Added to the cost of English words that the domain lacks: its own words are what its customers write."""

_RARE: Final = 100_000
"""Uses of a word that the English list lacks."""

_LONG_HALF: Final = 6
"""Two words this long are two words even when neither is a function word ("deliveryaddress")."""

_PARTICLES: Final = frozenset({"back", "up", "out", "off", "over", "down", "away", "through", "in", "on", "by"})
"""Second halves of words of their own: cashback is no cash that comes back."""


class Speller:
    """Finds the one domain word that a misspelt word can be. Thread-safe.

    Args:
        vocabulary: Words that the domain uses.
        protected: Words no repair may land on.
        meaning: Word -> an identity of what it means; two candidates with one identity do not compete. A word without
            an identity means only itself.
        function_words: Words of the vocabulary that carry grammar; they are often typed without the space beside them.
        aliases: Further spellings of the vocabulary's words, and what they stand for ("u" for "you").
    """

    def __init__(
        self,
        vocabulary: Iterable[str],
        protected: Iterable[str],
        *,
        meaning: Callable[[str], object],
        function_words: Iterable[str] = (),
        aliases: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._protected = frozenset(protected)
        self._function_words = frozenset(function_words) - self._protected
        self._vocabulary = frozenset(vocabulary) | self._protected | self._function_words
        self._aliases = dict(aliases or {})
        self._meaning = meaning
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in sorted(self._vocabulary):
            if word.isalpha():
                self._by_length[len(word)].append(word)
        self._repaired = lru_cache(maxsize=8_192)(self._look_up)
        self._parted = lru_cache(maxsize=8_192)(self._part)

    def knows(self, word: str) -> bool:
        """Whether a word needs no repair: the domain uses it, or it is English."""
        return word in self._vocabulary or word in english_words()

    def repair(self, word: str) -> str | None:
        """The word meant, or None when the word is known, too short, or could be several words."""
        return None if word in self._vocabulary else self._repaired(word)

    def split(self, word: str) -> tuple[str, ...] | None:
        """The two words that were typed without a space between them, or None when there are no such, or several.

        Both are known to the domain and neither is protected.
        """
        return None if word in self._vocabulary else self._parted(word)

    def mend(self, word: str) -> tuple[str, ...] | None:
        """The words to read instead of a word: the one it misspells, or the two it runs together; None to leave it."""
        repaired = self.repair(word)
        return (repaired,) if repaired is not None else self.split(word)

    def _look_up(self, word: str) -> str | None:
        if not self._repairable(word):
            return None
        reach = 2 if len(word) >= _TWO_EDITS_FROM else 1
        near = self._near(word, reach)
        if not near:
            return None
        winner = min(near, key=lambda target: (near[target], target))
        edits = OSA.distance(word, winner)
        costliest = next(cost for length, cost in _COSTLIEST if len(word) >= length)
        if edits == 1 and len(word) < 10:
            costliest = min(costliest, NEIGHBOUR)
        if len(winner) < _SHORTEST or near[winner] > costliest or not _starts_alike(word, winner):
            return None
        if len(word) == _SHORTEST and near[winner] > SWAPPED and not _lacks_a_vowel(word, winner):
            return None
        # A form that only the rules of inflection made ("modemmed") is meant only where the slip leaves no doubt.
        if winner not in english_words() and near[winner] > SWAPPED:
            return None
        if edits > 1 and any(True for _ in self._halves(word)):
            return None
        rivals = {target: cost for target, cost in near.items() if not self._same(target, winner)}
        for rival in self._strangers(word, edits):
            rivals.setdefault(rival, slip(word, rival) + _STRANGER)
        if winner in self._protected or any(
            _competes(rival, cost, winner, near[winner]) for rival, cost in rivals.items()
        ):
            return None
        return winner

    def _repairable(self, word: str) -> bool:
        return len(word) >= _SHORTEST and word.isascii() and word.isalpha() and not self.knows(word)

    def _same(self, one: str, other: str) -> bool:
        return one == other or (
            not {one, other} & self._protected
            and bool(self._meaning(one))
            and self._meaning(one) == self._meaning(other)
        )

    def _near(self, word: str, reach: int) -> dict[str, float]:
        """Words of the domain within reach and what they cost; all of them can object, protected ones too."""
        near: dict[str, float] = {}
        for length in range(len(word) - reach, len(word) + reach + 1):
            for target in _within(word, self._by_length.get(length, ()), reach):
                near[target] = slip(word, target)
        return near

    def _strangers(self, word: str, reach: int) -> Iterator[str]:
        """Common English words that the domain lacks and that are as near."""
        for length in range(len(word) - reach, len(word) + reach + 1):
            for rival in _within(word, common_words(word[0], length), reach):
                if rival not in self._vocabulary:
                    yield rival

    def _part(self, word: str) -> tuple[str, ...] | None:
        if not self._repairable(word):
            return None
        ways = list(self._halves(word))
        if len(ways) != 1:
            return None
        left, right = ways[0]
        if right in _PARTICLES or not (self._parts(left, right) or self._parts(right, left)):
            return None
        # "tonights" is nearer to "tonight" than to "to nights".
        others = {*self._near(word, 1), *self._strangers(word, 1)} - {left, right}
        words = (*self._known(left), *self._known(right))
        return None if others or self._protected.intersection(words) else words

    def _parts(self, one: str, other: str) -> bool:
        """Whether one half is a word that people forget the space beside, and the other half is one that needs it."""
        if len(one) >= _LONG_HALF and len(other) >= _LONG_HALF:
            return True
        grammatical = one in self._function_words or (
            one in self._aliases and self._aliases[one][0] in self._function_words
        )
        return grammatical and len(other) >= _SHORTEST and other in self._vocabulary and other in english_words()

    def _halves(self, word: str) -> Iterator[tuple[str, str]]:
        """Every way to part a word into two known ones. One letter is a word only for a person ("uhelp", "iwant")."""
        for at in range(1, len(word)):
            left, right = word[:at], word[at:]
            if (at > 1 or left in ("i", "u")) and len(right) > 1 and self._known(left) and self._known(right):
                yield left, right

    def _known(self, word: str) -> tuple[str, ...]:
        return (word,) if word in self._vocabulary else self._aliases.get(word, ())


def _within(word: str, targets: Iterable[str], reach: int) -> list[str]:
    found = process.extract(word, targets, scorer=OSA.distance, score_cutoff=reach, limit=None)  # type: ignore[arg-type]
    return [target for target, _, _ in found]


def _starts_alike(word: str, target: str) -> bool:
    return word[0] == target[0] or word[:2] == target[1::-1]


def _lacks_a_vowel(word: str, target: str) -> bool:
    """In four letters only a lost vowel is plain to see: "ordr" is an order, "roos" may be anybody."""
    return any(target[at] in "aeiou" and target[:at] + target[at + 1 :] == word for at in range(len(target)))


def _competes(rival: str, cost: float, winner: str, least: float) -> bool:
    uses, others = english_words().get(winner, _RARE), english_words().get(rival, _RARE)
    apart = _APART
    if uses >= _FAR * others:
        apart = _APART_FROM_RARER
    elif others >= _FAR * uses:
        apart = _APART_FROM_COMMONER
    return cost - least < apart - 1e-9
