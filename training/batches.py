"""Which utterances stand together in a batch: wordings of one meaning, among the meanings nearest to it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

WORDINGS: Final = 3
"""Wordings of one meaning in a batch."""

MEANINGS: Final = 40
"""Meanings in a batch."""

RIVALS: Final = 3
"""Hard negatives that come with each meaning drawn."""

NEAREST: Final = 12
"""Rivals are drawn from this many nearest meanings."""

OUTSIDE: Final = 24
"""Out-of-scope utterances in a batch."""


class Sampler:
    """Draws batches of row numbers."""

    def __init__(self, meaning: NDArray[np.int64], outside: Sequence[int], seed: int) -> None:
        self._chance = random.Random(seed)
        self._rows: dict[int, list[int]] = {}
        for row, at in enumerate(meaning):
            if at >= 0:
                self._rows.setdefault(int(at), []).append(row)
        self._outside = list(outside)
        self._near: dict[int, list[int]] = {}

    def steps(self) -> int:
        """Batches in one pass over the meanings' wordings."""
        return max(1, sum(map(len, self._rows.values())) // (WORDINGS * MEANINGS))

    def rank(self, vectors: NDArray[np.float32]) -> None:
        """Find every meaning's rivals from the unit vectors of all rows, shape (rows, width)."""
        names = list(self._rows)
        centres = np.stack([vectors[self._rows[name]].mean(0) for name in names])
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        near = np.argsort(-(centres @ centres.T), axis=1)[:, 1 : NEAREST + 1]
        self._near = {name: [names[at] for at in near[row]] for row, name in enumerate(names)}

    def epoch(self) -> Iterator[list[int]]:
        """Yield one pass of batches."""
        queue: list[int] = []
        for _ in range(self.steps()):
            chosen: dict[int, None] = {}
            while len(chosen) < min(MEANINGS, len(self._rows)):
                if not queue:
                    queue = list(self._rows)
                    self._chance.shuffle(queue)
                seed = queue.pop()
                rivals = self._near.get(seed, [])
                chosen |= dict.fromkeys([seed, *self._chance.sample(rivals, min(RIVALS, len(rivals)))])
            rows = [row for name in chosen for row in self._some(self._rows[name], WORDINGS)]
            yield rows + self._some(self._outside, OUTSIDE)

    def _some(self, rows: list[int], count: int) -> list[int]:
        return self._chance.sample(rows, min(count, len(rows)))
