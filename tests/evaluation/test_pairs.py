from __future__ import annotations

import pytest

from slotcache.errors import Abstain, ConfigurationError
from slotcache.evaluation.pairs import Pair, judge, meet, pairs_from, report, why_missed
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse


def _parse(
    key: str | None = "cancel_order(timing=pre_shipment)",
    *,
    owner: Owner = Owner.SHARED,
    fingerprint: tuple[str, ...] = (),
    abstain: Abstain | None = None,
    fillable: bool = True,
) -> Parse:
    made = Key.parse(key) if key is not None else None
    intent = made.intent if made is not None and not made.is_verbatim else None
    slots = made.as_dict() if made is not None and intent else {}
    return Parse(
        "",
        key=made,
        intent=intent,
        slots=slots,
        owner=owner,
        fingerprint=fingerprint,
        abstain=abstain,
        fillable=fillable,
    )


SHARED = _parse()
OWN = _parse(owner=Owner.CUSTOMER)
NEVER = _parse(owner=Owner.NEVER)
OTHER = _parse("cancel_order(timing=post_shipment)")
NOTHING = _parse(None, abstain=Abstain.RESIDUE)


@pytest.mark.parametrize(
    ("a", "b", "same_customer", "shared"),
    [
        pytest.param(SHARED, SHARED, True, True, id="shared key"),
        pytest.param(OWN, OWN, True, False, id="a customer's own key"),
        pytest.param(SHARED, OWN, False, False, id="owners differ"),
        pytest.param(NEVER, NEVER, False, False, id="never cached"),
        pytest.param(SHARED, OTHER, False, False, id="keys differ"),
        pytest.param(NOTHING, NOTHING, False, False, id="no key"),
        pytest.param(SHARED, _parse(fingerprint=("not",)), False, False, id="protected words differ"),
    ],
)
def test_pairs_meet(a: Parse, b: Parse, same_customer: bool, shared: bool) -> None:
    assert (meet(a, b, same_customer=True), meet(a, b, same_customer=False)) == (same_customer, shared)


READINGS = {"shared": SHARED, "own": OWN, "other": OTHER, "nothing": NOTHING}


def _report(*pairs: tuple[str, str, bool]):
    return report([judge(Pair(a, b, same), READINGS.__getitem__) for a, b, same in pairs])


def test_pairs_report_counts_both_ways_of_asking() -> None:
    got = _report(("shared", "shared", False), ("own", "own", False), ("shared", "other", False), ("own", "own", True))
    counted = [(s.false_hits.count, s.false_hits.total, s.hits.count) for s in (got.same_customer, got.shared)]
    assert counted == [(2, 3, 1), (1, 3, 0)]


def test_pairs_report_lists_every_false_hit() -> None:
    got = _report(("shared", "shared", False), ("own", "own", False), ("shared", "other", False))
    assert [(o.pair.a, o.shared) for o in got.false_hits] == [("shared", True), ("own", False)]


def test_pairs_report_counts_what_nobody_may_fill_apart() -> None:
    read_only = _parse(fillable=False)
    got = report([judge(Pair("a", "b", True), lambda _: read_only)])
    assert (got.same_customer.hits.count, got.learned.count) == (1, 0)


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (NOTHING, SHARED, "residue"),
        (NOTHING, _parse(None, abstain=Abstain.EMPTY), "empty + residue"),
        (SHARED, OTHER, "slots differ: timing"),
        (SHARED, _parse("return_item()"), "intents differ"),
        (SHARED, _parse(fingerprint=("not",)), "protected words differ"),
        (SHARED, OWN, "owners differ"),
        (NEVER, NEVER, "owner never"),
    ],
)
def test_pairs_why_missed(a: Parse, b: Parse, why: str) -> None:
    assert why_missed(judge(Pair("a", "b", True), {"a": a, "b": b}.__getitem__)) == why


def test_pairs_from_rows() -> None:
    assert pairs_from([{"a": "x", "b": "y", "same": True, "tag": "t"}]) == [Pair("x", "y", True, "t")]


@pytest.mark.parametrize("row", [{"a": 1, "b": "y", "same": True}, {"a": "x", "b": "y", "same": "yes"}])
def test_pairs_from_rows_refuses(row: dict) -> None:
    with pytest.raises(ConfigurationError, match="a pair needs two texts"):
        pairs_from([row])
