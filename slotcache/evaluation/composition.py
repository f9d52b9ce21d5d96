"""What a set of pairs is made of: sentence frames that recur, and pairs that words alone would solve.

A set proves little when its pairs are one sentence with another noun, or when all pairs that must not meet share their
words and all that may do not: counting words, read backwards, would solve it. Both are measured here, mechanically.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.evaluation.baselines import word_cosine
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.pairs import Pair

MOST_PAIRS: Final = 5
"""Pairs that may share one sentence frame."""

EVEN: Final = 0.5
"""Cosine of two bags of words from which on a pair counts as alike in words (inclusive)."""

LEAST_TELLING: Final = 1 / 3
"""Share of pairs whose words should speak for their label."""

_LONGEST_GAP: Final = 3
_FEWEST_KEPT: Final = 4
_LEAST_SHARE: Final = 0.6
_WORD: Final = re.compile(r"[\w']+")


@dataclass(frozen=True, slots=True)
class Composition:
    """What a set of pairs is made of.

    Attributes:
        pairs: Number of pairs.
        frames: Sentence frames that more than `MOST_PAIRS` pairs share, with their number of pairs, most first.
        framed: Pairs that hold such a frame.
        telling: Pairs whose words speak for their label: different ones unlike in words, same ones alike. They keep a
            set from being solved by reading the overlap backwards.
    """

    pairs: int
    frames: tuple[tuple[str, int], ...]
    framed: Proportion
    telling: Proportion

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "pairs": self.pairs,
            "frames": dict(self.frames),
            "framed": self.framed.as_dict(),
            "telling": self.telling.as_dict(),
        }


def composition(pairs: Sequence[Pair], *, function_words: Collection[str] = ()) -> Composition:
    """What a set of pairs is made of.

    Args:
        pairs: The pairs.
        function_words: Words that carry grammar only; a frame of nothing else is no frame.
    """
    holders: dict[str, set[int]] = defaultdict(set)
    for at, pair in enumerate(pairs):
        for text in (pair.a, pair.b):
            for frame in frames(text, function_words=function_words):
                holders[frame].add(at)
    crowded = {frame: held for frame, held in holders.items() if len(held) > MOST_PAIRS}
    framed = set().union(*crowded.values())
    telling = sum((word_cosine(pair.a, pair.b) >= EVEN) == pair.same for pair in pairs)
    return Composition(
        len(pairs),
        tuple(sorted(((frame, len(held)) for frame, held in crowded.items()), key=lambda item: (-item[1], item[0]))),
        proportion(len(framed), len(pairs)),
        proportion(telling, len(pairs)),
    )


def frames(text: str, *, function_words: Collection[str] = ()) -> Iterator[str]:
    """The sentence frames of a text: itself with one gap of up to three words, numbers replaced by `#`.

    What is kept must be four words or more, one of them no function word, and most of the sentence.

    >>> list(frames("can I return a skirt", function_words=["can", "i", "a"]))[-1]
    'can i return a _'
    """
    words = ["#" if word[0].isdigit() else word for word in _WORD.findall(text.lower())]
    size = len(words)
    for gap in range(1, _LONGEST_GAP + 1):
        for start in range(size - gap + 1):
            kept = [*words[:start], *words[start + gap :]]
            if len(kept) < _FEWEST_KEPT or len(kept) < _LEAST_SHARE * size:
                continue
            if any(word not in function_words and word != "#" for word in kept):
                yield " ".join([*words[:start], "_", *words[start + gap :]])
