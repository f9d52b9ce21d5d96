"""Does a question stand on its own, or does it mean something that was said before it?"""

from __future__ import annotations

import re
from typing import Final

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
