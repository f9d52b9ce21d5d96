"""Fits the heads of the learned reader on a frozen encoder, with scikit-learn and without torch.

Each head is the sum of two logistic regressions, one over the sentence vector and one over hashed n-grams. Their
weights in the sum, which are also the temperature, are fitted on examples kept apart for calibration, since the
encoder has seen the others. The sum of linear maps is linear, so that calibration costs nothing when served.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from slotcache.learning.examples import ABSENT, OUT_OF_SCOPE, Example
from slotcache.parsing.ngrams import Ngrams

Floats = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Floats]
"""Texts -> unit vectors, shape (texts, width)."""

_PULL: Final = 10.0
"""How strongly calibration holds on to where it starts from: equal parts for the intent and for all slots together, and
those shared weights for one slot. Held-out examples that are all right would otherwise ask for endless confidence."""

_START: Final = (0.5, 0.5)

_ITERATIONS: Final = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """Dials of the fit.

    Attributes:
        ngrams: How texts become n-grams.
        vector_strength: Inverse regularisation of the regression over the sentence vector.
        ngram_strength: Inverse regularisation of the regression over n-grams.
        recall: Share of calibration examples whose intent must stand among the candidates.
        slack: Cosine by which the floor lies below what that share needs.
        most: Bounds on the number of candidates.
        slots: Slots that get a head; None gives every slot of the examples one. Slots whose values are open (durations,
            money) cannot be told from examples.
    """

    ngrams: Ngrams = field(default_factory=lambda: Ngrams(1 << 14))
    vector_strength: float = 10.0
    ngram_strength: float = 100.0
    recall: float = 0.999
    slack: float = 0.05
    most: tuple[int, int] = (5, 30)
    slots: frozenset[str] | None = None


DEFAULTS: Final = Settings()

FEWEST: Final = 30
"""Examples that must speak of a slot before a head is fitted for it; with fewer it would only guess. In a small set one
example in fifty is enough."""


def well_said(examples: Sequence[Example], slots: Collection[str]) -> frozenset[str]:
    """Those of some slots that enough examples speak of."""
    said = Counter(name for example in examples for name in example.slots)
    fewest = min(FEWEST, -(-len(examples) // 50))
    return frozenset(name for name in slots if said[name] >= max(1, fewest))


@dataclass(frozen=True, slots=True)
class Head:
    """One calibrated linear head.

    Attributes:
        names: Class names in the order of the columns.
        vector: Weights over the sentence vector, shape (width, classes).
        ngrams: Weights over n-gram buckets, shape (buckets, classes).
        bias: Shape (classes,).
    """

    names: tuple[str, ...]
    vector: Floats
    ngrams: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Heads:
    """All heads of one model.

    Attributes:
        intent: Head over intent classes.
        slots: Slot name -> head over its values.
        prototypes: Unit vectors, one per meaning, shape (meanings, width).
        owners: Intent of each prototype, as a position in `intent.names`.
        floor: Lowest cosine of a candidate.
        most: Most candidates.
        ngrams: How texts become n-grams.
    """

    intent: Head
    slots: dict[str, Head]
    prototypes: Floats
    owners: tuple[int, ...]
    floor: float
    most: int
    ngrams: Ngrams


@dataclass(frozen=True, slots=True)
class _Inputs:
    vectors: Floats
    ngrams: csr_matrix


def fit(
    examples: Sequence[Example],
    calibration: Sequence[Example],
    encode: Encode,
    *,
    settings: Settings = DEFAULTS,
    report: Callable[[str], None] = lambda _: None,
) -> Heads:
    """Fit all heads.

    Args:
        examples: What the regressions are fitted on.
        calibration: What their sum is calibrated on; no wording frame may be in both.
        encode: The frozen encoder, as it will serve.
        settings: Dials.
        report: Called with the name of each head before it is fitted.

    Raises:
        ValueError: fewer than two intents, or nothing to calibrate on.
    """
    names = sorted({example.intent for example in examples})
    if len(names) < 2 or not calibration:
        raise ValueError(f"{len(names)} intents and {len(calibration)} calibration examples; give at least 2 and 1")
    report("vectors")
    fitted, kept = _inputs(examples, encode, settings), _inputs(calibration, encode, settings)
    report("intent")
    intent = _calibrated(
        _pair(fitted, [e.intent for e in examples], names, settings), kept, [e.intent for e in calibration]
    )
    slots = _slots(examples, fitted, calibration, kept, settings, report)
    prototypes, owners = _prototypes(examples, fitted.vectors, names)
    floor, most = _floor(calibration, kept.vectors, prototypes, owners, names, settings)
    return Heads(intent, slots, prototypes, owners, floor, most, settings.ngrams)


def _inputs(examples: Sequence[Example], encode: Encode, settings: Settings) -> _Inputs:
    texts = [example.text for example in examples]
    columns, values, starts = [], [], [0]
    for text in texts:
        buckets, weights = settings.ngrams(text)
        columns.append(buckets)
        values.append(weights)
        starts.append(starts[-1] + len(buckets))
    shape = (len(texts), settings.ngrams.buckets)
    ngrams = csr_matrix((np.concatenate(values), np.concatenate(columns), np.array(starts)), shape=shape)
    return _Inputs(np.asarray(encode(texts), dtype=np.float32), ngrams)


def _rows(inputs: _Inputs, rows: Sequence[int]) -> _Inputs:
    return _Inputs(inputs.vectors[rows], inputs.ngrams[rows])


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two regressions over the same classes, before they are summed; each is (weights, bias)."""

    names: tuple[str, ...]
    vector: tuple[Floats, Floats]
    ngrams: tuple[Floats, Floats]

    def logits(self, inputs: _Inputs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first = inputs.vectors @ self.vector[0] + self.vector[1]
        second = inputs.ngrams @ self.ngrams[0] + self.ngrams[1]
        return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)

    def summed(self, weights: NDArray[np.float64]) -> Head:
        first, second = np.float32(weights[0]), np.float32(weights[1])
        return Head(
            self.names,
            self.vector[0] * first,
            self.ngrams[0] * second,
            self.vector[1] * first + self.ngrams[1] * second,
        )


def _pair(inputs: _Inputs, labels: Sequence[str], names: Sequence[str], settings: Settings) -> _Pair:
    place = {name: at for at, name in enumerate(names)}
    targets = np.array([place[label] for label in labels])
    return _Pair(
        tuple(names),
        _regression(inputs.vectors, targets, len(names), settings.vector_strength),
        _regression(inputs.ngrams, targets, len(names), settings.ngram_strength),
    )


def _regression(features: object, targets: NDArray[np.int64], classes: int, strength: float) -> tuple[Floats, Floats]:
    # The tolerance is loose: the last digits of the weights change no calibrated probability that is used.
    model = LogisticRegression(C=strength, max_iter=_ITERATIONS, tol=1e-3).fit(features, targets)
    weights, bias = model.coef_.T, model.intercept_
    if classes == 2:
        weights = np.concatenate([np.zeros_like(weights), weights], axis=1)
        bias = np.concatenate([np.zeros_like(bias), bias])
    return weights.astype(np.float32), bias.astype(np.float32)


def _calibrated(pair: _Pair, kept: _Inputs, labels: Sequence[str]) -> Head:
    known = [row for row, label in enumerate(labels) if label in pair.names]
    return pair.summed(_weights([(pair, _rows(kept, known), [labels[row] for row in known])]))


def _weights(
    heads: Sequence[tuple[_Pair, _Inputs, Sequence[str]]], prior: Sequence[float] | NDArray[np.float64] = _START
) -> NDArray[np.float64]:
    """Weights of the two regressions that make held-out labels most likely, shared by the given heads."""
    parts = []
    for pair, inputs, labels in heads:
        place = {name: at for at, name in enumerate(pair.names)}
        parts.append((*pair.logits(inputs), np.array([place[label] for label in labels], dtype=np.int64)))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = 0.0, np.zeros(2)
        for first, second, targets in parts:
            logits = weights[0] * first + weights[1] * second
            logits -= logits.max(axis=1, keepdims=True)
            chances = np.exp(logits)
            chances /= chances.sum(axis=1, keepdims=True)
            rows = np.arange(len(targets))
            total -= float(np.log(np.maximum(chances[rows, targets], 1e-12)).sum())
            chances[rows, targets] -= 1.0
            slope += ((chances * first).sum(), (chances * second).sum())
        away = np.log(weights / np.asarray(prior))
        return total + _PULL * float(away @ away), slope + 2 * _PULL * away / weights

    found = minimize(loss, np.asarray(prior), jac=True, method="L-BFGS-B", bounds=[(0.02, 10.0)] * 2)
    return np.asarray(found.x, dtype=np.float64)


def _slots(
    examples: Sequence[Example],
    fitted: _Inputs,
    calibration: Sequence[Example],
    kept: _Inputs,
    settings: Settings,
    report: Callable[[str], None],
) -> dict[str, Head]:
    """One head per slot, over all examples: a slot that an intent does not have is absent there."""
    ready = {}
    for slot in sorted({slot for example in examples for slot in example.slots}):
        if settings.slots is not None and slot not in settings.slots:
            continue
        report(f"slot {slot}")
        labels = [example.slots.get(slot, ABSENT) for example in examples]
        names = sorted(set(labels))
        if len(names) < 2:
            continue
        values = [example.slots.get(slot, ABSENT) for example in calibration]
        held = [row for row, value in enumerate(values) if value in names]
        pair = _pair(fitted, labels, names, settings)
        ready[slot] = (pair, _rows(kept, held), [values[row] for row in held])
    if not ready:
        return {}
    shared = _weights(list(ready.values()))
    return {slot: head[0].summed(_weights([head], shared)) for slot, head in ready.items()}


def _prototypes(examples: Sequence[Example], vectors: Floats, names: Sequence[str]) -> tuple[Floats, tuple[int, ...]]:
    rows: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for row, example in enumerate(examples):
        if not example.intent.startswith(OUT_OF_SCOPE):
            rows.setdefault((example.intent, tuple(sorted(example.slots.items()))), []).append(row)
    meanings = sorted(rows)
    centres = np.stack([vectors[rows[meaning]].mean(axis=0) for meaning in meanings])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    place = {name: at for at, name in enumerate(names)}
    return centres.astype(np.float32), tuple(place[intent] for intent, _ in meanings)


def _floor(
    calibration: Sequence[Example],
    vectors: Floats,
    prototypes: Floats,
    owners: Sequence[int],
    names: Sequence[str],
    settings: Settings,
) -> tuple[float, int]:
    """Floor and number of candidates that keep the wanted share of right intents among them."""
    owner = np.array(owners)
    place = {name: at for at, name in enumerate(names)}
    scores, ranks = [], []
    for example, cosines in zip(calibration, vectors @ prototypes.T, strict=True):
        at = place.get(example.intent)
        if at is None or not (owner == at).any():
            continue
        best = np.full(len(names), -2.0)
        np.maximum.at(best, owner, cosines)
        scores.append(best[at])
        ranks.append(int((best > best[at]).sum()) + 1)
    least, greatest = settings.most
    if not scores:
        return -1.0, greatest
    floor = float(np.quantile(scores, 1.0 - settings.recall)) - settings.slack
    return max(-1.0, round(floor, 4)), int(np.clip(np.quantile(ranks, settings.recall), least, greatest))
