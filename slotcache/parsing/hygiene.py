"""Decides whether a text can be read at all. What cannot is never folded into something that can."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from slotcache.errors import Abstain

MAX_CHARACTERS: Final = 2_000
"""Longer texts are chats or documents, not questions."""

_ALLOWED_CONTROLS: Final = frozenset("\t\n\r")
_JOINERS: Final = frozenset("\u200d\ufe0f\ufe0e")
"""Zero-width joiner and variation selectors, which ordinary emoji contain."""

_PLAIN: Final = frozenset("‘’‚‛“”„‟′″–—−…•·¿¡«»\u00a0\u202f\u2009™®©°€£¥₹¢§×№")
"""Typographic characters that people type or that keyboards insert."""

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def check(text: str) -> Abstain | None:
    """Return why a text cannot be read, or None when it can.

    >>> check("can I return this?") is None
    True
    >>> check("сan I return this?")  # the first letter is Cyrillic
    <Abstain.UNREADABLE: 'unreadable'>
    """
    if len(text) > MAX_CHARACTERS:
        return Abstain.TOO_LONG
    if text.isascii():
        if any(character < " " and character not in _ALLOWED_CONTROLS or character == "\x7f" for character in text):
            return Abstain.UNREADABLE
        return None if text.strip() else Abstain.EMPTY
    foreign = 0
    latin = bool(_LATIN.search(text))
    for character in text:
        verdict = _judge(character)
        if verdict == "bad":
            return Abstain.UNREADABLE
        foreign += verdict == "foreign"
    if foreign and latin:
        return Abstain.UNREADABLE
    if foreign:
        return Abstain.OTHER_LANGUAGE
    return None if text.strip() else Abstain.EMPTY


def _judge(character: str) -> str:
    if character.isascii():
        return "bad" if (character < " " and character not in _ALLOWED_CONTROLS) or character == "\x7f" else "plain"
    if character in _PLAIN or character in _JOINERS:
        return "plain"
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return "bad"
    if category[0] in "LMN":
        if _LATIN.match(character):
            return "plain"
        # Styled letters and digits (mathematical bold, full width, circled) look plain and are not.
        if unicodedata.normalize("NFKC", character) != character or category[0] == "M":
            return "bad"
        return "foreign"
    return "plain"
