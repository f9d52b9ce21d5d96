from __future__ import annotations

from collections.abc import Callable

import pytest

from slotcache.address import Address, Namespace
from slotcache.entry import Entry, Origin
from slotcache.key import Key
from slotcache.review.nearest import Nearest

MakeEntry = Callable[..., Entry]


@pytest.fixture
def entry() -> MakeEntry:
    def make(question: str, *, customer: str = "") -> Entry:
        address = Address.of(Namespace(customer=customer), Key.verbatim(question), ())
        return Entry(address.cell + "1", address, "Yes.", Origin.LEARNED, 0.0, None, question=question)

    return make


def test_nearest_gives_the_most_alike_first(entry: MakeEntry) -> None:
    texts = ["can i borrow a dvd", "can i borrow a rare book", "what does it cost"]
    near = Nearest([entry(text) for text in texts])
    assert [one.text for one in near.of("can i borrow a book")] == ["can i borrow a rare book", "can i borrow a dvd"]


def test_nearest_leaves_the_question_itself_out(entry: MakeEntry) -> None:
    assert Nearest([entry("Can I borrow a DVD?")]).of("can i borrow a dvd") == []


def test_nearest_never_shows_what_belongs_to_one_customer(entry: MakeEntry) -> None:
    assert Nearest([entry("can i borrow a dvd", customer="c-1")]).of("can i borrow a book") == []


def test_nearest_of_words_that_nobody_used_is_nothing(entry: MakeEntry) -> None:
    assert Nearest([entry("can i borrow a dvd")]).of("zzz") == []


def test_nearest_reads_placeholders_as_what_they_stand_for(entry: MakeEntry) -> None:
    near = Nearest([entry("where is order <order_number>?")])
    assert [one.text for one in near.of("where is my order")] == ["where is order 100200300?"]
    assert near.of("where is order 100200300") == []
