"""Calibrated probabilities of intents and slot values, from the sentence vector and hashed n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slotcache.errors import ModelError
from slotcache.model_files import HeadShape
from slotcache.parsing.encoder import open_graph
from slotcache.parsing.ngrams import Ngrams

Ranked = tuple[tuple[str, float], ...]
"""(name, probability), best first."""


class SlotDistributions(Mapping[str, Ranked]):
    """Slot name -> its values with their probabilities, best first; worked out when looked at."""

    def __init__(self, values: Mapping[str, tuple[int, tuple[str, ...]]], logits: NDArray[np.float32]) -> None:
        self._values = values
        self._logits = logits

    def __getitem__(self, slot: str) -> Ranked:
        start, names = self._values[slot]
        return _ranked(names, _softmax(self._logits[start : start + len(names)]))

    def best(self, slot: str) -> tuple[str, float] | None:
        """The likeliest value of a slot and its probability, None for a slot without a head."""
        found = self._values.get(slot)
        if found is None:
            return None
        start, names = found
        logits = self._logits[start : start + len(names)]
        at = int(logits.argmax())
        return names[at], 1.0 / float(np.exp(logits - logits[at], dtype=np.float64).sum())

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Classifier:
    """The heads of one model folder. Thread-safe."""

    def __init__(self, folder: Path, shape: HeadShape) -> None:
        self._session = open_graph(folder / shape.graph)
        self._ngrams = Ngrams(**shape.ngrams.model_dump())
        self.intents = tuple(dict.fromkeys(label.partition("/")[0] for label in shape.classes))
        place = {name: at for at, name in enumerate(self.intents)}
        self._owner = np.array([place[label.partition("/")[0]] for label in shape.classes], dtype=np.int64)
        self.slots: dict[str, tuple[int, tuple[str, ...]]] = {}
        start = len(shape.classes)
        for slot, names in shape.slots.items():
            self.slots[slot] = (start, names)
            start += len(names)
        outputs = {output.name: output.shape[-1] for output in self._session.get_outputs()}
        if outputs != {"logits": start, "cosines": len(shape.prototypes)}:
            raise ModelError(f"{folder / shape.graph} does not fit its manifest; install the model again")

    def __call__(self, text: str, vector: NDArray[np.float32]) -> tuple[Ranked, SlotDistributions, NDArray[np.float32]]:
        """Read one text.

        Args:
            text: The utterance.
            vector: Its unit vector, shape (1, width).

        Returns:
            Intents with probabilities that add up to 1, best first; the slots' distributions; the cosines to all
            prototypes, shape (prototypes,).
        """
        buckets, values = self._ngrams(text)
        inputs = {"vector": vector, "buckets": buckets, "values": values}
        logits, cosines = self._session.run(["logits", "cosines"], inputs)
        classes = _softmax(logits[: len(self._owner)])
        intents = np.zeros(len(self.intents))
        np.add.at(intents, self._owner, classes)
        return _ranked(self.intents, intents), SlotDistributions(self.slots, logits), cosines


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    raised = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(raised / raised.sum())


def _ranked(names: Sequence[str], chances: NDArray[np.float64]) -> Ranked:
    order = np.argsort(-chances, kind="stable").tolist()
    found = chances.tolist()
    return tuple((names[at], found[at]) for at in order)
