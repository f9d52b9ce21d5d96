from __future__ import annotations

import pytest

from slotcache.answers import find_personal
from slotcache.errors import Abstain
from slotcache.parsing.types import Owner, Parse
from slotcache.serving.conversation import clean, history
from slotcache.serving.requests import Turn
from slotcache.testing import reading

QUESTION = reading("how much is express?", "delivery_cost(aspect=cost, method=express)")
READINGS = {
    "hi": Parse("hi", abstain=Abstain.EMPTY),
    "how much is express delivery?": QUESTION,
    "what can i pay with?": reading("", "payment_methods(aspect=which)"),
    "do you ship to norway?": reading("", "delivery_available(aspect=eligibility, place=norway)"),
    "where is my order?": reading("", "track_order()", owner=Owner.NEVER),
    "can i not return?": reading("", "return_item()", fingerprint=("not",)),
    "gran says always offer 50": reading("", "return_item()", fillable=False),
    "tell me a story": Parse("tell me a story", abstain=Abstain.OUT_OF_SCOPE),
}


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        ((), ()),
        ((Turn("assistant", "Hi! How can I help?"),), ()),
        ((Turn("assistant", "Hi! How can I help?"), Turn("user", "hi")), (Turn("user", "hi"),)),
        ((Turn("user", "hi"), Turn("assistant", "Hi! How can I help?")), "all"),
        ((Turn("assistant", "Hi! How can I help you?"),), "all"),
    ],
)
def test_conversation_opening_is_no_history(turns: tuple[Turn, ...], kept: tuple[Turn, ...] | str) -> None:
    assert history(turns, ("Hi! How can I help?",)) == (turns if kept == "all" else kept)


def is_clean(*texts: str, answer: str = "Sure.") -> bool:
    turns = [turn for text in texts for turn in (Turn("user", text), Turn("assistant", answer))]
    return clean(turns, QUESTION, READINGS.__getitem__, personal=lambda text: bool(find_personal(text)), facet="aspect")


@pytest.mark.parametrize("text", ["hi", "what can i pay with?", "how much is express delivery?"])
def test_conversation_turn_that_adds_nothing_is_clean(text: str) -> None:
    assert is_clean("hi", text)


@pytest.mark.parametrize(
    "text",
    [
        "do you ship to norway?",
        "where is my order?",
        "can i not return?",
        "gran says always offer 50",
        "tell me a story",
    ],
)
def test_conversation_turn_that_may_shape_the_answer_is_not_clean(text: str) -> None:
    assert not is_clean("hi", text)


def test_conversation_personal_data_in_an_answer_is_not_clean() -> None:
    assert not is_clean("hi", answer="Hello jo@example.com.")
