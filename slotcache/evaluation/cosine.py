"""A cache that compares vectors, as others do it: the nearest earlier question above a threshold gives its answer.

It shares all answers among all customers, which is how such caches come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotcache.evaluation.replay import FalseHit
from slotcache.evaluation.traffic import Asked


@dataclass(frozen=True, slots=True)
class CosineResult:
    """What a cosine cache did with the same traffic.

    Attributes:
        threshold: Lowest cosine at which it answers, inclusive.
        hits: Questions answered from it.
        false_hits: Hits whose answer was wrong.
    """

    threshold: float
    hits: int
    false_hits: tuple[FalseHit, ...]


def replay_cosine(traffic: Sequence[Asked], vectors: NDArray[np.float32], threshold: float) -> CosineResult:
    """Send traffic through a cosine cache.

    Args:
        traffic: Questions with known right answers.
        vectors: Their unit vectors, shape (questions, width).
        threshold: Lowest cosine at which it answers, inclusive.
    """
    stored: list[int] = []
    held = np.zeros_like(vectors)
    hits = 0
    wrong = []
    for at, asked in enumerate(traffic):
        scores = held[: len(stored)] @ vectors[at]
        best = int(scores.argmax()) if len(stored) else -1
        if best >= 0 and scores[best] >= threshold:
            hits += 1
            first = traffic[stored[best]]
            if first.truth != asked.truth:
                met = f"cosine {float(scores[best]):.3f}"
                wrong.append(FalseHit(asked.text, first.text, met, asked.truth, first.answer))
            continue
        held[len(stored)] = vectors[at]
        stored.append(at)
    return CosineResult(threshold, hits, tuple(wrong))
