from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.domain.loader import load_domain
from slotcache.domain.patches import patched
from slotcache.errors import StoreError
from slotcache.learning.labels import accept
from slotcache.review.acts import Act, Kind, patch_id, question_id
from slotcache.review.labels import LabelStore, Stale, Written, exported_rows
from tests.review.conftest import LIBRARY, NOW

MakeAct = Callable[..., Act]


def said(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Rows without who said it and when."""
    about = {"id", "source", "labeller", "time", "model"}
    return [{name: value for name, value in row.items() if name not in about} for row in rows]


def test_labels_add_keeps_author_and_time(store: LabelStore, act: MakeAct) -> None:
    made = act()
    store.add(made)
    (kept,) = store.acts(made.subject)
    assert (kept.author, kept.at, kept.body) == ("kim", made.at, made.body)


def test_labels_same_act_twice_is_kept_once(store: LabelStore, act: MakeAct) -> None:
    made = act()
    first, second = store.add(made), store.add(made)
    assert first == second
    assert len(store.acts(made.subject)) == 1


def test_labels_writer_who_missed_something_is_told(store: LabelStore, act: MakeAct) -> None:
    store.add(act(author="kim"), seen=0)
    result = store.add(act(author="lee", intent="fines"), seen=0)
    assert isinstance(result, Stale)
    assert [one.author for one in result.since] == ["kim"]
    assert len(store.acts(question_id("can i nab a dvd"))) == 1


def test_labels_writer_who_saw_everything_may_change_it(store: LabelStore, act: MakeAct) -> None:
    first = store.add(act(author="kim"), seen=0)
    assert isinstance(first, Written)
    assert isinstance(store.add(act(author="lee", intent="fines"), seen=first.act.number), Written)


def test_labels_many_writers_at_once_lose_and_duplicate_nothing(tmp_path: Path, act: MakeAct) -> None:
    """Eight writers over four connections race for the same twenty questions: each gets exactly one label."""
    texts = [f"can i borrow thing {at}" for at in range(20)]
    acts = [[act(text=text, author=f"a-{writer}") for text in texts] for writer in range(8)]
    stores = [LabelStore(tmp_path / "labels.db") for _ in range(4)]
    written: list[Act] = []

    def work(writer: int) -> None:
        for made in acts[writer]:
            result = stores[writer % 4].add(made, seen=0)
            if isinstance(result, Written):
                written.append(result.act)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = stores[0].rows()
    for one in stores:
        one.close()
    assert sorted(made.text for made in written) == sorted(str(row["text"]) for row in rows) == sorted(texts)


def test_labels_undo_brings_back_what_stood_before(store: LabelStore, act: MakeAct) -> None:
    store.add(act(intent="fines", slots={}))
    second = store.add(act(author="lee"))
    assert isinstance(second, Written)
    store.undo(second.act, author="kim", at=NOW)
    assert [row["intent"] for row in store.rows() if "intent" in row] == ["fines"]


def test_labels_undo_twice_is_told(store: LabelStore, act: MakeAct) -> None:
    made = act()
    store.add(made)
    store.undo(made, author="kim", at=NOW)
    assert isinstance(store.undo(made, author="lee", at=NOW), Stale)


def test_labels_acts_cannot_be_removed_or_changed(store: LabelStore, act: MakeAct) -> None:
    store.add(act())
    with pytest.raises(StoreError, match="never removed"), store.database.writing() as db:
        db.execute("DELETE FROM acts")
    with pytest.raises(StoreError, match="never changed"), store.database.writing() as db:
        db.execute("UPDATE acts SET author = 'lee'")


def test_labels_claim_keeps_others_away_until_it_runs_out(store: LabelStore) -> None:
    store.claim("q-1", author="kim", now=NOW, seconds=60)
    assert store.claim("q-1", author="lee", now=NOW + 59).author == "kim"
    assert store.claim("q-1", author="lee", now=NOW + 60).author == "lee"


def test_labels_release_by_somebody_else_changes_nothing(store: LabelStore) -> None:
    store.claim("q-1", author="kim", now=NOW)
    store.release("q-1", author="lee")
    assert store.claim("q-1", author="lee", now=NOW).author == "kim"


def test_labels_exported_rows_are_what_retraining_reads(store: LabelStore, act: MakeAct) -> None:
    patch = {"concepts": {"borrow": ["nab~"]}}
    for made in (
        act(slots={"aspect": "eligibility", "medium": "dvd"}),
        act(text="sing me a song", intent="out_of_scope", slots={}),
        act(Kind.PERSONAL, "i am kim smith"),
        act(Kind.LEAVE, "and after that"),
        act(Kind.PAIR, a="can i borrow a dvd", b="can i borrow a book", same=False),
        Act("p", NOW, "kim", Kind.PROPOSE, patch_id(patch), {"patch": patch}),
        Act("p2", NOW, "lee", Kind.ACCEPT, patch_id(patch)),
    ):
        store.add(made)
    store.close()
    rows = exported_rows(store.database.path)
    library = load_domain(LIBRARY)
    labels = accept([(str(at), row) for at, row in enumerate(rows)], lambda added: patched(library, added))
    assert [example.intent for example in labels.examples] == ["borrow_item", "out_of_scope/labelled"]
    assert (labels.personal, [pair.same for pair in labels.pairs]) == (("i am kim smith",), [False])
    assert labels.patch.concepts == {"borrow": ["nab~"]}


def test_labels_example_row_names_source_labeller_time_and_model(store: LabelStore, act: MakeAct) -> None:
    store.add(act(model="2026.1"))
    (row,) = store.rows()
    assert (row["source"], row["labeller"], row["model"]) == ("review", "kim", "2026.1")
    assert str(row["time"]).startswith("2027-01-15T")


def test_labels_unaccepted_proposal_is_not_exported(store: LabelStore) -> None:
    patch = {"fillers": ["quick one"]}
    store.add(Act("p", NOW, "kim", Kind.PROPOSE, patch_id(patch), {"patch": patch}))
    assert store.rows() == []


def test_labels_label_taken_back_is_retracted(store: LabelStore, act: MakeAct) -> None:
    made = act()
    store.add(made)
    store.undo(made, author="kim", at=NOW)
    assert said(store.rows()) == [{"text": made.text, "retract": True}]


def test_labels_changed_label_is_retracted_first(store: LabelStore, act: MakeAct) -> None:
    store.add(act(intent="fines", slots={}))
    store.add(act())
    assert said(store.rows()) == [
        {"text": "can i nab a dvd", "retract": True},
        {"text": "can i nab a dvd", "intent": "borrow_item", "slots": {"medium": "dvd"}},
    ]


def test_labels_pair_taken_back_is_retracted_from_what_a_version_carries(store: LabelStore, act: MakeAct) -> None:
    made = act(Kind.PAIR, a="can i borrow a dvd", b="may i borrow a dvd", same=False)
    store.add(made)
    carried = store.rows()
    store.undo(made, author="lee", at=NOW)
    library = load_domain(LIBRARY)
    rows = [(str(at), row) for at, row in enumerate([*carried, *store.rows()])]
    assert accept(rows, lambda added: patched(library, added)).pairs == ()


def test_labels_of_no_file_say_which_to_name(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="slotcache review --labels"):
        exported_rows(tmp_path / "none.db")


def test_labels_refuse_somebody_elses_file(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE things (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match="name another file"):
        LabelStore(path)


PATCH = {"concepts": {"borrow": ["nab~"]}}


def patch_acts(*kinds: Kind) -> list[Act]:
    """Acts on one proposal, each undoing the one before it where it is an undo."""
    acts: list[Act] = []
    for at, kind in enumerate(kinds):
        body = {"patch": PATCH, "text": "can i nab a dvd"} if kind is Kind.PROPOSE else {}
        undoes = acts[-1].id if kind is Kind.UNDO else ""
        acts.append(Act(f"p-{at}", NOW + at, "kim", kind, patch_id(PATCH), body, undoes))
    return acts


@pytest.mark.parametrize(
    ("kinds", "rows"),
    [
        ((Kind.PROPOSE, Kind.UNDO), []),
        ((Kind.PROPOSE, Kind.ACCEPT), [{"patch": PATCH}]),
        ((Kind.PROPOSE, Kind.ACCEPT, Kind.UNDO), [{"patch": PATCH, "retract": True}]),
        ((Kind.PROPOSE, Kind.ACCEPT, Kind.UNDO, Kind.ACCEPT), [{"patch": PATCH}]),
    ],
    ids=["proposal taken back", "accepted", "taken out", "accepted anew"],
)
def test_labels_export_takes_an_accepted_proposal_out_again(
    store: LabelStore, kinds: tuple[Kind, ...], rows: list[dict[str, object]]
) -> None:
    for one in patch_acts(*kinds):
        store.add(one)
    assert said(store.rows()) == rows


def test_labels_export_takes_out_a_proposal_that_was_taken_back_although_accepted(store: LabelStore) -> None:
    proposal, accepted = patch_acts(Kind.PROPOSE, Kind.ACCEPT)
    for one in (proposal, accepted):
        store.add(one)
    store.undo(proposal, author="kim", at=NOW)
    assert said(store.rows()) == [{"patch": PATCH, "retract": True}]


def test_labels_proposal_taken_back_leaves_the_label_of_its_question(store: LabelStore, act: MakeAct) -> None:
    store.add(act(text="can i nab a dvd"))
    proposal, back = patch_acts(Kind.PROPOSE, Kind.UNDO)
    store.add(proposal)
    store.undo(proposal, author="kim", at=back.at)
    assert [row.get("retract") for row in store.rows()] == [None]


def test_labels_what_one_proposal_loses_another_one_keeps(store: LabelStore) -> None:
    wider = {"concepts": {"borrow": ["nab~", "pinch~"]}}
    store.add(Act("w", NOW, "kim", Kind.PROPOSE, patch_id(wider), {"patch": wider}))
    store.add(Act("w2", NOW, "kim", Kind.ACCEPT, patch_id(wider)))
    for one in patch_acts(Kind.PROPOSE, Kind.ACCEPT, Kind.UNDO):
        store.add(one)
    rows = [(str(at), row) for at, row in enumerate(store.rows())]
    labels = accept(rows, lambda patch: patched(load_domain(LIBRARY), patch))
    assert labels.patch.concepts == {"borrow": ["nab~", "pinch~"]}
