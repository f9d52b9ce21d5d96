from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slotcache.errors import KeyFormatError
from slotcache.key import VERBATIM, Key

names = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True).filter(lambda name: name != VERBATIM)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = texts | st.sampled_from(["", "a, b=c", '"', "a)", "\\", "P14D", "a.b:c+d-e", "é", "\x00", "\u202e"])
intent_keys = st.builds(Key.of, names, st.dictionaries(names, values, max_size=4))
keys = intent_keys | st.builds(Key.verbatim, values)


@given(keys)
def test_key_reads_back_what_it_prints(key: Key) -> None:
    assert Key.parse(str(key)) == key


@given(keys, keys)
def test_key_prints_alike_exactly_when_equal(one: Key, other: Key) -> None:
    assert (str(one) == str(other)) == (one == other)


@given(keys)
def test_key_prints_one_line_of_plain_characters(key: Key) -> None:
    printed = str(key)
    assert printed.isascii()
    assert printed.isprintable()


@given(names, st.dictionaries(names, values, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_key_ignores_the_order_of_slots(intent: str, slots: dict[str, str], random: object) -> None:
    shuffled = list(slots.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Key.of(intent, dict(shuffled)) == Key.of(intent, slots)


@given(values, intent_keys)
def test_verbatim_key_never_meets_an_intent_key(text: str, key: Key) -> None:
    assert Key.verbatim(text) != key
    assert str(Key.verbatim(text)) != str(key)


@given(st.text(max_size=40))
def test_key_parse_accepts_only_what_a_key_prints(text: str) -> None:
    try:
        key = Key.parse(text)
    except KeyFormatError:
        return
    assert str(key) == text


@given(keys, st.data())
def test_key_parse_notices_a_changed_character(key: Key, data: st.DataObject) -> None:
    printed = str(key)
    at = data.draw(st.integers(0, len(printed) - 1))
    changed = printed[:at] + data.draw(st.characters(codec="ascii")) + printed[at + 1 :]
    assume(changed != printed)
    with suppress(KeyFormatError):
        assert Key.parse(changed) != key


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "cancel_order",
        "cancel_order(",
        "cancel_order)",
        "(a=b)",
        "Cancel(a=b)",
        "cancel order(a=b)",
        "cancel_order(a)",
        "cancel_order(a=)",
        "cancel_order(=b)",
        "cancel_order(a=b,c=d)",
        "cancel_order(a=b, )",
        "cancel_order(a=b,)",
        "cancel_order( a=b)",
        "cancel_order(a=b )",
        "cancel_order(a=b) ",
        " cancel_order(a=b)",
        "cancel_order(c=d, a=b)",
        "cancel_order(a=b, a=c)",
        "cancel_order(a=b, a=b)",
        'cancel_order(a="b")',
        'cancel_order(a="b c)',
        'cancel_order(a="\\u0062 c")',
        'cancel_order(a="é")',
        "cancel_order(a=b c)",
        "cancel_order(a=b)(c=d)",
        "cancel_order(a=b)\n",
        "verbatim()",
        "verbatim(text)",
        "verbatim(1)",
        "verbatim(null)",
        'verbatim(text="a")',
        'verbatim("a", "b")',
        'verbatim( "a")',
        'verbatim("\\ud800")',
        'cancel_order(a="\\ud800 ")',
    ],
)
def test_key_parse_refuses_malformed_text(printed: str) -> None:
    with pytest.raises(KeyFormatError):
        Key.parse(printed)


@pytest.mark.parametrize("intent", ["", "A", "1a", "a b", "a-b", "é", "a\n", "verbatim"])
def test_key_refuses_a_malformed_intent(intent: str) -> None:
    with pytest.raises(KeyFormatError):
        Key.of(intent)


@pytest.mark.parametrize("slots", [(("b", "x"), ("a", "x")), (("a", "x"), ("a", "y")), (("A", "x"),)], ids=str)
def test_key_refuses_slots_that_are_not_canonical(slots: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(KeyFormatError):
        Key("cancel_order", slots)


def test_key_refuses_lone_surrogates_which_would_print_like_one_character() -> None:
    with pytest.raises(KeyFormatError):
        Key.verbatim("\ud83d\ude00")


def test_key_of_a_verbatim_text_needs_its_slot() -> None:
    with pytest.raises(KeyFormatError):
        Key(VERBATIM, (("other", "x"),))
