"""What the same pairs look like to a cache that compares vectors: the column beside every result."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.evaluation.pairs import Pair

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cache that serves every pair whose similarity reaches a threshold.

    Attributes:
        at: The threshold, inclusive.
        false_hits: Pairs that must not meet and would.
        hits: Pairs that may meet and would.
        wrong: Share of pairs that must not meet and would, in [0, 1].
        right: Share of pairs that may meet and would, in [0, 1].
    """

    at: float
    false_hits: int
    hits: int
    wrong: float
    right: float


@dataclass(frozen=True, slots=True)
class Separation:
    """How well a similarity tells pairs that may meet from pairs that must not.

    Attributes:
        auc: Probability that a pair that may meet scores above one that must not (0.5 is chance).
        without_wrong: Highest share of right pairs served by a threshold that serves no wrong one, in [0, 1].
        without_wrong_at: The similarity that such a threshold must exceed; None when there is no wrong pair.
        thresholds: The trade at every threshold looked at.
    """

    auc: float
    without_wrong: float
    without_wrong_at: float | None
    thresholds: tuple[Threshold, ...]


def word_cosine(a: str, b: str) -> float:
    """Cosine of two bags of words, in [0, 1].

    >>> round(word_cosine("can I cancel before it ships", "can I cancel after it ships"), 3)
    0.833
    """
    first, second = Counter(_WORD.findall(a.lower())), Counter(_WORD.findall(b.lower()))
    shared = sum(first[word] * second[word] for word in first)
    norm = math.sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))
    return shared / norm if norm else 0.0


THRESHOLDS: Final = tuple(step / 100 for step in range(101))
"""Every threshold from 0 to 1 in steps of a hundredth."""


def separation(pairs: Sequence[Pair], scores: Sequence[float], *, at: Sequence[float] = THRESHOLDS) -> Separation:
    """How well scores separate labelled pairs.

    Args:
        pairs: The pairs.
        scores: The similarity of each pair.
        at: Thresholds to look at.
    """
    right = sorted(s for pair, s in zip(pairs, scores, strict=True) if pair.same)
    wrong = sorted(s for pair, s in zip(pairs, scores, strict=True) if not pair.same)
    highest_wrong = wrong[-1] if wrong else None
    served = len(right) if highest_wrong is None else len(right) - bisect_right(right, highest_wrong)
    return Separation(
        auc=ranked_above(right, wrong),
        without_wrong=served / len(right) if right else 0.0,
        without_wrong_at=highest_wrong,
        thresholds=tuple(_threshold(each, right, wrong) for each in at),
    )


def ranked_above(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Probability that one of the right scores lies above one of the wrong ones, ties counting half; 0.5 of nothing.

    It is the area under the ROC curve, by ranks (Mann-Whitney).

    Args:
        right: Scores in ascending order.
        wrong: Scores in ascending order.
    """
    if not right or not wrong:
        return 0.5
    below = sum(bisect_left(wrong, s) + bisect_right(wrong, s) for s in right)
    return below / 2 / (len(right) * len(wrong))


def _threshold(at: float, right: Sequence[float], wrong: Sequence[float]) -> Threshold:
    false_hits, hits = len(wrong) - bisect_left(wrong, at), len(right) - bisect_left(right, at)
    return Threshold(
        at, false_hits, hits, false_hits / len(wrong) if wrong else 0.0, hits / len(right) if right else 0.0
    )
