from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.address import CELL_LENGTH, Address, Namespace, Scope, digest, injective
from slotcache.errors import ConfigurationError
from slotcache.key import Key

texts = st.text(max_size=8) | st.sampled_from(
    ["", "a", "1:a", "0:", "\ud800", "\ud83d\ude00", "\U0001f600", "é", "e\u0301"]
)
namespaces = st.builds(Namespace, *([texts] * len(Namespace._fields)))
slots = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "x", "x, b=y", "y"]), max_size=2)
keys = st.builds(Key.of, st.sampled_from(["cancel", "return"]), slots) | st.builds(Key.verbatim, st.sampled_from("xy"))
addresses = st.builds(Address.of, namespaces, keys, st.lists(texts, max_size=3).map(tuple))


@given(st.lists(texts, max_size=5), st.lists(texts, max_size=5))
def test_injective_never_folds_two_lists_into_one(one: list[str], other: list[str]) -> None:
    assert (injective(one) == injective(other)) == (one == other)


@given(addresses, addresses)
def test_address_digest_is_equal_exactly_when_the_address_is(one: Address, other: Address) -> None:
    same = (one.namespace, one.key, one.fingerprint) == (other.namespace, other.key, other.fingerprint)
    assert (one.digest == other.digest) == same
    assert (one == other) == same


@given(addresses, addresses)
def test_address_cell_is_equal_exactly_when_namespace_and_key_are(one: Address, other: Address) -> None:
    assert (one.cell == other.cell) == ((one.namespace, one.key) == (other.namespace, other.key))


@pytest.mark.parametrize("field", Namespace._fields)
def test_address_depends_on_each_field_of_the_namespace(field: str) -> None:
    key = Key.of("cancel_order")
    plain = Address.of(Namespace(), key, ())
    assert Address.of(Namespace()._replace(**{field: "other"}), key, ()).cell != plain.cell


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(Namespace._fields, 2)))
def test_address_tells_a_value_in_one_field_from_the_same_in_another(one: str, other: str) -> None:
    empty = Namespace(*[""] * len(Namespace._fields))
    key = Key.of("cancel_order")
    first, second = (Address.of(empty._replace(**{field: "v"}), key, ()) for field in (one, other))
    assert first.cell != second.cell


def test_address_fingerprint_changes_the_variant_and_not_the_cell() -> None:
    plain, other = (Address.of(Namespace(), Key.of("cancel"), words) for words in ((), ("not",)))
    assert plain.cell == other.cell
    assert plain.variant != other.variant


def test_address_cell_has_the_length_that_entry_ids_rely_on() -> None:
    assert len(Address.of(Namespace(), Key.of("cancel"), ()).cell) == CELL_LENGTH


def test_digest_stays_the_same_from_release_to_release() -> None:
    assert digest("cell", "a", "b") == "91fe9a28be72dd3c8637fcc56dc945539a81b45d"


def test_scope_takes_extra_as_a_mapping_in_any_order() -> None:
    assert Scope(extra={"b": "1", "a": "2"}) == Scope(extra=(("a", "2"), ("b", "1")))


@pytest.mark.parametrize("wrong", [{"customer": ""}, {"tenant": "\ud800"}, {"model": 3}], ids=str)
def test_scope_refuses_values_that_would_mix_callers_up(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        Scope(**wrong)
