"""Nominates the intents an utterance may be about: the nearest by embedding, above a deliberately loose floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Proposer:
    """Ranks intents by the cosine of their nearest prototype (the centre of the examples of one meaning).

    Args:
        intents: Intent names.
        prototypes: For each prototype, in the order of the cosines, the position of its intent in `intents`.
        floor: Lowest cosine at which an intent is a candidate.
        most: Most candidates returned.
    """

    def __init__(self, intents: Sequence[str], prototypes: Sequence[int], *, floor: float, most: int) -> None:
        self._intents = tuple(intents)
        self._owner = np.asarray(prototypes, dtype=np.int64)
        self._floor = floor
        self._most = most

    def __call__(self, cosines: NDArray[np.float32]) -> tuple[tuple[str, float], ...]:
        """Return (intent, cosine), best first, from the cosines to all prototypes, shape (prototypes,)."""
        best = np.full(len(self._intents), -2.0, dtype=np.float32)
        np.maximum.at(best, self._owner, cosines)
        order = np.argsort(-best, kind="stable")[: self._most]
        return tuple((self._intents[at], float(best[at])) for at in order if best[at] >= self._floor)
