"""Cross-validation of the learned reader: each example is read by heads that were fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from slotcache.key import Key
from slotcache.learning.examples import ABSENT, Example
from slotcache.learning.heads import DEFAULTS, Encode, Head, Heads, Settings, fit
from slotcache.records.record import normal
from slotcache.reporting.judged import OUT_OF_SCOPE, Answers, Gold, Judged, Read, Source

FEWEST: Final = 3
"""Fewest folds: one is read, one calibrates, the others are fitted on."""


def cross_validate(
    examples: Sequence[Example],
    encode: Encode,
    *,
    bar: float,
    folds: int = 5,
    traffic: Callable[[str], float] = lambda _: 1.0,
    answers: Answers | None = None,
    settings: Settings = DEFAULTS,
    report: Callable[[int], None] = lambda _: None,
) -> list[Judged]:
    """Read every example by heads that saw neither it nor its group.

    Args:
        examples: Labelled examples.
        encode: The frozen encoder.
        bar: Probability (inclusive) from which the reader counts as certain; below it abstains.
        folds: How many parts the examples are split into, at least 3.
        traffic: How often a question, given in its normal form, was asked.
        answers: Which answers stand under which keys.
        settings: Dials of the fit.
        report: Called with the number of each fold when it is done.

    Raises:
        ValueError: too few folds or groups for them, or a fold leaves fewer than two intents.
    """
    groups = sorted({_group(example) for example in examples})
    if folds < FEWEST or len(groups) < folds:
        raise ValueError(
            f"{len(groups)} groups of examples in {folds} folds; give at least {FEWEST} folds and a group each"
        )
    fold = {name: at % folds for at, name in enumerate(groups)}
    known = answers or Answers()
    judged = []
    for part in range(folds):
        held = [e for e in examples if fold[_group(e)] == part]
        calibration = [e for e in examples if fold[_group(e)] == (part + 1) % folds]
        fitted = [e for e in examples if fold[_group(e)] not in (part, (part + 1) % folds)]
        heads = fit(fitted, calibration, encode, settings=settings)
        for example, read in zip(held, _read(heads, held, encode, bar), strict=True):
            gold = Gold(OUT_OF_SCOPE) if _base(example.intent) == OUT_OF_SCOPE else Gold(example.intent, example.slots)
            asked = traffic(normal(example.text))
            judged.append(Judged(example.text, gold, read, Source.CROSS_VALIDATION, asked, known.harmful(gold, read)))
        report(part)
    return judged


def _group(example: Example) -> str:
    return example.group or normal(example.text)


def _base(intent: str) -> str:
    return intent.partition("/")[0]


def _read(heads: Heads, examples: Sequence[Example], encode: Encode, bar: float) -> list[Read]:
    vectors = np.asarray(encode([e.text for e in examples]), dtype=np.float32)
    return [_one(heads, vectors[at], example.text, bar) for at, example in enumerate(examples)]


def _one(heads: Heads, vector: NDArray[np.float32], text: str, bar: float) -> Read:
    buckets, weights = heads.ngrams(text)

    def chances(head: Head) -> NDArray[np.float64]:
        logits = (vector @ head.vector + weights @ head.ngrams[buckets] + head.bias).astype(np.float64)
        odds = np.exp(logits - logits.max())
        return np.asarray(odds / odds.sum())

    summed: dict[str, float] = {}
    for name, chance in zip(heads.intent.names, chances(heads.intent), strict=True):
        summed[_base(name)] = summed.get(_base(name), 0.0) + float(chance)
    intent = max(summed, key=lambda name: summed[name])
    confidence = min(1.0, summed[intent])
    read = Read(None, None, confidence=confidence, leaning=intent)
    if intent == OUT_OF_SCOPE:
        return replace(read, abstain=OUT_OF_SCOPE)
    if confidence < bar:
        return replace(read, abstain="low_confidence")
    values = {slot: head.names[int(chances(head).argmax())] for slot, head in heads.slots.items()}
    slots = {slot: value for slot, value in sorted(values.items()) if value != ABSENT}
    return replace(read, key=str(Key.of(intent, slots)), intent=intent, slots=slots)
