"""The reader on a second business, so that nothing in it can know order support."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotcache.errors import Abstain
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Owner

LIBRARY = Path(__file__).parents[1] / "domains" / "library.yaml"


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser.load(LIBRARY)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("How do I renew DVDs?", "renew_loan(aspect=how, medium=dvd)"),
        ("can I renew a book before the due date", "renew_loan(aspect=eligibility, medium=book, timing=before_due)"),
        (
            "hi! is it possible to extend a novel once it's past its due date??",
            "renew_loan(aspect=eligibility, medium=book, timing=after_due)",
        ),
        ("can i renew a book within 14 days", "renew_loan(aspect=eligibility, medium=book, within=P14D)"),
        ("can i renew a book within two weeks", "renew_loan(aspect=eligibility, medium=book, within=P14D)"),
        ("can i renew a book within 14 business days", "renew_loan(aspect=eligibility, medium=book, within=P14B)"),
        ("How many books can I borrow?", "borrow_item(aspect=how_many, medium=book)"),
        ("renew magazines please", "renew_loan(aspect=how, medium=book)"),
    ],
)
def test_parser_reads_the_exact_key(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("can I renew a book before the due date", "can I renew a book after the due date"),
        ("can my daughter borrow films", "can students borrow films"),
        ("can I borrow a dvd", "how long can I borrow a dvd"),
        ("can we borrow a dvd", "can I borrow a dvd"),
        ("can i renew a book for 2 weeks", "can i renew a book for 3 weeks"),
        ("renew loan 123456", "renew loan 123465"),
        ("is there a fine", "is there not a fine"),
    ],
)
def test_parser_keeps_one_qualifier_apart(parser: Parser, a: str, b: str) -> None:
    assert parser.parse(a).key != parser.parse(b).key


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Abstain.EMPTY),
        ("hello there!", Abstain.EMPTY),
        ("x" * 1_000_000, Abstain.TOO_LONG),
        ("renew\x00 a book", Abstain.UNREADABLE),
        ("renew a bo\u202eok", Abstain.UNREADABLE),
        ("renew \ud800 book", Abstain.UNREADABLE),
        ("𝐫𝐞𝐧𝐞𝐰 a book", Abstain.UNREADABLE),
        ("rеnеw a book", Abstain.UNREADABLE),
        ("借りた本を延長できますか", Abstain.OTHER_LANGUAGE),
        ("can i borrow a robot", Abstain.RESIDUE),
        ("is there a fine unless i renew", Abstain.RESIDUE),
        ("what about dvds", Abstain.FOLLOW_UP),
        ("can I renew a dvd and how much is it", Abstain.SEVERAL_QUESTIONS),
        ("my name is Ada Byron, can I renew a book", Abstain.PERSONAL),
        ("tell me a joke", Abstain.RESIDUE),
    ],
)
def test_parser_abstains_with_the_reason(parser: Parser, text: str, reason: Abstain) -> None:
    parse = parser.parse(text)
    assert (parse.abstain, parse.intent) == (reason, None)


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("can I borrow a dvd", Owner.SHARED),
        ("i lost my library card", Owner.CUSTOMER),
        ("what do we have on loan", Owner.NEVER),
        ("can I renew loan 123456", Owner.CUSTOMER),
        ("can i borrow a robot", Owner.CUSTOMER),
    ],
)
def test_parser_names_the_owner(parser: Parser, text: str, owner: Owner) -> None:
    assert parser.parse(text).owner is owner


def test_parser_shares_verbatim_keys_only_where_the_operator_says_so() -> None:
    parser = Parser.load(LIBRARY, verbatim_owner=Owner.SHARED)
    assert parser.parse("Can I borrow a robot?").owner is Owner.SHARED


@pytest.mark.parametrize("text", ["can i borrow a robot for mr. Smith", "借りた本", "can i borrow order 123456 robot"])
def test_parser_never_shares_personal_or_foreign_verbatim_keys(text: str) -> None:
    parse = Parser.load(LIBRARY, verbatim_owner=Owner.SHARED).parse(text)
    assert parse.owner is not Owner.SHARED


def test_parser_gives_politeness_no_part_in_a_verbatim_key(parser: Parser) -> None:
    assert parser.parse("Hi there, can I borrow a robot please?").key == parser.parse("can i borrow a robot").key


def test_parser_lets_a_merged_request_read_but_not_fill(parser: Parser) -> None:
    asked, requested = parser.parse("how do I renew a dvd"), parser.parse("I want to renew a dvd")
    assert (asked.key == requested.key, asked.fillable, requested.fillable) == (True, True, False)
