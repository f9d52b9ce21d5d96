from __future__ import annotations

from dataclasses import replace

import pytest

from slotcache.evaluation.missed_hits import MissedHits, missed_hits
from slotcache.evaluation.turns import Turn

FIRST = Turn(
    "how do i renew a book",
    intent="renew_loan",
    key="renew_loan(medium=book)",
    slots={"medium": "book"},
    owner="shared",
    fingerprint=(),
    decision="miss",
    reason="not_found",
    truth="q1",
)


def _after(**changes: object) -> MissedHits:
    return missed_hits([FIRST, replace(FIRST, text="renewing a book", **changes)])


@pytest.mark.parametrize(
    ("changes", "cause", "detail"),
    [
        pytest.param(
            {"key": "renew_loan(medium=novel)", "slots": {"medium": "novel"}}, "slots", "medium", id="split too finely"
        ),
        pytest.param(
            {"fingerprint": ("not",), "protected": {"negation": ("not",)}}, "guard", "negation", id="guard class"
        ),
        pytest.param({"fields": {"locale": "en-GB"}}, "address", "locale", id="field of the address"),
        pytest.param({"reason": "expired"}, "expired", "", id="expired"),
    ],
)
def test_missed_hits_say_what_stood_between(changes: dict, cause: str, detail: str) -> None:
    got = _after(**changes)
    assert [(pair.cause, pair.detail) for pair in got.pairs] == [(cause, detail)]


def test_missed_hits_an_answer_that_was_not_kept() -> None:
    got = missed_hits([replace(FIRST, not_stored="not_fillable"), replace(FIRST, text="renewing a book")])
    assert [(pair.cause, pair.detail) for pair in got.pairs] == [("not kept", "not_fillable")]


def test_missed_hits_are_a_share_of_the_keyed_misses() -> None:
    got = _after(key="renew_loan(medium=novel)", slots={"medium": "novel"})
    assert (got.keyed, got.misses, got.missed.count, got.missed.total) == (2, 2, 1, 2)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"truth": "q2"}, id="another answer"),
        pytest.param({"decision": "hit"}, id="a hit"),
        pytest.param({"owner": "never"}, id="never cached"),
        pytest.param({"intent": "fines", "key": "fines()"}, id="another intent"),
        pytest.param({"owner": "customer", "customer": "c2"}, id="another owner"),
    ],
)
def test_missed_hits_passes_over(changes: dict) -> None:
    assert _after(**changes).pairs == ()


@pytest.mark.parametrize(("customer", "count"), [("c1", 1), ("c2", 0)])
def test_missed_hits_of_a_customers_own_key(customer: str, count: int) -> None:
    own = replace(FIRST, owner="customer", customer="c1")
    got = missed_hits([own, replace(own, customer=customer, reason="expired")])
    assert len(got.pairs) == count


def test_missed_hits_leaves_out_customers_that_the_source_does_not_name() -> None:
    own = replace(FIRST, owner="customer")
    assert missed_hits([own, own]).unnamed == 2


def test_missed_hits_without_labels_wait_for_a_person() -> None:
    got = missed_hits([replace(FIRST, truth=""), replace(FIRST, truth="", reason="expired")])
    assert (len(got.unlabelled), got.unlabelled[0].same, got.pairs, got.missed.total) == (1, None, (), 1)


def test_missed_hits_under_another_intent_are_counted_apart() -> None:
    assert _after(intent="fines", key="fines()").other_intent == 1


def test_missed_hits_prefers_the_same_key() -> None:
    finer = replace(FIRST, text="renewing a book soon", key="renew_loan()", slots={})
    got = missed_hits([FIRST, finer, replace(FIRST, text="renewing a book soon", reason="expired")])
    assert got.pairs[-1].earlier is FIRST
