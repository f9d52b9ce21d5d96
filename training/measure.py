"""Measures a model folder on text it was not fitted to, through the path that serves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from slotcache.learning.examples import ABSENT, OUT_OF_SCOPE, Example
from slotcache.parsing.learned import LearnedReading, Model


def measure(folder: Path, held_out: Sequence[Example]) -> dict[str, Any]:
    """Figures of a model on held-out examples.

    Returns:
        `recall`: share of in-scope examples whose intent is a candidate, and by rank; `intent`: accuracy, expected
        calibration error, share accepted at 1 % wrong; `out_of_scope`: area under the curve and share accepted at
        that bar; `slots`: accuracy per slot; `key`: share whose intent and slots are all right; `pairs`: area under
        the curve of the cosine between two wordings of one meaning against two meanings of one intent;
        `milliseconds`: time to read one.
    """
    model = Model.load(folder, domain=_domain(folder))
    readings, vectors, times = [], [], []
    for example in held_out:
        start = time.perf_counter()
        readings.append(model.read(example.text))
        times.append(1e3 * (time.perf_counter() - start))
        vectors.append(model.encoder(example.text)[0][0])
    inside = np.array([not example.intent.startswith(OUT_OF_SCOPE) for example in held_out])
    right = np.array([reading.intents[0][0] == _intent(e) for reading, e in zip(readings, held_out, strict=True)])
    sure = np.array([reading.intents[0][1] for reading in readings])
    asked = np.array([reading.intents[0][0] != OUT_OF_SCOPE for reading in readings])
    bar = _bar(sure[asked], right[asked])
    figures: dict[str, Any] = {
        "examples": len(held_out),
        "recall": _recall([r for r, i in zip(readings, inside, strict=True) if i], [e for e in held_out if _inside(e)]),
        "intent": {
            "accuracy": _share(right[inside]),
            "calibration_error": round(_calibration_error(sure, right), 4),
            "bar_at_1_percent_wrong": round(bar, 4),
            "coverage_at_bar": _share(asked[inside] & right[inside] & (sure[inside] >= bar)),
        },
        "milliseconds": {"p50": round(float(np.median(times)), 3), "p95": round(float(np.quantile(times, 0.95)), 3)},
    }
    if not inside.all():
        outside = np.array([dict(reading.intents)[OUT_OF_SCOPE] for reading in readings])
        figures["out_of_scope"] = {
            "auc": round(float(roc_auc_score(~inside, outside)), 4),
            "taken_for_an_intent": _share(asked[~inside]),
            "taken_at_bar": _share(asked[~inside] & (sure[~inside] >= bar)),
        }
    figures |= _slots(readings, held_out)
    figures["pairs"] = _pairs(np.stack(vectors), held_out)
    return figures


def _domain(folder: Path) -> str:
    from slotcache.model_files import read_manifest

    return read_manifest(folder).domain


def _intent(example: Example) -> str:
    return example.intent.partition("/")[0]


def _inside(example: Example) -> bool:
    return _intent(example) != OUT_OF_SCOPE


def _share(flags: NDArray[np.bool_]) -> float:
    return round(float(flags.mean()), 4) if len(flags) else 0.0


def _recall(readings: Sequence[LearnedReading], examples: Sequence[Example]) -> dict[str, float]:
    ranks = []
    for reading, example in zip(readings, examples, strict=True):
        names = [name for name, _ in reading.candidates]
        ranks.append(names.index(example.intent) + 1 if example.intent in names else 10**6)
    found = np.array(ranks)
    by_rank = {f"at_{k}": _share(found <= k) for k in (1, 3, 5, 10, 20)}
    mean = float(np.mean([len(reading.candidates) for reading in readings]))
    return {"candidates": _share(found < 10**6), "mean_candidates": round(mean, 1), **by_rank}


def _bar(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Lowest confidence above which at most 1 % of the readings are wrong."""
    order = np.argsort(-sure, kind="stable")
    wrong = np.cumsum(~right[order]) / np.arange(1, len(order) + 1)
    within = np.flatnonzero(wrong <= 0.01)
    return float(sure[order][within[-1]]) if len(within) else 1.0


def _calibration_error(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    bins = np.minimum((sure * 15).astype(int), 14)
    gaps = [
        abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
        for b in range(15)
        if (bins == b).any()
    ]
    return float(sum(gaps))


def _slots(readings: Sequence[LearnedReading], examples: Sequence[Example]) -> dict[str, Any]:
    users: dict[str, set[str]] = {}
    for example in examples:
        for slot in example.slots:
            users.setdefault(slot, set()).add(example.intent)
    hits: dict[str, list[bool]] = {}
    keys = []
    for reading, example in zip(readings, examples, strict=True):
        right = reading.intents[0][0] == _intent(example)
        for slot, intents in users.items():
            if example.intent in intents and slot in reading.slots:
                hit = reading.slots[slot][0][0] == example.slots.get(slot, ABSENT)
                hits.setdefault(slot, []).append(hit)
                right = right and hit
        if _inside(example):
            keys.append(right)
    return {
        "slots": {
            slot: {"accuracy": _share(np.array(found)), "examples": len(found)} for slot, found in sorted(hits.items())
        },
        "key": {"accuracy": _share(np.array(keys))},
    }


def _pairs(vectors: NDArray[np.float32], examples: Sequence[Example]) -> dict[str, float]:
    meanings = [(e.intent, tuple(sorted(e.slots.items()))) for e in examples]
    numbers = {meaning: at for at, meaning in enumerate(dict.fromkeys(meanings))}
    meaning = np.array([numbers[m] for m in meanings])
    intents = {name: at for at, name in enumerate(dict.fromkeys(e.intent for e in examples))}
    intent = np.array([intents[e.intent] for e in examples])
    inside = np.array([_inside(e) for e in examples])
    rows, columns = np.triu_indices(len(examples), 1)
    both = inside[rows] & inside[columns]
    rows, columns = rows[both], columns[both]
    cosines = np.einsum("ij,ij->i", vectors[rows], vectors[columns])
    same = meaning[rows] == meaning[columns]
    near = same | (intent[rows] == intent[columns])
    found = {"auc_all": _auc(same, cosines), "auc_same_intent": _auc(same[near], cosines[near])}
    return {name: value for name, value in found.items() if value is not None}


def _auc(same: NDArray[np.bool_], scores: NDArray[np.float32]) -> float | None:
    return round(float(roc_auc_score(same, scores)), 4) if 0 < same.sum() < len(same) else None
