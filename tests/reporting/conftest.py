"""Small pieces that reports are made from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.key import Key
from slotcache.records import TrafficRecord
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.judged import Gold, Judged, Read, Source
from slotcache.reporting.labels import labelled_from
from slotcache.reporting.report import Report

BEFORE = "renew_loan(aspect=eligibility, medium=book, timing=before_due)"
LABELS = [
    {"text": "can i renew a book before the due date?", "key": BEFORE},
    {"text": "can i renew a book after the due date?", "key": BEFORE},
    {"text": "how do i renew a dvd?", "key": "renew_loan(aspect=how, medium=dvd)"},
    {"text": "can i extend my novel", "key": "fines(aspect=cost)"},
    {"text": "what books do i have on loan", "intent": "my_loans"},
    {"text": "can i borrow a book as a gift voucher", "key": None},
    {"text": "fine", "intent": "out_of_scope"},
]  # fmt: skip
ASKED = [row["text"] for row in LABELS] + [
    "can i renew my tablet?",
    "borrow a tablet",
    "mail jo@example.org about a book",
]


@pytest.fixture
def judged() -> Callable[..., Judged]:
    """Makes a judged question from a right key and the key that was read."""

    def make(gold: str | None, read: str | None, text: str = "q", **more: object) -> Judged:
        asked = Key.parse(gold) if gold else None
        seen = Key.parse(read) if read else None
        confidence = more.pop("confidence", 1.0)
        reading = Read(
            read,
            seen.intent if seen else None,
            seen.as_dict() if seen else {},
            leaning=seen.intent if seen else None,
            confidence=confidence,  # type: ignore[arg-type]
            model=str(more.pop("model", "")),
        )
        meant = Gold(asked.intent, asked.as_dict()) if asked else Gold("out_of_scope")
        return Judged(text, meant, reading, Source.LABELS, **more)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def library_parser() -> Parser:
    return Parser.load(Path(__file__).parent.parent / "domains" / "library.yaml")


@pytest.fixture(scope="session")
def recorded(library_parser: Parser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A traffic record: every question twenty times, one hit reported as wrong."""
    path = tmp_path_factory.mktemp("records") / "traffic.db"
    with (
        TrafficRecord(path, read=library_parser.parse) as record,
        SlotCache(library_parser, MemoryStore(), observers=[record]) as cache,
    ):
        for _ in range(20):
            for text in ASKED:
                answer = "Yes, once." if "renew a book" in str(text) else f"answer to {text}"
                hit = cache.get_or_call(str(text), lambda _, a=answer: a, Scope(customer="c-1"))
        cache.report_false_hit(str(hit.hit_id))
    return path


@pytest.fixture(scope="session")
def report(library_parser: Parser, recorded: Path) -> Report:
    """A report of labels, reviewed traffic and the record."""
    from slotcache.records import read_records

    labelled = labelled_from(LABELS)
    inputs = Inputs(library_parser, read_records(recorded), labelled=labelled, reviewed=labelled)
    return make_report(inputs, made=1_700_000_000.0)


@pytest.fixture
def invoke() -> Callable[..., Result]:
    from slotcache.cli.app import app

    library = Path(__file__).parent.parent / "domains" / "library.yaml"
    return lambda *arguments: CliRunner().invoke(app, ["report", "--domain", str(library), *map(str, arguments)])
