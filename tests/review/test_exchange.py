from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slotcache.errors import LabelsError
from slotcache.review.acts import Act, Kind, patch_id
from slotcache.review.exchange import from_label_studio, labelling_interface, take_in, to_label_studio
from slotcache.review.labels import LabelStore
from tests.review.conftest import NOW

MakeAct = Callable[..., Act]
PATCH = {"concepts": {"borrow": ["nab~"]}}


def places(rows: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"labels.jsonl:{at}", row) for at, row in enumerate(rows, 1)]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[LabelStore]:
    made = LabelStore(tmp_path / "other.db")
    yield made
    made.close()


@pytest.fixture
def full(store: LabelStore, act: MakeAct) -> LabelStore:
    """One of everything that is exported."""
    wrong = act(text="renew it", intent="fines", slots={}, model="2026.1")
    gone = act(text="sing me a song")
    for made in (
        act(slots={"aspect": "eligibility", "medium": "dvd"}),
        act(text="who won", intent="out_of_scope", slots={}, author="lee"),
        act(Kind.PERSONAL, "i am kim smith"),
        act(Kind.PAIR, a="can i borrow a dvd", b="can i borrow a book", same=False),
        wrong,
        act(text="renew it", intent="renew_loan", slots={"medium": "book"}),
        gone,
        Act("p", NOW, "kim", Kind.PROPOSE, patch_id(PATCH), {"patch": PATCH}),
        Act("p2", NOW, "lee", Kind.ACCEPT, patch_id(PATCH)),
    ):
        store.add(made)
    store.undo(gone, author="lee", at=NOW)
    return store


def test_exchange_lines_survive_the_way_there_and_back(full: LabelStore, other: LabelStore) -> None:
    rows = full.rows()
    take_in(other, places(json.loads(json.dumps(rows))), author="import", now=NOW)
    about = ("id",)
    plain = [[{n: v for n, v in row.items() if n not in about} for row in store.rows()] for store in (full, other)]
    assert plain[0] == plain[1]


def test_exchange_taking_in_twice_adds_nothing(full: LabelStore, other: LabelStore) -> None:
    rows = places(full.rows())
    first = take_in(other, rows, author="import", now=NOW)
    again = take_in(other, rows, author="import", now=NOW)
    assert first.added > 0
    assert again.added == 0


def test_exchange_label_that_contradicts_one_that_stands_is_left_out(store: LabelStore, act: MakeAct) -> None:
    store.add(act(author="lee"))
    done = take_in(store, places([{"text": "can i nab a dvd", "intent": "fines"}]), author="kim", now=NOW)
    assert (done.added, done.contradicting) == (0, ("labels.jsonl:1: lee said otherwise about 'can i nab a dvd'",))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "q"}, "needs 'intent'"),
        ({"intent": "fines"}, "needs 'text'"),
        ({"text": "q", "intent": "fines", "time": "yesterday"}, "write a date"),
        ({"text": "q", "intent": "fines", "labeller": 7}, "'labeller'"),
    ],
)
def test_exchange_row_that_cannot_be_used_stops_all(store: LabelStore, row: dict[str, Any], problem: str) -> None:
    with pytest.raises(LabelsError, match=problem):
        take_in(store, places([{"text": "fine", "intent": "fines"}, row]), author="kim", now=NOW)
    assert store.rows() == []


_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda t: any(c.isalnum() for c in t))
_VALUES = st.from_regex(r"[!-~]{1,20}", fullmatch=True)
_LABELS = st.one_of(
    st.builds(
        lambda text, intent, slots: {"text": text, "intent": intent, "slots": slots},
        _TEXTS,
        _NAMES.filter(lambda name: name not in ("personal", "out_of_scope")),
        st.dictionaries(_NAMES, _VALUES, max_size=4),
    ),
    st.builds(lambda text: {"text": text, "intent": "out_of_scope", "slots": {}}, _TEXTS),
    st.builds(lambda text: {"text": text, "personal": True}, _TEXTS),
    st.builds(lambda a, b, same: {"a": a, "b": b, "same": same}, _TEXTS, _TEXTS, st.booleans()),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_LABELS, max_size=6))
def test_exchange_label_studio_survives_the_way_there_and_back(rows: list[dict[str, Any]]) -> None:
    about = {"id": "1", "labeller": "kim", "time": "2027-01-15T08:00:00.000+00:00"}
    sent = [row | about for row in rows]
    tasks = json.loads(json.dumps(to_label_studio(sent)))
    assert [row for _, row in from_label_studio(tasks, name="export.json")] == sent


def test_exchange_label_studio_export_as_that_program_writes_it() -> None:
    """Ids, dates and the annotator of Label Studio 1.x around the results."""
    said = "aspect=eligibility\nmedium=dvd"
    task = {
        "id": 7,
        "data": {"text": "can i nab a dvd"},
        "annotations": [
            {
                "id": 3,
                "completed_by": {"id": 1, "email": "kim@example.org"},
                "was_cancelled": False,
                "created_at": "2027-01-15T08:00:00.000000Z",
                "updated_at": "2027-01-15T08:05:00.000000Z",
                "result": [
                    {"id": "a", "from_name": "intent", "type": "choices", "value": {"choices": ["borrow_item"]}},
                    {"id": "b", "from_name": "slots", "type": "textarea", "value": {"text": [said]}},
                ],
            }
        ],
    }
    ((where, row),) = from_label_studio([task], name="export.json")
    assert where == "export.json: task 1"
    assert row == {
        "text": "can i nab a dvd",
        "intent": "borrow_item",
        "slots": {"aspect": "eligibility", "medium": "dvd"},
        "labeller": "kim@example.org",
        "time": "2027-01-15T08:05:00.000000Z",
    }


@pytest.mark.parametrize("who", [{"id": 7, "email": "lee@example.org"}, 7])
def test_exchange_label_studio_label_that_was_changed_there_is_another_one(
    store: LabelStore, act: MakeAct, who: object
) -> None:
    """Exports name people by number as a rule; a changed label must not pass for the one that was exported."""
    kept = act(slots={"medium": "dvd"})
    store.add(kept)
    (task,) = to_label_studio(store.rows())
    (annotation,) = task["annotations"]
    ((_, same),) = from_label_studio([task | {"annotations": [annotation | {"completed_by": who}]}], name="e")
    annotation["result"][0]["value"] = {"choices": ["renew_loan"]}
    changed = annotation | {"completed_by": who, "updated_at": "2027-01-15T08:05:00Z"}
    ((_, other),) = from_label_studio([task | {"annotations": [changed]}], name="e")
    assert (same["id"], same["labeller"]) == (kept.id, "kim")
    assert "id" not in other
    assert other["labeller"] == ("lee@example.org" if isinstance(who, dict) else "label-studio:7")


def test_exchange_label_studio_task_that_nobody_annotated_is_passed_over() -> None:
    assert from_label_studio([{"data": {"text": "q"}, "annotations": []}], name="e") == []


@pytest.mark.parametrize("tasks", [{"data": 1}, [{"annotations": [{"result": [{"from_name": "x"}]}]}], [7]])
def test_exchange_label_studio_refuses_what_it_cannot_read(tasks: object) -> None:
    with pytest.raises(LabelsError, match="task"):
        from_label_studio(tasks, name="export.json")


def test_exchange_interface_names_every_intent() -> None:
    assert labelling_interface(["fines", "borrow_item"]).count("<Choice value=") == 6


def test_exchange_taking_in_ones_own_export_changes_nothing(full: LabelStore) -> None:
    before = full.rows()
    taken = take_in(full, places(before), author="", now=NOW)
    assert (taken.added, taken.contradicting, full.rows()) == (0, (), before)


def test_exchange_label_that_was_changed_is_changed_on_another_machine(
    store: LabelStore, other: LabelStore, act: MakeAct
) -> None:
    first, second = act(slots={}), act(intent="fines", slots={})
    for made in (first, second):
        store.add(made)
        take_in(other, places(store.rows()), author="", now=NOW)
    assert [row.get("intent") for row in other.rows()] == [None, "fines"]
    assert take_in(store, places(other.rows()), author="", now=NOW).added == 0


def test_exchange_proposal_is_taken_out_and_accepted_anew_on_another_machine(
    store: LabelStore, other: LabelStore
) -> None:
    proposal = Act("p", NOW, "kim", Kind.PROPOSE, patch_id(PATCH), {"patch": PATCH})
    steps = (
        Act("p2", NOW + 1, "lee", Kind.ACCEPT, patch_id(PATCH)),
        Act("p3", NOW + 2, "lee", Kind.UNDO, patch_id(PATCH), {}, "p2"),
        Act("p4", NOW + 3, "lee", Kind.ACCEPT, patch_id(PATCH)),
    )
    store.add(proposal)
    told = []
    for step in steps:
        store.add(step)
        take_in(other, places(store.rows()), author="", now=NOW)
        again = take_in(store, places(other.rows()), author="", now=NOW)
        told.append((again.added, [row.get("retract") for row in other.rows()]))
    assert told == [(0, [None]), (0, [True]), (0, [None])]
