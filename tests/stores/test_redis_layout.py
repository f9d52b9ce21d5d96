from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.address import CELL_LENGTH
from slotcache.entry import Entry, Selector
from slotcache.stores.redis_layout import INDEXED, SCRIPT, Layout, best_index, labels_of, labels_wanted
from tests.stores.contract import entry

words = st.sampled_from(["", "a", "b", "*"])
keys = st.sampled_from(["cancel()", "cancel(timing=a)", "cancel(timing=b, why=a)", 'verbatim("a")', "back(timing=a)"])
entries = st.builds(
    lambda key, tags, **names: entry(key, tags=tuple(tags), **names),
    key=keys,
    tags=st.lists(words, max_size=2),
    tenant=words,
    customer=words,
    epoch=words,
    generation=words,
)
maybe = st.one_of(st.none(), words)
selectors = st.builds(
    Selector,
    key=st.one_of(st.none(), keys),
    intent=st.sampled_from([None, "cancel", "verbatim", "back"]),
    slots=st.lists(st.tuples(st.sampled_from(["timing", "why", "text"]), words), max_size=2).map(tuple),
    tag=maybe,
    epoch=maybe,
    tenant=maybe,
    customer=maybe,
    generation=maybe,
)


@given(held=entries, selector=selectors)
def test_redis_labels_select_what_the_selector_matches(held: Entry, selector: Selector) -> None:
    assert (set(labels_wanted(selector)) <= set(labels_of(held))) is selector.matches(held)


@pytest.mark.parametrize(
    ("selector", "kind"),
    [
        (Selector(intent="cancel", tag="x"), "t"),
        (Selector(intent="cancel", tag=""), "i"),
        (Selector(tenant="a", customer="c"), "c"),
        (Selector(slots=(("timing", "*"),)), None),
        (Selector(generation="g"), None),
        (Selector(), None),
    ],
    ids=lambda value: value.to_json() if isinstance(value, Selector) else "",
)
def test_redis_walks_the_smallest_index(selector: Selector, kind: str | None) -> None:
    found = best_index(labels_wanted(selector))
    assert (found[0] if found else None) == kind


def test_redis_index_of_everybody_is_not_kept() -> None:
    kinds = {label[0] for label in labels_of(entry())} & set(INDEXED)
    assert kinds == {"i", "s"}


def test_redis_script_knows_the_same_indexes() -> None:
    assert f"string.find('{INDEXED}'" in SCRIPT


def test_redis_names_show_no_customer_and_no_tag() -> None:
    told = " ".join(labels_of(entry(customer="zoe", tags=("winter",))))
    assert "zoe" not in told
    assert "winter" not in told


def test_redis_keys_of_a_cell_have_one_hash_tag() -> None:
    layout = Layout("shop", 64)
    cell = "0" * CELL_LENGTH
    tag = f"{{{layout.bucket(cell)}}}"
    assert all(tag in name for name in (layout.cell(cell), layout.history(cell), layout.name(layout.bucket(cell), "x")))


def test_redis_cells_spread_over_all_buckets() -> None:
    layout = Layout("shop", 16)
    filled = [layout.bucket(entry(tenant=str(number)).cell) for number in range(1_600)]
    assert min(map(filled.count, range(16))) > 50
