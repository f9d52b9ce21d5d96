"""Personal data, found with the expressions of the shipped English base."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.domain.loader import load_domain
from slotcache.parsing.personal import PersonalFinder, canonical_reference

EXPRESSIONS = load_domain("english").personal
FINDER = PersonalFinder(EXPRESSIONS)


def found(text: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.value) for piece in FINDER.find(text)]


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("order 10234", "10234"),
        ("where is order #10234?", "#10234"),
        ("getting invoice #12588", "12588"),
        ("#12588", "#12588"),
        ("i cant edit order ORD-48213", "ORD-48213"),
        ("ORD-48213", "ORD-48213"),
        ("cancel purchase 113542617735902", "113542617735902"),
        ("order no. is 4521", "4521"),
        ("order no 4521", "4521"),
        ("1Z999AA10123456784", "1Z999AA10123456784"),
        ("invoice 00108", "00108"),
        ("order number: AB-12-34", "AB-12-34"),
        ("order 73b21", "73b21"),
        ("cancel order113542617735902", "113542617735902"),
        ("order 6612B", "6612B"),
        ("order 3019 got here smashed", "3019"),
        ("ticket 482 is open", "482"),
        ("can you check ORD/2024/55173", "ORD/2024/55173"),
        ("tracking number RX 417 902 338 GB", "RX 417 902 338 GB"),
        ("tracking JD0002 4418 7730 9125", "JD0002 4418 7730 9125"),
        ("500-3381942-6627105 shows delivered", "500-3381942-6627105"),
        ("change the address on 0042-1187", "0042-1187"),
        ("cancel 5093-88121-Q", "5093-88121-Q"),
        ("not 33812, please", "33812"),
        ("my order number is 7 7 4 dash 0 1 9", "7 7 4 dash 0 1 9"),
        ("order's two two oh one eight", "two two oh one eight"),
    ],
)
def test_personal_finds_references_of_every_shape(text: str, reference: str) -> None:
    assert found(text) in ([("reference", reference)], [("reference", reference.removeprefix("#"))])


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("my email is mavis.thornbury@example.com", "email", "mavis.thornbury@example.com"),
        ("jon underscore pell at example dot com", "email", "jon underscore pell at example dot com"),
        ("call me on 07700 900142", "phone", "07700 900142"),
        ("+44 7700 900 553 is the number", "phone", "+44 7700 900 553"),
        ("new phone: (212) 555 0173", "phone", "(212) 555 0173"),
        ("update mobile to 55012 34876", "phone", "55012 34876"),
        ("my number is 555-0148", "phone", "555-0148"),
        ("card ending 4242", "card", "4242"),
        ("my visa ending in 2206", "card", "2206"),
        ("last four 8150", "card", "8150"),
        ("4111 1111 1111 1111", "card", "4111 1111 1111 1111"),
        ("my amex ****** 31009", "card", "****** 31009"),
        ("DE89370400440532013000", "iban", "DE89370400440532013000"),
        ("pay to GB82 WEST 1234 5698 7654 32", "iban", "GB82 WEST 1234 5698 7654 32"),
        ("dob 3rd of november 1991", "birth_date", "3rd of november 1991"),
        ("my date of birth is 14/02/1983", "birth_date", "14/02/1983"),
        ("deliver to 12 Baker Street", "address", "12 Baker Street"),
        ("it is Flat 3 please", "address", "Flat 3"),
        ("41 dunmore road", "address", "41 dunmore road"),
        ("my adress is 7 kestral drive", "address", "7 kestral drive"),
        ("po box 4471", "address", "po box 4471"),
        ("Boise, ID 83799", "address", "Boise, ID 83799"),
        ("do you deliver to IV99 8ZZ", "postcode", "IV99 8ZZ"),
        ("ch99 2wd is invalid", "postcode", "ch99 2wd"),
        ("ship to K9Z 0X1", "postcode", "K9Z 0X1"),
        ("zip 60699", "postcode", "60699"),
        ("pin code 411099", "postcode", "411099"),
        ("bill from Ms. Hawkings", "name", "Ms. Hawkings"),
        ("a robot for mr. Smith", "name", "mr. Smith"),
        ("MR SMITH HERE", "name", "MR SMITH"),
        ("my name is priya", "name", "my name is priya"),
        ("Hi this is Ranjit Sohal", "name", "Ranjit Sohal"),
        ("this is Bex speaking", "name", "this is Bex speaking"),
        ("I'm Pieter van Houtte", "name", "Pieter van Houtte"),
        ("invoices from Anna Freeman", "name", "Anna Freeman"),
        ("the order is under the name of Harriet Quillfeather", "name", "Harriet Quillfeather"),
        ("username pippin_44", "account", "pippin_44"),
        ("from 203.0.113.44", "account", "203.0.113.44"),
    ],
)
def test_personal_finds_each_kind(text: str, kind: str, value: str) -> None:
    assert found(text) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "order 2 items",
        "order 100 units",
        "order 2000 t-shirts",
        "order 10kg",
        "order 2-3 items",
        "order is 3 days late",
        "order from New York",
        "orders from 2024",
        "order no longer needed",
        "no order, no refund",
        "within 30 days",
        "24-48 hours",
        "3-5 days",
        "over 50 dollars",
        "spend 10000 rupees",
        "$1000",
        "1,000,000",
        "49.99",
        "size 10",
        "sizes 6 7 8 9",
        "2024",
        "25/12/2026",
        "10:30",
        "100 night trial",
        "500 units",
        "50-100 items",
        "20% off",
        "flat 50% off",
        "buy 2 get 1",
        "call 24/7",
        "iphone 15",
        "returns2024",
        "covid-19",
        "1st 2nd 3rd",
        "is my name required",
        "my name is wrong on the parcel",
        "i miss the delivery",
        "Black Friday deals",
        "my old surname on it",
        "how do i handle that.",
        "can i turn my account in2 a business one",
        "one of two or three items",
    ],
)
def test_personal_leaves_quantities_and_common_words_alone(text: str) -> None:
    assert found(text) == []


def test_personal_reports_pieces_in_order_and_apart() -> None:
    pieces = FINDER.find("I'm Ada Byron, order NL-44820, email ada@example.org, call 07700 900142")
    assert [piece.kind for piece in pieces] == ["name", "reference", "email", "phone"]
    assert all(one.end <= other.start for one, other in pairwise(pieces))


def test_personal_narrows_to_the_value_groups() -> None:
    finder = PersonalFinder({"seat": r"seat (?P<value>\d+)|row (?P<value_row>\w)"})
    assert [piece.value for piece in finder.find("seat 12, row F")] == ["12", "F"]


def test_personal_searches_only_texts_with_the_hint() -> None:
    finder = PersonalFinder({"seat": r"(?i)(?#if \bseat\b)[a-z]?\d+"})
    assert [[piece.value for piece in finder.find(text)] for text in ("12", "SEAT F12")] == [[], ["F12"]]


UNHINTED = PersonalFinder({kind: re.sub(r"\(\?#if [^)]*\)", "", text) for kind, text in EXPRESSIONS.items()})
WORDS = """
order invoice number no. is # : my name mr Mr. Smith Anna Freeman Dr under from dob born card ending last four 4242 12 7
Baker Street road flat @ example.com a@b.co dot at one two oh double seven ORD-48213 10234 AB-12 ch99 2wd zip 60699 call
phone +44 7700 900553 username x_1 I'm This here speaking c/o Ms
"""


@given(st.lists(st.tuples(st.sampled_from(WORDS.split()), st.sampled_from([" ", " ", ", ", ""])), max_size=10))
def test_personal_hints_lose_nothing(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + space for word, space in parts)
    assert FINDER.find(text) == UNHINTED.find(text)


@given(st.text(max_size=80))
def test_personal_reads_any_text(text: str) -> None:
    assert all(text[piece.start : piece.end] == piece.value for piece in FINDER.find(text))


@pytest.mark.parametrize("spelling", ["#ord-10234", "ORD-10234", "ord 10234", "Ord/10234"])
def test_personal_references_have_one_spelling(spelling: str) -> None:
    assert canonical_reference(spelling) == "ORD10234"
