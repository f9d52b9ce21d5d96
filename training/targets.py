"""Numbers for the labels: which meaning, intent and slot values each utterance carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotcache.learning.examples import ABSENT, OUT_OF_SCOPE
from training.data import Utterance


@dataclass(frozen=True, slots=True)
class Targets:
    """Integer targets, -1 where an utterance has none.

    Attributes:
        meaning: Class of the exact meaning, shape (n,); out-of-scope text has none.
        heads: Head name -> classes, shape (n,): `intent`, and one per slot.
        sizes: Head name -> number of classes, and the number of meanings under `meaning`.
        out_of_scope: Which utterances are out of scope, shape (n,).
    """

    meaning: NDArray[np.int64]
    heads: dict[str, NDArray[np.int64]]
    sizes: dict[str, int]
    out_of_scope: NDArray[np.bool_]

    def rows(self, chosen: NDArray[np.int64]) -> Targets:
        """The targets of some rows."""
        heads = {name: values[chosen] for name, values in self.heads.items()}
        return Targets(self.meaning[chosen], heads, self.sizes, self.out_of_scope[chosen])


def number(utterances: Sequence[Utterance]) -> Targets:
    """Number the labels of all utterances together, so that every split shares the classes."""
    outside = np.array([u.label is not None and u.label.intent.startswith(OUT_OF_SCOPE) for u in utterances])
    meanings = [None if out else _meaning(u) for u, out in zip(utterances, outside, strict=True)]
    meaning, size = _classes(meanings)
    sizes = {"meaning": size}
    heads: dict[str, NDArray[np.int64]] = {}
    intents = [u.label.intent if u.label else None for u in utterances]
    if any(intents):
        heads["intent"], sizes["intent"] = _classes(intents)
    for slot in sorted({slot for u in utterances if u.label for slot in u.label.slots}):
        values = [u.label.slots.get(slot, ABSENT) if u.label else None for u in utterances]
        heads[f"slot_{slot}"], sizes[f"slot_{slot}"] = _classes(values)
    return Targets(meaning, heads, sizes, outside)


def _meaning(utterance: Utterance) -> str:
    label = utterance.label
    return f"{label.intent}{sorted(label.slots.items())}" if label else utterance.group


def _classes(names: Sequence[str | None]) -> tuple[NDArray[np.int64], int]:
    order = {name: at for at, name in enumerate(sorted({name for name in names if name is not None}))}
    return np.array([-1 if name is None else order[name] for name in names], dtype=np.int64), len(order)
