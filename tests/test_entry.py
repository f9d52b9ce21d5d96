from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.entry import Entry, Selector, cell_of
from tests.stores.contract import entry

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(texts, st.lists(texts, max_size=3).map(tuple), st.dictionaries(texts, st.lists(texts).map(tuple), max_size=2))
def test_entry_reads_back_what_it_writes(
    text: str, words: tuple[str, ...], protected: dict[str, tuple[str, ...]]
) -> None:
    kept = entry(answer=text, tags=words, fingerprint=words, tenant=text).but(question=text, protected=protected)
    assert Entry.from_json(kept.to_json()) == kept


def test_entry_is_one_line_of_plain_characters() -> None:
    line = entry(answer="é\n\u2028").to_json()
    assert line.isascii()
    assert "\n" not in line


@pytest.mark.parametrize("name", sorted(json.loads(entry().to_json())))
def test_entry_without_a_field_is_refused(name: str) -> None:
    fields = json.loads(entry().to_json())
    del fields[name]
    with pytest.raises(ValueError, match="not an entry"):
        Entry.from_json(json.dumps(fields))


@pytest.mark.parametrize("line", ["", "{", "[]", "null", '{"id": 1}'])
def test_entry_refuses_other_text(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Entry.from_json(line)


def test_entry_address_follows_from_its_fields() -> None:
    moved = json.loads(entry(tenant="a").to_json())
    moved["namespace"][0] = "b"
    assert Entry.from_json(json.dumps(moved)).address == entry(tenant="b").address


def test_entry_id_tells_the_cell() -> None:
    assert cell_of(entry().id) == entry().cell


@pytest.mark.parametrize(
    "selector",
    [Selector(), Selector(intent="a", slots=(("x", "1"), ("y", "*")), tag="t", epoch="", tenant="z")],
    ids=str,
)
def test_selector_reads_back_what_it_writes(selector: Selector) -> None:
    assert Selector.from_json(selector.to_json()) == selector
