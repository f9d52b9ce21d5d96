from __future__ import annotations

from pathlib import Path

import pytest

from slotcache.concealment import Concealed, conceal
from slotcache.key import Key
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse
from slotcache.records.redact import Redactor, readable

SECRET = "a secret of the operator"
PARCELS = Path(__file__).parent / "domains" / "parcels.yaml"


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser.load(PARCELS)


@pytest.fixture(scope="module")
def redact(parser: Parser) -> Redactor:
    return Redactor(parser.domain.personal)


def concealed(parser: Parser, redact: Redactor, text: str, secret: str = SECRET) -> Concealed:
    return conceal(parser.parse(text), parser.parse, redact, secret)


PERSONAL = [
    ("when will my order 10234567 arrive?", "when will my order <order_number> arrive?", ("10234567",)),
    ("how do i return parcel 10234567", "how do i return parcel <order_number>", ("10234567",)),
    ("write to jo.bloggs@example.org when it comes", "write to <email> when it comes", ("jo", "bloggs", "example.org")),
    ("call me on 07700 900123 about the dog", "call me on <phone> about the dog", ("07700", "900123")),
    ("my name is Anna Schmidt, can i return my parcel?", "<name>, can i return my parcel?", ("anna", "schmidt")),
    ("code 5513 2290 1187 does not work", "code <order_number> does not work", ("5513", "2290", "1187")),
]


@pytest.mark.parametrize(("text", "stored", "raw"), PERSONAL)
def test_conceal_leaves_nothing_personal(
    parser: Parser, redact: Redactor, text: str, stored: str, raw: tuple[str, ...]
) -> None:
    done = concealed(parser, redact, text)
    everything = repr((done.parse, str(done.parse.key), done.digest)).lower()
    assert (done.alike, done.parse.text) == (True, stored)
    assert [value for value in raw if value in everything] == []


@pytest.mark.parametrize(("text", "stored", "raw"), PERSONAL)
def test_conceal_stored_question_is_read_to_the_stored_key(
    parser: Parser, redact: Redactor, text: str, stored: str, raw: tuple[str, ...]
) -> None:
    done = concealed(parser, redact, text)
    again = parser.parse(readable(done.parse.text))
    assert (again.key, again.fingerprint) == (done.parse.key, done.parse.fingerprint)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("when will my order 10234567 arrive?", "when will my order 10234568 arrive?"),
        ("call me on 07700 900123 about the dog", "call me on 07700 900124 about the dog"),
        ("code 5513 2290 1187 does not work", "code 5513 2290 1188 does not work"),
        ("my order 10234567 and order 99313", "my order 99313 and order 10234567"),
    ],
)
def test_conceal_keeps_apart_what_the_key_kept_apart(parser: Parser, redact: Redactor, one: str, other: str) -> None:
    first, second = concealed(parser, redact, one), concealed(parser, redact, other)
    assert first.parse.key == second.parse.key
    assert first.digest != second.digest


def test_conceal_one_number_in_two_wordings_is_one(parser: Parser, redact: Redactor) -> None:
    texts = ("when will my order 10234567 arrive?", "when does order #10234567 come")
    assert len({(str(done.parse.key), done.digest) for done in (concealed(parser, redact, t) for t in texts)}) == 1


def test_conceal_digest_needs_the_secret(parser: Parser, redact: Redactor) -> None:
    text = "when will my order 10234567 arrive?"
    assert concealed(parser, redact, text).digest != concealed(parser, redact, text, "another secret of theirs").digest


def test_conceal_leaves_a_question_without_personal_data_alone(parser: Parser, redact: Redactor) -> None:
    parse = parser.parse("can i return my parcel?")
    assert conceal(parse, parser.parse, redact, SECRET) == Concealed(parse)


@pytest.mark.parametrize(
    "text",
    [
        "my name is anna schmidt, can i return my parcel?",
        "Anna Schmidt here, when does my parcel come",
        "i am Anna van der Berg and my parcel is late",
    ],
)
def test_conceal_what_may_name_somebody_is_not_to_be_stored(parser: Parser, redact: Redactor, text: str) -> None:
    assert not concealed(parser, redact, text).alike


def test_conceal_what_reads_otherwise_without_its_number_is_not_to_be_stored(redact: Redactor) -> None:
    parse = Parse("what is 12345678?", key=Key.of("a", {}), intent="a")
    assert not conceal(parse, lambda text: Parse(text, key=Key.of("b", {}), intent="b"), redact, SECRET).alike


@pytest.mark.parametrize(
    ("key", "alike"),
    [
        ("returning(aspect=how)", True),
        ("arrival(aspect=when, reference=10234567)", False),
        ('verbatim("mail jo@example.org")', False),
    ],
)
def test_conceal_key_that_somebody_wrote_may_hold_no_data(
    parser: Parser, redact: Redactor, key: str, alike: bool
) -> None:
    assert conceal(Parse("", key=Key.parse(key)), parser.parse, redact, SECRET).alike is alike
