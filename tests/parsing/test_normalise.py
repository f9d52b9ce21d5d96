"""Normalised words: what is folded, what must never be, and that nothing changes twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.errors import DomainError
from slotcache.parsing.normalise import Normaliser

REWRITES = {
    "u": "you",
    "ur": "your",
    "b4": "before",
    "2day": "today",
    "plz": "please",
    "w/out": "without",
    "e-mail": "email",
    "thx": "thank u",
    "cuz": "because",
}
NORMALISER = Normaliser(REWRITES)


def said(text: str) -> str:
    return " ".join(NORMALISER.words(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't", "do not"),
        ("dont", "do not"),
        ("DONT", "do not"),
        ("do'nt", "do not"),
        ("don t", "do not"),
        ("can't", "can not"),
        ("cant", "can not"),
        ("cannot", "can not"),
        ("won’t", "will not"),
        ("ain't", "is not"),
        ("couldn't've", "could not have"),
        ("its late", "it is late"),
        ("it's late", "it is late"),
        ("what s new", "what is new"),
        ("whats", "what is"),
        ("im", "i am"),
        ("i m", "i am"),
        ("I'm", "i am"),
        ("ive", "i have"),
        ("wouldnt", "would not"),
        ("y'all", "you all"),
        ("yall", "you all"),
        ("shouldve", "should have"),
        ("the parcel'll", "the parcel will"),
        ("my son's order", "my son is order"),
        ("customers' orders", "customers orders"),
        ("id like", "i would like"),
        ("my id", "my id"),
        ("ill be", "i will be"),
        ("i feel ill", "i feel ill"),
        ("gonna", "going to"),
        ("well", "well"),
        ("wed", "wed"),
    ],
)
def test_normalise_opens_contractions(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("u", "you"),
        ("b4", "before"),
        ("(b4)", "before"),
        ("2day", "today"),
        ("w/out", "without"),
        ("E-mail", "email"),
        ("plzzz", "please"),
        ("thx", "thank you"),
    ],
)
def test_normalise_applies_rewrites_of_the_domain(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize("rewrites", [{"a": "b", "b": "a"}, {"x": "y x"}, {"two words": "one"}])
def test_normalise_refuses_rewrites_that_cannot_work(rewrites: dict[str, str]) -> None:
    with pytest.raises(DomainError):
        Normaliser(rewrites)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two", "2"),
        ("one", "one"),
        ("twenty-one", "21"),
        ("twenty one", "21"),
        ("twenty, one", "20 one"),
        ("two hundred and fifty", "250"),
        ("a hundred", "100"),
        ("five thousand", "5000"),
        ("5 hundred", "500"),
        ("twenty-first", "21st"),
        ("1,000", "1000"),
        ("1,00,000", "100000"),
        ("12,500.50", "12500.50"),
        (".99", "0.99"),
        ("2½", "2 1/2"),
        ("5,99", "5,99"),
        ("2-day", "2 day"),
        ("two-day", "2 day"),
        ("24hrs", "24 hrs"),
        ("5pm", "5 pm"),
        ("5 p.m.", "5 pm"),
        ("10:30am", "10:30 am"),
        ("2x", "2 x"),
        ("x2", "x 2"),
        ("1st", "1st"),
        ("2nd,", "2nd"),
        ("save10", "save10"),
        ("24/7", "24/7"),
        ("2026-12-25", "2026-12-25"),
        ("25/12/2026", "25/12/2026"),
        ("rs.500", "rs 500"),
    ],
)
def test_normalise_writes_numbers_one_way(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3-5 days", "3 to 5 days"),
        ("3–5 days", "3 to 5 days"),
        ("3 - 5 days", "3 to 5 days"),
        ("two-three days", "2 to 3 days"),
        ("£20-£50", "£ 20 to £ 50"),
        ("20%-30%", "20 % to 30 %"),
        ("mon-fri", "mon to fri"),
        ("9am-5pm", "9 am to 5 pm"),
        ("5-3", "5-3"),
        ("pre-order", "pre order"),
        ("standard -> express", "standard to express"),
    ],
)
def test_normalise_reads_a_hyphen_between_rising_values_as_a_range(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$50", "$ 50"),
        ("50$", "50 $"),
        ("£50", "£ 50"),
        ("€50", "€ 50"),
        ("US$50", "us$ 50"),
        ("A$50", "a$ 50"),
        ("20%", "20 %"),
        ("5+ items", "5 + items"),
        ("five+ items", "5 + items"),
        ("<5", "< 5"),
        (">5", "> 5"),
        ("~5 days", "about 5 days"),
        ("5 days~", "5 days"),
        ("click & collect", "click and collect"),
        ("card+paypal", "card and paypal"),
        ("#12588", "# 12588"),
        ("#return", "return"),
        ("résumé", "résumé"),
        ("&nbsp;", "and nbsp"),
    ],
)
def test_normalise_keeps_signs_that_mean_something(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("help us", "help us"),
        ("HELP US", "help us"),
        ("ship to the US", "ship to the usa"),
        ("do you ship to US addresses", "do you ship to usa addresses"),
        ("DO YOU SHIP TO THE US", "do you ship to the usa"),
        ("within the us", "within the usa"),
        ("the U.S.", "the usa"),
        ("US", "usa"),
        ("let us know", "let us know"),
    ],
)
def test_normalise_tells_the_country_from_the_pronoun(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("how do i send it back 2 u", "how do i send it back to you"),
        ("how 2 return", "how to return"),
        ("im waiting 4 my refund", "i am waiting for my refund"),
        ("do i pay 4 it", "do i pay for it"),
        ("do i hav 2 send the old one back", "do i hav to send the old one back"),
        ("can i swap it 4 another size", "can i swap it for another size"),
        ("does it go 2 a new owner", "does it go to a new owner"),
        ("can i get 2 a day", "can i get 2 a day"),
        ("i bought 4 the next day", "i bought 4 the next day"),
        ("i want 2 more", "i want 2 more"),
        ("i need 2 orders", "i need 2 orders"),
        ("how 2 day delivery works", "how 2 day delivery works"),
        ("i ordered 2 of them", "i ordered 2 of them"),
        ("i have 2 returns", "i have 2 returns"),
        ("pay 4 times", "pay 4 times"),
        ("wait 4 days", "wait 4 days"),
        ("i got 2 the other day", "i got 2 the other day"),
    ],
)
def test_normalise_reads_a_digit_as_its_sound_only_where_no_number_stands(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("order no. 45210", "order number 45210"),
        ("order no 452", "order number 452"),
        ("invoice No.5", "invoice number 5"),
        ("no #5", "number # 5"),
        ("no refund", "no refund"),
        ("no. 5 days ago", "no 5 days ago"),
        ("no 2 day delivery", "no 2 day delivery"),
        ("order no longer needed", "order no longer needed"),
    ],
)
def test_normalise_reads_no_as_number_only_before_a_number(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pleeease", "please"),
        ("soooo goood", "so good"),
        ("call it offff", "call it off"),
        ("hellooo", "hello"),
        ("AAA batteries", "aaa batteries"),
        ("xxxl", "xxxl"),
        ("xxl", "xxl"),
    ],
)
def test_normalise_shortens_stretched_words_but_no_sizes(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("thanks 😀❤️", "thanks"),
        ("hi :) :D ;-)", "hi"),
        ("👍🏽", "👍"),
        ("🇺🇸", "🇺🇸"),
        ("🙅", "🙅"),
        ("order👍", "order 👍"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("\"quoted\" 'too' “and this”", "quoted too and this"),
        ("!!! ... ???", ""),
    ],
)
def test_normalise_drops_smileys_and_keeps_other_pictograms(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a b", [(0, 0), (0, 0)]),
        ("a, b", [(0, 0), (0, 1)]),
        ("a. b", [(0, 0), (1, 1)]),
        ("a?! b", [(0, 0), (1, 1)]),
        ("mr. b", [(0, 0), (0, 0)]),
        ("two-day b", [(0, 0), (0, 0), (0, 0)]),
        ("a - b", [(0, 0), (0, 1)]),
        ("a — b", [(0, 0), (0, 1)]),
        ("a.b", [(0, 0), (1, 1)]),
        ("1.5 b", [(0, 0), (0, 0)]),
    ],
)
def test_normalise_counts_sentences_and_clauses(text: str, marks: list[tuple[int, int]]) -> None:
    text = text.replace("a", "abc")
    assert [(token.sentence, token.clause) for token in NORMALISER(text)] == marks


@pytest.mark.parametrize("text", ["I can't pay $50, café's", "twenty-one u.s. £1,000", "cafe\u0301 o\u0301k"])
def test_normalise_keeps_offsets_into_the_text(text: str) -> None:
    tokens = NORMALISER(text)
    spans = [(token.start, token.end) for token in tokens]
    assert spans == sorted(spans)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)


FRAGMENTS = """
i can't cant return this order u b4 2day 3-5 days $50 50$ £ us US the no. no # 12 1,000 .5 5+ + - – — -> ~ & = < > one
two twenty hundred thousand and a half 1/2 ½ twenty-one five-three 5-3 first twenty-first don t id like ill be soooo
:) :D =) 😀 👍🏽 🇺🇸 '' " ' ( ) , . ; ? ! … / w/o w/out e-mail e.g. a.m. U.S. x2 2x 30x40cm xxxl save10 rs.500 rs mon-fri
9am pm % it's its İstanbul ẞ café İ #tag @ _ * xD 10:30 24/7 2026-12-25 o'clock 'em rock'n'roll 5'10 shop.com I'D've
"""
fragments = st.sampled_from(FRAGMENTS.split())


@given(st.lists(st.tuples(fragments, st.sampled_from(["", " ", " ", " "])), max_size=14))
def test_normalise_changes_nothing_twice(parts: list[tuple[str, str]]) -> None:
    text = "".join(fragment + space for fragment, space in parts)
    once = NORMALISER.words(text)
    assert NORMALISER.words(" ".join(once)) == once


@given(st.text(max_size=60))
def test_normalise_reads_any_text_and_changes_nothing_twice(text: str) -> None:
    once = NORMALISER.words(text)
    assert NORMALISER.words(" ".join(once)) == once


@given(st.lists(fragments, max_size=12))
def test_normalise_ignores_case_but_for_the_country(parts: list[str]) -> None:
    text = " ".join(fragment for fragment in parts if fragment not in ("us", "US", "İ", "İstanbul", "ẞ"))
    assert NORMALISER.words(text.lower()) == NORMALISER.words(text)
