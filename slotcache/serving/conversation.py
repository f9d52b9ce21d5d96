"""What earlier turns have to do with the last one.

A cache that may answer a question without regard to the turns before it must know two things. *Reading:* does the
question stand on its own? `points_back` finds the words with which it does not. *Filling:* did anything in the history
shape the model's answer? `clean` says no only when every earlier turn of the customer is greeting and politeness, or a
question that code accounts for word by word and that says nothing which the present question does not say itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Final

from slotcache.errors import Abstain
from slotcache.parsing.types import Owner, Parse
from slotcache.serving.requests import Turn

_POINTING = """
it its it's itself that those these this they them their theirs there then same other others another one ones he him his
she her hers both either neither else instead too also again still which former latter such
"""
POINTS_BACK: Final = frozenset(_POINTING.split())
"""English words that may stand for something said before."""

_CONTINUES: Final = frozenset(("and", "but", "or", "so", "then", "also", "yes", "no", "yeah", "yep", "nope", "because"))
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# "is there a fee", "how long does it take to get a refund", "is it possible to ...": these words stand for nothing.
_EMPTY_SUBJECT: Final = re.compile(
    r"\b(?:is|are|was|were|will|would)\s+there\b(?!\s*\W*$)"
    r"|\b(?:does|will|would|did|might|can|could)\s+it\s+(?:take|cost)\s+(?:\w+\s+){0,2}to\b"
    r"|\b(?:is|was|would|will)\s+it\s+(?:be\s+)?(?:possible|ok|okay|allowed|free|too\s+late)\s+to\b",
    re.IGNORECASE,
)


def points_back(question: str, words: frozenset[str] = POINTS_BACK) -> bool:
    """Whether a question may mean something that was said before.

    >>> points_back("can i return it?"), points_back("how long does it take to get a refund?")
    (True, False)
    """
    said = [word.lower().replace("’", "'") for word in _WORD.findall(_EMPTY_SUBJECT.sub(" ", question))]
    return not said or said[0] in _CONTINUES or not words.isdisjoint(said)


def history(turns: Iterable[Turn], opening: Collection[str]) -> tuple[Turn, ...]:
    """The turns that count: those after the ones with which every conversation opens, word for word."""
    kept = list(turns)
    while kept and kept[0].text in opening:
        del kept[0]
    return tuple(kept)


def clean(
    turns: Iterable[Turn],
    question: Parse,
    read: Callable[[str], Parse],
    *,
    personal: Callable[[str], bool],
    facet: str = "",
) -> bool:
    """Whether nothing in the history can have shaped an answer that others will read.

    Args:
        turns: The earlier turns.
        question: The reading of the last one.
        read: Reads an utterance.
        personal: Whether a text holds personal data.
        facet: The slot that says what is asked about, which carries nothing from one question to the next.
    """
    for turn in turns:
        if personal(turn.text):
            return False
        if turn.role == "user" and not _says_nothing_more(read(turn.text), question, facet):
            return False
    return True


def _says_nothing_more(earlier: Parse, question: Parse, facet: str) -> bool:
    if earlier.abstain is Abstain.EMPTY:
        return True
    if earlier.intent is None or earlier.owner is not Owner.SHARED or not earlier.fillable or earlier.fingerprint:
        return False
    return all(question.slots.get(name) == value for name, value in earlier.slots.items() if name != facet)
