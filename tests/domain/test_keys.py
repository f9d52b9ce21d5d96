from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotcache.domain.keys import wrong_with
from slotcache.domain.loader import load_domain
from slotcache.domain.schema import Domain
from slotcache.key import Key
from slotcache.parsing.parser import Parser

LIBRARY = Path(__file__).parent.parent / "domains" / "library.yaml"


@pytest.fixture(scope="module")
def library() -> Domain:
    return load_domain(LIBRARY)


@pytest.mark.parametrize(
    "key",
    [
        "renew_loan(aspect=how)",
        "renew_loan(aspect=eligibility, medium=dvd, timing=after_due)",
        "borrow_item(aspect=how_many, count=3)",
        'verbatim("what is the wifi name")',
    ],
)
def test_keys_that_a_question_can_get_are_right(library: Domain, key: str) -> None:
    assert wrong_with(library, Key.parse(key)) == ""


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("renew_loans(aspect=how)", "no intent 'renew_loans'; did you mean 'renew_loan'?"),
        ("something_else(aspect=how)", "no intent 'something_else'"),
        ("my_loans(aspect=status)", "asks for live state"),
        ("renew_loan(aspect=how, mediums=dvd)", "no slot 'mediums'; did you mean 'medium'?"),
        ("renew_loan(aspect=how, medium=dvds)", "no value 'dvds'; did you mean 'dvd'?"),
        ("renew_loan(aspect=how, medium=magazine)", "get medium=book"),
        ("renew_loan(aspect=request)", "get aspect=how"),
        ("renew_loan(medium=dvd)", "leave 'aspect' out get aspect=how"),
    ],
)
def test_keys_that_no_question_gets_are_told_with_the_fix(library: Domain, key: str, problem: str) -> None:
    assert problem in wrong_with(library, Key.parse(key))


def test_keys_of_real_questions_are_right() -> None:
    week = Path(__file__).parent.parent.parent / "slotcache" / "demo" / "week.jsonl"
    parser = Parser.load()
    texts = [json.loads(line)["text"] for line in week.read_text(encoding="utf-8").splitlines()[:150]]
    keys = {parse.key for parse in map(parser.parse, texts) if parse.key is not None}
    told = {str(key): wrong_with(parser.domain, key) for key in keys}
    assert len(told) > 30
    assert {problem for problem in told.values() if "live state" not in problem} == {""}
