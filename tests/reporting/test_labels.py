"""Label files: what they may say."""

from __future__ import annotations

import pytest

from slotcache.errors import ConfigurationError
from slotcache.reporting.judged import Gold
from slotcache.reporting.labels import labelled_from


@pytest.mark.parametrize(
    ("row", "gold"),
    [
        ({"key": "renew(timing=after)"}, Gold("renew", {"timing": "after"})),
        ({"key": None}, Gold("out_of_scope")),
        ({"intent": "renew"}, Gold("renew")),
        ({"intent": "renew", "slots": {}}, Gold("renew", {})),
        ({"intent": "out_of_scope/far"}, Gold("out_of_scope")),
    ],
)
def test_labels_forms(row: dict[str, object], gold: Gold) -> None:
    (found,) = labelled_from([{"text": "q", **row}])
    assert found.gold == gold


def test_labels_rows_of_other_kinds_are_passed_over() -> None:
    assert labelled_from([{"a": "x", "b": "y", "same": False}, {"text": "q", "personal": True}]) == []


@pytest.mark.parametrize(
    "row", [{"key": "renew"}, {"intent": 3}, {"intent": "Renew Loan"}, {"intent": "renew", "slots": []}]
)
def test_labels_nonsense_is_named(row: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="q"):
        labelled_from([{"text": "q", **row}])
