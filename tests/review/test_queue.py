from __future__ import annotations

from collections.abc import Callable

import pytest

from slotcache.records.record import Kind as RecordKind
from slotcache.records.record import Record
from slotcache.reporting.judged import Answers
from slotcache.review.acts import Act, Kind, question_id
from slotcache.review.labels import LabelStore, Written
from slotcache.review.queue import Item, Queue
from slotcache.review.weigh import Why, weigh
from tests.review.conftest import NOW

MakeRecord = Callable[..., Record]
KEYED = {"intent": "borrow_item", "key": "borrow_item(medium=dvd)", "owner": "shared", "decision": "hit"}


@pytest.fixture
def queue(store: LabelStore) -> Queue:
    return Queue(store.database)


def fill(queue: Queue, *records: Record) -> int:
    return queue.take_in(list(enumerate(records, queue.position() + 1)))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": RecordKind.FALSE_HIT}, Why.REPORTED),
        ({"abstain": "readers_disagree"}, Why.DISAGREE),
        ({**KEYED, "near_key": "borrow_item(medium=dvd)", "confidence": 1.0}, Why.NEAR_MISS),
        ({**KEYED, "confidence": 0.6}, Why.LOW_MARGIN),
        ({**KEYED, "confidence": 0.99, "candidates": (("a", 0.80), ("b", 0.78))}, Why.LOW_MARGIN),
        ({"abstain": "residue"}, Why.ABSTAINED),
        ({"abstain": "empty"}, Why.NONE),
        ({**KEYED, "confidence": 0.99}, Why.NONE),
    ],
)
def test_weigh_names_the_most_pressing_reason(record: MakeRecord, fields: dict[str, object], why: Why) -> None:
    assert weigh(record(**fields), Answers()).why is why


def test_weigh_doubt_between_intents_with_one_answer_costs_nothing(record: MakeRecord) -> None:
    doubtful = record(abstain="readers_disagree", candidates=(("renew_loan", 0.5), ("fines", 0.5)))
    answers = Answers()
    before = weigh(doubtful, answers)
    answers.add("renew_loan", "same")
    answers.add("fines", "same")
    assert weigh(doubtful, answers).harm < before.harm


def test_weigh_wrong_answer_to_all_outweighs_one_to_one_customer(record: MakeRecord) -> None:
    shared, own = (
        weigh(record(**(KEYED | {"owner": o, "confidence": 0.6})), Answers()) for o in ("shared", "customer")
    )
    assert shared.harm > own.harm


def test_queue_groups_spellings_with_their_count(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record("Can I nab a DVD?"), record("can i nab a dvd"), record("can i  nab a dvd", weight=3.0))
    (item,) = queue.page()
    assert (item.text, item.traffic, item.variants) == (
        "Can I nab a DVD?",
        5.0,
        ("can i nab a dvd", "can i  nab a dvd"),
    )


def test_queue_order_is_harm_times_traffic_times_doubt(queue: Queue, record: MakeRecord) -> None:
    fill(
        queue,
        *(record("asked often") for _ in range(20)),
        record("asked once"),
        record("served wrongly", **(KEYED | {"confidence": 0.2})),
        record("reported", kind=RecordKind.FALSE_HIT, decision=""),
    )
    assert [item.text for item in queue.page()] == ["asked often", "reported", "served wrongly", "asked once"]


def test_queue_certain_question_is_found_but_not_waiting(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record("can i borrow a dvd", **KEYED, confidence=1.0))
    assert queue.page() == []
    assert [item.text for item in queue.page(search="borrow a")] == ["can i borrow a dvd"]


def test_queue_search_takes_signs_for_themselves(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record("50% off"), record("500 off"))
    assert [item.text for item in queue.page(search="50%")] == ["50% off"]


def test_queue_takes_each_record_in_once(queue: Queue, record: MakeRecord) -> None:
    rows = [(1, record()), (2, record())]
    queue.take_in(rows)
    assert queue.take_in(rows) == 0
    assert queue.page()[0].traffic == 2.0


def test_queue_labelled_question_leaves_and_comes_back_when_undone(
    queue: Queue, store: LabelStore, record: MakeRecord, act: Callable[..., Act]
) -> None:
    fill(queue, record())
    written = store.add(act())
    assert isinstance(written, Written)
    assert queue.page() == []
    store.undo(written.act, author="kim", at=NOW)
    assert [item.text for item in queue.page()] == ["can i nab a dvd"]


def test_queue_labelled_question_stays_away_however_often_it_is_asked(
    queue: Queue, store: LabelStore, record: MakeRecord, act: Callable[..., Act]
) -> None:
    store.add(act())
    fill(queue, *(record() for _ in range(9)))
    assert queue.page() == []


def test_queue_report_after_a_label_asks_again(
    queue: Queue, store: LabelStore, record: MakeRecord, act: Callable[..., Act]
) -> None:
    store.add(act())
    late = record(kind=RecordKind.FALSE_HIT, decision="", at=NOW + 5_000)
    fill(queue, late)
    assert [item.why for item in queue.page()] == [Why.REPORTED]


def test_queue_next_passes_what_others_look_at(queue: Queue, store: LabelStore, record: MakeRecord) -> None:
    fill(queue, record("first"), record("first"), record("second"))
    store.claim(question_id("first"), author="kim", now=NOW)
    assert queue.next(author="lee", now=NOW + 1) == question_id("second")
    assert queue.next(author="kim", now=NOW + 1) == question_id("first")
    assert queue.next(author="lee", now=NOW + 10_000) == question_id("first")


def test_queue_next_goes_on_behind_what_was_passed_over(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record("first"), record("first"), record("second"))
    assert queue.next(author="kim", now=NOW, after=question_id("first")) == question_id("second")
    assert queue.next(author="kim", now=NOW, after=question_id("second")) is None


def test_queue_counts_by_reason(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record("one"), record("two"), record("three", abstain="readers_disagree"))
    assert queue.counts() == {Why.DISAGREE: 1, Why.ABSTAINED: 2}


def test_queue_keys_that_wait_stand_beside_questions(queue: Queue, record: MakeRecord) -> None:
    fill(queue, record())
    key = Item("k-1", "fines(aspect=cost)", Why.QUARANTINE, 1.0, True, 1.0, 1.0, 1.0, NOW)
    queue.set_keys([key])
    assert [item.is_key for item in queue.page()] == [True, False]
    queue.set_keys([])
    assert [item.is_key for item in queue.page()] == [False]


def test_queue_approved_key_leaves(queue: Queue, store: LabelStore) -> None:
    queue.set_keys([Item("k-1", "fines(aspect=cost)", Why.WAITING, 1.0, True, 0.1, 1.0, 10.0)])
    store.add(Act("a", NOW, "kim", Kind.APPROVE, "k-1", {"key": "fines(aspect=cost)"}))
    assert queue.page() == []
