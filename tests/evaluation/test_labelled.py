from __future__ import annotations

import pytest

from slotcache.errors import Abstain, ConfigurationError
from slotcache.evaluation.labelled import read_labelled, report
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse


def _read(text: str) -> Parse:
    """`key: words` has that key, anything else none."""
    intent, colon, words = text.partition(": ")
    if not colon:
        return Parse(text, key=Key.verbatim(text), owner=Owner.CUSTOMER, abstain=Abstain.RESIDUE)
    return Parse(text, key=Key.of(intent), intent=intent, owner=Owner.SHARED, canonical=words)


def _rows(*pairs: tuple[str, str]) -> list[dict]:
    return [{"text": text, "intent": label} for text, label in pairs]


def test_labelled_counts_intent_keys_only() -> None:
    got = report(read_labelled(_rows(("a: x", "A"), ("none", "A")), _read))
    assert (got.covered.count, got.covered.total, got.abstained) == (1, 2, (("residue", 1),))


def test_labelled_lists_keys_under_which_labels_meet() -> None:
    got = report(read_labelled(_rows(("a: x", "A"), ("a: y", "A"), ("a: z", "B"), ("b: x", "B")), _read))
    assert [(m.key, m.texts, m.wrong) for m in got.merges] == [("a()", (("A", ("a: x", "a: y")), ("B", ("a: z",))), 1)]
    assert (got.wrong.count, got.wrong.total) == (1, 4)


def test_labelled_sources_are_not_compared() -> None:
    rows = [{"text": "a: x", "intent": "A", "source": "one"}, {"text": "a: x", "intent": "B", "source": "two"}]
    assert report(read_labelled(rows, _read)).merges == ()


def test_labelled_counts_distinct_wordings_per_key() -> None:
    got = report(read_labelled(_rows(("a: x", "A"), ("a: x", "A"), ("b: x", "B"), ("b: y", "B")), _read))
    assert (got.spread.keys, got.spread.wordings_per_key, got.spread.seen_once.count) == (2, 1.5, 1)


def test_labelled_least_covered_label_comes_first() -> None:
    got = report(read_labelled(_rows(("a: x", "A"), ("none", "B")), _read))
    assert [(label, share.count) for label, share in got.coverage] == [("B", 0), ("A", 1)]


@pytest.mark.parametrize(("fields", "label"), [({"intent": "I", "key": "K"}, "K"), ({"source_intent": "S"}, "S")])
def test_labelled_finds_the_label(fields: dict[str, str], label: str) -> None:
    assert read_labelled([{"text": "x", **fields}], _read)[0].label == label


def test_labelled_takes_the_named_label() -> None:
    assert read_labelled([{"text": "x", "intent": "I", "mine": "M"}], _read, label="mine")[0].label == "M"


@pytest.mark.parametrize(
    ("rows", "message"),
    [([{"text": "x"}], "the rows have no label"), ([{"text": "x", "intent": "A"}, {"text": "y"}], "lacks the label")],
)
def test_labelled_refuses_rows_without_label(rows: list[dict], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_labelled(rows, _read)


def test_labelled_nothing() -> None:
    assert report(read_labelled([], _read)).covered.total == 0
