from __future__ import annotations

import pytest

from slotcache.conversation import points_back


@pytest.mark.parametrize(
    "question",
    [
        "can i return it?",
        "do you ship there",
        "and for a dress?",
        "is that free",
        "what about the other one",
        "so when do i get my money",
        "does it take long",
        "is there one there?",
        "",
        "how much is that, is it possible to get it?",
    ],
)
def test_conversation_question_points_back(question: str) -> None:
    assert points_back(question)


@pytest.mark.parametrize(
    "question",
    [
        "how do i cancel my order?",
        "what payment methods do you accept?",
        "how long does it take to get a refund?",
        "is there a fee for cancelling?",
        "Is it possible to change the delivery address?",
        "can you change my delivery date",
    ],
)
def test_conversation_question_stands_on_its_own(question: str) -> None:
    assert not points_back(question)


def test_conversation_points_back_by_the_words_of_another_language() -> None:
    assert points_back("kann ich das zurückgeben?", frozenset({"das"}))
