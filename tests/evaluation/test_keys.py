from __future__ import annotations

from slotcache.evaluation.keys import spread
from slotcache.key import Key
from slotcache.parsing.types import Parse


def _parse(key: Key, words: str) -> Parse:
    return Parse(words, key=key, canonical=words)


A, B = Key.of("a"), Key.of("b")


def test_keys_spread_counts_distinct_utterances() -> None:
    got = spread([_parse(A, "x"), _parse(A, "x"), _parse(A, "y"), _parse(B, "x")])
    assert (got.keys, got.wordings, got.wordings_per_key, got.seen_once.count) == (2, 3, 1.5, 1)


def test_keys_spread_passes_over_verbatim_keys() -> None:
    assert spread([_parse(Key.verbatim("x"), "x"), Parse("none")]).keys == 0


def test_keys_spread_of_nothing() -> None:
    assert spread([]).wordings_per_key == 0.0
