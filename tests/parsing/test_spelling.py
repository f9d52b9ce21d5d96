"""Spelling repair: what it repairs, and above all what it must leave alone."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slotcache.parsing.english import english_words
from slotcache.parsing.slips import slip
from slotcache.parsing.spelling import Speller

SINGLE = """
cancel candle account amount count address dress return refund express order deliver delivery delivered policy
replacement exchange shipping item time phone premium subscription shipped course check number postcode cash payment
options voucher rooms modemmed expires accepted expected
"""
MEANINGS = {word: word for word in SINGLE.split()} | {"orders": "order"}
PROTECTED = ["before", "after", "without", "not", "different", "only", "unless"]
FUNCTION_WORDS = ["i", "you", "to", "me", "this", "the", "have", "help", "what", "of", "my"]
VOCABULARY = [*MEANINGS, *FUNCTION_WORDS, *PROTECTED]


def make(**changes: object) -> Speller:
    options = {
        "meaning": MEANINGS.get,
        "function_words": FUNCTION_WORDS,
        "aliases": {"u": ("you",), "pls": ("please",)},
    }
    return Speller(VOCABULARY, PROTECTED, **{**options, **changes})  # type: ignore[arg-type]


SPELLER = make()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("retrun", "return"),
        ("refnud", "refund"),
        ("cancle", "cancel"),
        ("canel", "cancel"),
        ("acount", "account"),
        ("adress", "address"),
        ("addresss", "address"),
        ("delivry", "delivery"),
        ("delivary", "delivery"),
        ("shiping", "shipping"),
        ("ordr", "order"),
        ("oredr", "order"),
        ("odrer", "order"),
        ("numbr", "number"),
        ("chekc", "check"),
        ("voucehr", "voucher"),
        ("replacemnt", "replacement"),
        ("rpelacmeent", "replacement"),
        ("subscritpoin", "subscription"),
    ],
)
def test_spelling_repairs_slips_of_the_fingers(typed: str, meant: str) -> None:
    assert SPELLER.repair(typed) == meant


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("order", "it is a word of the domain"),
        ("border", "it is English"),
        ("befor", "before is protected"),
        ("diffrent", "different is protected"),
        ("witout", "without is protected"),
        ("expres", "it may be express or expires"),
        ("itme", "it may be item or time"),
        ("iphone", "another first letter is another word"),
        ("freemium", "another first letter is another word"),
        ("unshipped", "another first letter is another word"),
        ("tem", "it is too short"),
        ("roos", "in four letters a lost consonant leaves a name"),
        ("itam", "in four letters a changed one makes another word"),
        ("passcode", "two strange letters make another word"),
        ("mohammed", "an over-inflected form is no target"),
        ("0rder", "digits are never touched"),
        ("order2", "digits are never touched"),
        ("ordér", "accents are never touched"),
        ("source", "it is English"),
        ("premuim ", "it is no single word"),
    ],
)
def test_spelling_leaves_alone(typed: str, why: str) -> None:
    assert SPELLER.repair(typed) is None, why


def test_spelling_prefers_a_common_word_of_no_domain_to_a_repair() -> None:
    assert (make().repair("abuot"), Speller(["abbot"], [], meaning=str).repair("abuot")) == (None, None)


def test_spelling_lets_words_of_one_meaning_not_compete() -> None:
    same = Speller(["colour", "colours"], [], meaning=lambda word: "colour")
    other = Speller(["colour", "colours"], [], meaning=lambda word: word)
    assert (same.repair("coloour"), same.repair("colouers"), other.repair("colouur")) == ("colour", "colours", "colour")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("uhelp", ("you", "help")),
        ("iorder", ("i", "order")),
        ("helpme", ("help", "me")),
        ("myorder", ("my", "order")),
        ("thisorder", ("this", "order")),
        ("returnpolicy", ("return", "policy")),
        ("deliveryaddress", ("delivery", "address")),
        ("paymentoptions", ("payment", "options")),
    ],
)
def test_spelling_parts_words_typed_without_a_space(typed: str, meant: tuple[str, ...]) -> None:
    assert (SPELLER.split(typed), SPELLER.repair(typed)) == (meant, None)


@pytest.mark.parametrize(
    ("typed", "read"),
    [("retrun", ("return",)), ("myorder", ("my", "order")), ("order", None), ("befor", None), ("zzzz", None)],
)
def test_spelling_mends_by_repair_or_parting(typed: str, read: tuple[str, ...] | None) -> None:
    assert SPELLER.mend(typed) == read


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("notshipped", "not is protected"),
        ("beforeorder", "before is protected"),
        ("cashback", "a particle makes another word"),
        ("itemphone", "two short content words may be a name"),
        ("orders", "it is a word of the domain"),
        ("today", "it is English"),
        ("unknownword", "neither half is known"),
        ("order2", "digits are never touched"),
    ],
)
def test_spelling_does_not_part(typed: str, why: str) -> None:
    assert make(function_words=[*FUNCTION_WORDS, "back"]).split(typed) is None, why


def test_spelling_does_not_part_what_parts_in_two_ways() -> None:
    speller = Speller(["tore", "order", "reorder"], [], meaning=str, function_words=["to", "tore"])
    assert (
        speller.split("toreorder"),
        Speller(["reorder"], [], meaning=str, function_words=["to"]).split("toreorder"),
    ) == (
        None,
        ("to", "reorder"),
    )


def test_spelling_does_not_part_onto_a_protected_word() -> None:
    assert Speller(VOCABULARY, [*PROTECTED, "my"], meaning=MEANINGS.get, function_words=["my"]).split("myorder") is None


NEAR_KEYS = {
    "a": "sq",
    "e": "wr",
    "i": "uo",
    "o": "ip",
    "r": "et",
    "t": "ry",
    "n": "bm",
    "d": "sf",
    "c": "xv",
    "s": "ad",
}


@st.composite
def slips(draw: st.DrawFn) -> tuple[str, str]:
    """A word of the vocabulary, and what fingers make of it."""
    word = draw(st.sampled_from(sorted(word for word in VOCABULARY if len(word) > 3)))
    at = draw(st.integers(1, len(word) - 2))
    made = {
        "lost": word[:at] + word[at + 1 :],
        "doubled": word[:at] + word[at] + word[at:],
        "swapped": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        "pressed beside": word[:at] + draw(st.sampled_from(NEAR_KEYS.get(word[at], word[at]))) + word[at + 1 :],
    }
    return word, draw(st.sampled_from(sorted(made.values())))


@given(slips())
def test_spelling_never_turns_a_slip_into_another_meaning(case: tuple[str, str]) -> None:
    word, typed = case
    repaired = SPELLER.repair(typed)
    assume(repaired is not None)
    assert repaired not in PROTECTED
    uses = english_words()
    far_commoner = uses.get(repaired or "", 0) >= 20 * uses.get(word, 100_000)
    assert word not in PROTECTED or far_commoner
    assert MEANINGS.get(repaired or "", repaired) == MEANINGS.get(word, word) or far_commoner


@given(st.text(string.ascii_lowercase, min_size=1, max_size=14))
def test_spelling_repairs_and_parts_only_onto_known_unprotected_words(typed: str) -> None:
    results = {SPELLER.repair(typed), *(SPELLER.split(typed) or ())} - {None}
    assert results <= {*VOCABULARY, "please"} - {*PROTECTED}
    assert not (results and SPELLER.knows(typed))


@given(st.sampled_from(sorted(MEANINGS)), st.text(string.ascii_lowercase, min_size=1, max_size=12))
def test_slips_cost_nothing_only_for_the_word_itself(meant: str, typed: str) -> None:
    assert (slip(typed, meant) == 0.0) is (typed == meant)


@pytest.mark.parametrize(
    ("likelier", "less_likely"),
    [
        (("acount", "account"), ("acount", "amount")),
        (("cancle", "cancel"), ("cancle", "candle")),
        (("retrun", "return"), ("retrun", "rerun")),
        (("orfer", "order"), ("orper", "order")),
        (("delivary", "delivery"), ("delivkry", "delivery")),
        (("orer", "order"), ("rder", "order")),
    ],
)
def test_slips_rank_by_what_fingers_do(likelier: tuple[str, str], less_likely: tuple[str, str]) -> None:
    assert slip(*likelier) < slip(*less_likely)
