from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotcache.errors import ConfigurationError
from slotcache.evaluation.sets import JUDGED, LABELLED, OUTSIDE, PAIRS, PERSONAL, TRAFFIC, Sets, kind_of, sets_in


@pytest.mark.parametrize(
    ("row", "name", "kind"),
    [
        ({"a": "x", "b": "y", "same": True}, "any", PAIRS),
        ({"text": "x", "key": "a()"}, "any", LABELLED),
        ({"text": "x", "key": "a()", "right": True}, "any", JUDGED),
        ({"text": "x", "personal": True}, "any", PERSONAL),
        ({"text": "x"}, "personal.jsonl", PERSONAL),
        ({"text": "x", "source_intent": "q"}, "out_of_scope_dev.jsonl", OUTSIDE),
        ({"text": "x", "intent": "out_of_scope/near"}, "any", OUTSIDE),
        ({"text": "x", "time": "2026-01-01T00:00:00Z", "answer": "y"}, "any", TRAFFIC),
        ({"text": "x", "intent": "a", "retract": True}, "any", None),
        ({"text": "x"}, "any", None),
        ({"patch": {}}, "any", None),
    ],
)
def test_sets_kind_of_a_row(row: dict, name: str, kind: str | None) -> None:
    assert kind_of(row, name) == kind


def test_sets_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"text": "x", "key": "a()"}) + "\n" + json.dumps({"other": 1}))
    sets = Sets()
    sets_in([tmp_path], sets)
    assert (list(sets.rows[LABELLED]), sets.unknown, list(sets.texts())) == (["one.jsonl"], {"one.jsonl": 1}, ["x"])
    assert PAIRS in sets.absent


def test_sets_in_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not there"):
        sets_in([tmp_path / "none.jsonl"], Sets())
