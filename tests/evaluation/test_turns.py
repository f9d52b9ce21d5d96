from __future__ import annotations

from dataclasses import replace

import pytest

from slotcache.errors import Abstain
from slotcache.evaluation.traffic import Asked
from slotcache.evaluation.turns import Turn, may_share, turn_of, turns_of
from slotcache.events import Decision, Outcome
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.records.record import Kind, Record

LOOKUP = Record(
    "1", 1.0, Kind.LOOKUP, text="Q", normal="q", decision="miss", reason="not_found", key="a()", intent="a",
    owner="shared", fillable=True, tenant="acme",
)  # fmt: skip


def test_turns_of_records_carry_what_became_of_the_answer() -> None:
    answer = Record("2", 2.0, Kind.ANSWER, text="Q", normal="q", key="a()", not_stored="refused_answer")
    (turn,) = turns_of([LOOKUP, answer])
    assert (turn.key, turn.not_stored, turn.fields["tenant"]) == ("a()", "refused_answer", "acme")


def test_turns_of_records_know_what_may_not_be_filled() -> None:
    (turn,) = turns_of([replace(LOOKUP, fillable=False)])
    assert turn.not_stored == "not_fillable"


def test_turns_of_records_take_labels() -> None:
    assert turns_of([LOOKUP], {"Q": "label"}.__getitem__)[0].truth == "label"


def test_turns_a_verbatim_key_is_none() -> None:
    parse = Parse("x", key=Key.verbatim("x"), owner=Owner.CUSTOMER, abstain=Abstain.RESIDUE)
    assert not turn_of(Asked("x"), parse, Outcome(Decision.MISS, "not_found")).keyed_miss


def test_turns_a_keyed_miss() -> None:
    parse = Parse("x", key=Key.of("a"), intent="a", owner=Owner.SHARED)
    assert turn_of(Asked("x"), parse, Outcome(Decision.MISS, "not_found")).keyed_miss


@pytest.mark.parametrize(
    ("first", "second", "shares"),
    [
        (("shared", "c1"), ("shared", "c2"), True),
        (("customer", "c1"), ("customer", "c1"), True),
        (("customer", "c1"), ("customer", "c2"), False),
        (("customer", ""), ("customer", ""), False),
        (("shared", "c1"), ("customer", "c1"), False),
        (("never", "c1"), ("never", "c1"), False),
    ],
)
def test_turns_may_share(first: tuple[str, str], second: tuple[str, str], shares: bool) -> None:
    a, b = (Turn("x", owner=owner, customer=customer) for owner, customer in (first, second))
    assert may_share(a, b) is shares
