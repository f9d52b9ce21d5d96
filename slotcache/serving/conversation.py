"""What earlier turns have to do with the answer to the last one.

A cache that may answer a question without regard to the turns before it must know two things. *Reading:* does the
question stand on its own? The cache decides that itself (`slotcache.conversation`). *Filling:* did anything in the
history shape the model's answer? `clean` says no only when every earlier turn of the customer is greeting and
politeness, or a question that code accounts for word by word and that says nothing which the present question does not
say itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from slotcache.errors import Abstain
from slotcache.parsing.types import Owner, Parse
from slotcache.serving.requests import Turn


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
