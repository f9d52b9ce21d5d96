"""What the same pairs look like to a cache that compares vectors: the column beside every result."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slotcache.evaluation.pairs import Pair

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cache that serves every pair whose similarity reaches a threshold.

    Attributes:
        at: The threshold, inclusive.
        wrong: Share of pairs that must not meet and would, in [0, 1].
        right: Share of pairs that may meet and would, in [0, 1].
    """

    at: float
    wrong: float
    right: float


@dataclass(frozen=True, slots=True)
class Separation:
    """How well a similarity tells pairs that may meet from pairs that must not.

    Attributes:
        auc: Probability that a pair that may meet scores above one that must not (0.5 is chance).
        without_wrong: Highest share of right pairs served by a threshold that serves no wrong one, in [0, 1].
        thresholds: The trade at some thresholds.
    """

    auc: float
    without_wrong: float
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


def separation(
    pairs: Sequence[Pair], scores: Sequence[float], *, at: Sequence[float] = (0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99)
) -> Separation:
    """How well scores separate labelled pairs.

    Args:
        pairs: The pairs.
        scores: The similarity of each pair.
        at: Thresholds to show.
    """
    right = sorted(s for pair, s in zip(pairs, scores, strict=True) if pair.same)
    wrong = sorted(s for pair, s in zip(pairs, scores, strict=True) if not pair.same)
    highest_wrong = wrong[-1] if wrong else -math.inf
    return Separation(
        auc=_auc(right, wrong),
        without_wrong=_share(right, floor=highest_wrong, strict=True),
        thresholds=tuple(Threshold(t, _share(wrong, floor=t), _share(right, floor=t)) for t in at),
    )


def _share(scores: Sequence[float], *, floor: float, strict: bool = False) -> float:
    kept = sum(s > floor if strict else s >= floor for s in scores)
    return kept / len(scores) if scores else 0.0


def _auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Area under the curve by ranks (Mann-Whitney), ties counting half; both sequences sorted."""
    if not right or not wrong:
        return 0.5
    below = sum(bisect_left(wrong, s) + bisect_right(wrong, s) for s in right)
    return below / 2 / (len(right) * len(wrong))
