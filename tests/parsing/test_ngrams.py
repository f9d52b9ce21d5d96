"""Hashed n-grams: the same everywhere, always, and blind to what typing changes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.parsing.ngrams import Ngrams

NGRAMS = Ngrams(1 << 12)


def buckets(text: str) -> list[int]:
    return [int(bucket) for bucket in NGRAMS(text)[0]]


@given(st.text(max_size=200))
def test_ngrams_are_distinct_ascending_and_of_length_one_or_zero(text: str) -> None:
    places, values = NGRAMS(text)
    assert list(places) == sorted(set(places.tolist()))
    assert set(places.tolist()) <= set(range(NGRAMS.buckets))
    assert np.linalg.norm(values) == pytest.approx(1.0) or values.tolist() == [0.0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Can't I return it?", "cant i return it?"),
        ("don\u2019t cancel", "don't cancel"),
        ("WHERE IS  IT", "where is it"),
    ],
)
def test_ngrams_ignore_case_apostrophes_and_spaces(first: str, second: str) -> None:
    assert buckets(first) == buckets(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("before it ships", "after it ships"), ("from a to b", "from b to a"), ("within 30 days", "within 14 days")],
)
def test_ngrams_tell_qualifiers_and_order_apart(first: str, second: str) -> None:
    assert buckets(first) != buckets(second)


def test_ngrams_are_equal_in_another_process() -> None:
    code = "from slotcache.parsing.ngrams import Ngrams; print(Ngrams(4096)('can i cancel')[0].tolist())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == str(buckets("can i cancel"))


def test_ngrams_of_empty_text_weigh_nothing() -> None:
    places, values = NGRAMS("  ")
    assert (places.tolist(), values.tolist()) == ([0], [0.0])
