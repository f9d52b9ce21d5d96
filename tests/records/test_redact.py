"""Redaction: nothing of the customer stays, and what is read stays the same."""

from __future__ import annotations

import pytest

from slotcache.domain.loader import load_domain
from slotcache.key import Key
from slotcache.parsing.parser import Parser
from slotcache.records.record import normal
from slotcache.records.redact import Redactor, readable


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("where is order 10234567?", "where is order <order_number>?"),
        ("write to jo.bloggs@example.org please", "write to <email> please"),
        (
            "orders #44812 and #99313, is #44812 late?",
            "orders <order_number> and <order_number_2>, is <order_number> late?",
        ),
        ("my card 4929 1234 5678 9012 was declined", "my card <card> was declined"),
        ("Mrs Featherstone called", "<name> called"),
        ("can i return it within 30 days?", "can i return it within 30 days?"),
        ("is delivery free over $1000", "is delivery free over $1000"),
    ],
)
def test_redact_replaces_personal_data_and_nothing_else(redact: Redactor, text: str, redacted: str) -> None:
    assert redact(text).text == redacted


def test_redact_long_number_of_no_known_shape_is_replaced() -> None:
    assert Redactor({})("code 5513 2290 1187 for a@b").text == "code <number> for <email>"


def test_redact_lone_surrogates_do_not_reach_the_file(redact: Redactor) -> None:
    redact("hi \ud800").text.encode("utf-8")


def test_redact_verbatim_key_is_made_of_the_redacted_text(redact: Redactor) -> None:
    done = redact("did order 10234567 go out")
    assert done.key(Key.verbatim("did order 10234567 go out"), normal(done.text)) == Key.verbatim(
        "did order <order_number> go out"
    )


@pytest.fixture(scope="module")
def parser() -> Parser:
    """A small domain whose keys hold references."""
    base = load_domain("english")
    data = base.model_dump(mode="json")
    data |= {"name": "tiny", "extends": None}
    data["concepts"]["parcel"] = ["parcel~", "order~"]
    data["concepts"]["arrive"] = ["arrive~", "come~"]
    data["slots"]["reference"] = {"type": "reference", "patterns": ["<reference>"], "everywhere": True}
    data["intents"] = {
        "arrival": {"frames": ["parcel arrive"], "owner": "customer", "slots": {"aspect": {"default": "status"}}}
    }
    return Parser(type(base).model_validate(data))


@pytest.mark.parametrize(
    "text",
    [
        "when will my order 10234567 arrive?",
        "when does order #ord-44812 arrive",
        "did parcel 1Z999AA10123456784 arrive?",
        "when will order AB-88123 come",
    ],
)
def test_redact_keeps_the_key_where_a_key_stands(redact: Redactor, parser: Parser, text: str) -> None:
    parse = parser.parse(text)
    assert parse.intent == "arrival"
    done = redact(text)
    assert parser.parse(readable(done.text)).key == done.key(parse.key, normal(done.text))
