"""Cross-validation: held-out readings only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from slotcache.learning.examples import Example
from slotcache.learning.heads import Floats, Settings
from slotcache.parsing.ngrams import Ngrams
from slotcache.reporting.crossval import cross_validate
from slotcache.reporting.judged import Judged, Verdict

SETTINGS = Settings(ngrams=Ngrams(256))
TOPICS = {"cancel": "cancel stop", "refund": "money refund", "out_of_scope/far": "weather football"}


def encode(texts: Sequence[str]) -> Floats:
    """Bag of first letters: an encoder that needs no file."""
    vectors = np.full((len(texts), 26), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, ord(word[0]) - 97] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


EXAMPLES = [
    Example(f"{voice} {word} {when}", intent, {} if "/" in intent else {"timing": when}, group=voice)
    for intent, words in TOPICS.items()
    for word in words.split()
    for when in ("before", "after")
    for voice in ("hello", "please", "kindly", "hey", "well")
]


@pytest.fixture(scope="module")
def read() -> list[Judged]:
    return cross_validate(EXAMPLES, encode, bar=0.5, folds=5, settings=SETTINGS)


def test_crossval_reads_every_example_once(read: list[Judged]) -> None:
    assert sorted(q.text for q in read) == sorted(e.text for e in EXAMPLES)


def test_crossval_reads_what_can_be_learned(read: list[Judged]) -> None:
    assert sum(q.verdict is Verdict.RIGHT for q in read) > 0.8 * len(read)


def test_crossval_out_of_scope_kinds_are_one(read: list[Judged]) -> None:
    assert {q.gold.intent for q in read if "weather" in q.text} == {"out_of_scope"}


def test_crossval_below_the_bar_abstains() -> None:
    read = cross_validate(EXAMPLES, encode, bar=1.01, folds=3, settings=SETTINGS)
    assert {q.read.key for q in read} == {None}


@pytest.mark.parametrize("folds", [2, 6])
def test_crossval_too_few_groups_are_refused(folds: int) -> None:
    with pytest.raises(ValueError, match="groups of examples"):
        cross_validate(EXAMPLES, encode, bar=0.5, folds=folds)
