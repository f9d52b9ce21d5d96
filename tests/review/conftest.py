"""Small pieces that a review is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from slotcache import Parser
from slotcache.records.record import Kind as RecordKind
from slotcache.records.record import Record, normal
from slotcache.review.acts import Act, Kind, pair_id, question_id
from slotcache.review.labels import LabelStore

LIBRARY = Path(__file__).parent.parent / "domains" / "library.yaml"
NOW = 1_800_000_000.0


@pytest.fixture(scope="session")
def library_parser() -> Parser:
    return Parser.load(LIBRARY)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    made = LabelStore(tmp_path / "labels.db")
    yield made
    made.close()


@pytest.fixture
def act() -> Callable[..., Act]:
    """Makes an act about a question, or with `a` and `b` about a pair."""
    number = 0

    def make(kind: Kind = Kind.LABEL, text: str = "can i nab a dvd", *, author: str = "kim", **body: Any) -> Act:
        nonlocal number
        number += 1
        if kind is Kind.LABEL:
            body = {"intent": "borrow_item", "slots": {"medium": "dvd"}} | body
        subject = pair_id(body["a"], body["b"]) if "a" in body else question_id(text)
        about = {} if "a" in body else {"text": text}
        return Act(f"act-{number}", NOW + number, author, kind, subject, about | body)

    return make


@pytest.fixture
def record() -> Callable[..., Record]:
    """Makes a record of a look-up that found no key."""
    number = 0

    def make(text: str = "can i nab a dvd", **more: Any) -> Record:
        nonlocal number
        number += 1
        fields = {"kind": RecordKind.LOOKUP, "decision": "miss", "abstain": None if "intent" in more else "residue"}
        about = {"at": NOW + number, "text": text, "normal": normal(text)}
        return Record(f"r-{number}", **(about | fields | more))

    return make
