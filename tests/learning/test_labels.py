"""Labels: refused with line and fix, settled without averaging."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slotcache.domain.patches import patched
from slotcache.errors import DomainError, LabelsError
from slotcache.learning.examples import Example
from slotcache.learning.labels import Labels, accept, read_labels
from tests.learning.conftest import LIBRARY, label, rows

RENEW = label("can i renew a dvd", "renew_loan", aspect="eligibility", medium="dvd")


def accepted(*given: dict[str, Any], base: tuple[Example, ...] = ()) -> Labels:
    return accept(rows(*given), lambda patch: patched(LIBRARY, patch), base=base)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"text": "x"}, "needs 'text' with 'intent'"),
        ({"text": "", "intent": "fines"}, "'text' must be a text that is not empty"),
        (label("x", "renew_lone"), "no intent 'renew_lone'; did you mean 'renew_loan'?"),
        (label("x", "fines", mediun="book"), "no slot 'mediun'; did you mean 'medium'?"),
        (label("x", "fines", medium="bok"), "no value 'bok'; did you mean 'book'?"),
        (label("x", "lost_card", medium="book"), "intent 'lost_card' has no slot 'medium'"),
        (label("x", "fines", after="30 days"), "after='30 days' is no canonical duration"),
        ({"text": "x", "intent": "out_of_scope", "slots": {"medium": "book"}}, "has no slots; leave 'slots' out"),
        ({"text": "x", "intent": "fines", "slot": {}}, "unknown field 'slot'"),
        ({"a": "x", "b": "y", "same": "no"}, "'same' must be true (one answer serves both) or false"),
        ({"text": "x", "personal": False}, "'personal' must be true"),
        ({"patch": {"synonyms": []}}, "synonyms: Extra inputs are not permitted; a patch adds to fillers"),
    ],
)
def test_labels_refuse_a_row_with_its_line_and_fix(row: dict[str, Any], told: str) -> None:
    with pytest.raises(LabelsError) as raised:
        accepted(RENEW, row)
    assert f"labels.jsonl:2: {told}" in str(raised.value) or told in str(raised.value)
    assert "labels.jsonl:2" in str(raised.value)


def test_labels_name_every_line_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"text": 1}\nnonsense\n\n[]\n', encoding="utf-8")
    with pytest.raises(LabelsError, match=r"(?s)labels\.jsonl:2: not JSON.*labels\.jsonl:4: not an object"):
        read_labels(path)


def test_labels_keep_one_of_two_that_say_the_same() -> None:
    found = accepted(RENEW, {**RENEW, "text": "Can I renew  a DVD?"})
    assert (len(found.examples), found.repeated) == (1, 1)


def test_labels_leave_out_both_of_two_that_contradict() -> None:
    found = accepted(RENEW, label("Can I renew a DVD?", "renew_loan", aspect="how", medium="dvd"))
    assert found.examples == ()
    assert "labels.jsonl:1 says renew_loan(aspect=eligibility" in found.contradictions[0]


def test_labels_remember_a_contradiction_in_later_runs() -> None:
    other = label("can i renew a dvd", "renew_loan", aspect="how", medium="dvd")
    found = accepted(*accepted(RENEW, other).rows(), other)
    assert found.examples == ()


def test_labels_take_what_stands_after_a_retraction() -> None:
    other = label("can i renew a dvd", "renew_loan", aspect="how", medium="dvd")
    found = accepted(RENEW, {"text": "can i renew a dvd", "retract": True}, other)
    assert [example.slots["aspect"] for example in found.examples] == ["how"]


def test_labels_leave_out_what_contradicts_the_base() -> None:
    found = accepted(RENEW, base=(Example("can i renew a dvd?", "borrow_item"),))
    assert (found.examples, len(found.contradictions)) == ((), 1)


def test_labels_keep_a_disputed_pair_apart() -> None:
    pair = {"a": "one", "b": "two"}
    found = accepted({**pair, "same": True}, {"a": "two", "b": "one", "same": False})
    assert [p.same for p in found.pairs] == [False]
    assert "disagree" in found.contradictions[0]


def test_labels_may_use_what_a_patch_beside_them_adds() -> None:
    patch = {"patch": {"slots": {"medium": {"values": {"map": ["map~"]}}}}}
    found = accepted(patch, label("can i borrow a map", "borrow_item", aspect="eligibility", medium="map"))
    assert found.examples[0].slots["medium"] == "map"


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"slots": {"colour": {"values": {"red": ["red"]}}}}, "slots.colour: the domain 'library' has none"),
        ({"concepts": {"renew": ["{nothing} again"]}}, "names unknown concepts"),
    ],
)
def test_labels_refuse_a_patch_that_does_not_fit(patch: dict[str, Any], told: str) -> None:
    with pytest.raises(DomainError, match=told):
        accepted({"patch": patch})


def test_labels_survive_being_written_and_read() -> None:
    found = accepted(
        RENEW, {"text": "x", "personal": True}, {"a": "x", "b": "y", "same": False}, {"patch": {"fillers": ["ta"]}}
    )
    again = accepted(*found.rows())
    assert (again.examples, again.pairs, again.personal, again.patch) == (
        found.examples,
        found.pairs,
        found.personal,
        found.patch,
    )


MAP = {"slots": {"medium": {"values": {"map": ["map~"]}}}}
MAP_LABEL = label("can i borrow a map", "borrow_item", aspect="eligibility", medium="map")


def test_labels_patch_is_taken_out_again() -> None:
    both = {"concepts": {"borrow": ["nab~", "pinch~"]}, "fillers": ["ta"]}
    found = accepted({"patch": both}, {"patch": {"concepts": {"borrow": ["nab~"]}}, "retract": True})
    assert (found.patch.concepts, found.patch.fillers) == ({"borrow": ["pinch~"]}, ["ta"])


def test_labels_patch_that_was_taken_out_may_be_accepted_anew() -> None:
    patch = {"patch": {"fillers": ["ta"]}}
    assert accepted(patch, patch | {"retract": True}, patch).patch.fillers == ["ta"]


def test_labels_taking_out_what_nobody_added_changes_nothing() -> None:
    assert accepted({"patch": {"concepts": {"borrow": ["borrow~"]}}, "retract": True}).patch.empty


def test_labels_that_use_a_value_which_was_taken_out_are_left_out_and_told() -> None:
    found = accepted(RENEW, {"patch": MAP}, MAP_LABEL, {"patch": MAP, "retract": True})
    assert [one.text for one in found.examples] == [RENEW["text"]]
    assert "'can i borrow a map'" in found.taken_out[0]
    assert "no value 'map'" in found.taken_out[0]


def test_labels_that_never_fitted_are_refused_although_something_was_taken_out() -> None:
    wrong = label("can i borrow a globe", "borrow_item", aspect="eligibility", medium="globe")
    with pytest.raises(LabelsError, match="no value 'globe'"):
        accepted({"patch": MAP}, {"patch": MAP, "retract": True}, wrong)
