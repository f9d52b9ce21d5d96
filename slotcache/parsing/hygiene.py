"""Decides whether a text can be read at all. What cannot is never folded into something that can.

Accented Latin in any language is readable; whether it is the domain's language, the words decide. Letters that only
look plain (mathematical bold, full width, circled, small capitals), invisible characters and words of mixed scripts are
not.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from slotcache.errors import Abstain

MAX_CHARACTERS: Final = 2_000
"""Longer texts are chats or documents, not questions."""

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TYPED: Final = frozenset("‘’‚‛“”„‟′″‐‑‒–—−…•·¿¡«»\u00a0\u202f\u2009\u00b4¨™®©°€£¥₹¢§×№½¼¾→←➡")
"""Characters beyond ASCII that people type or that keyboards insert."""

_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
"""Zero-width joiner and variation selectors, which belong to emoji and to nothing else."""

_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_STYLED: Final = re.compile("[\u0250-\u02ff\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\U0001f130-\U0001f189]")
"""Phonetic, modifier and squared letters, which no one types by hand."""

_PICTURES: Final = re.compile(
    "[\u2190-\u21ff\u2300-\u245f\u2500-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001f12f\U0001f18a-\U0001faff]"
)
_WORD: Final = re.compile(r"[^\W\d_½¼¾]+")


def check(text: str) -> Abstain | None:
    """Return why a text cannot be read, or None when it can.

    >>> check("can I return this?") is None
    True
    >>> check("сan I return this?")  # the first letter is Cyrillic
    <Abstain.UNREADABLE: 'unreadable'>
    """
    if len(text) > MAX_CHARACTERS:
        return Abstain.TOO_LONG
    if _CONTROLS.search(text):
        return Abstain.UNREADABLE
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        if not _readable(composed):
            return Abstain.UNREADABLE
        if (foreign := _foreign(composed)) is not None:
            return foreign
    return None if text.strip() else Abstain.EMPTY


def _readable(text: str) -> bool:
    """Whether every character beyond ASCII is a letter, a sign or a pictogram that says what it looks like."""
    before = " "
    for character in text:
        if not (character.isascii() or character in _TYPED):
            if character in _JOINERS:
                # Between letters it would part a word invisibly.
                if not (_PICTURES.match(before) or before in _JOINERS or "\U0001f3fb" <= before <= "\U0001f3ff"):
                    return False
            elif not (_PICTURES.match(character) or _says_what_it_looks_like(character)):
                return False
        before = character
    return True


def _says_what_it_looks_like(character: str) -> bool:
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or _STYLED.match(character):
        return False
    if _LATIN.match(character) or category in ("Zs", "Sc"):
        return True
    # Marks that no letter has taken up belong to another script, or to nothing ("Zalgo").
    if category[0] == "M":
        return "COMBINING" not in unicodedata.name(character, "COMBINING")
    return unicodedata.normalize("NFKC", character) == character


def _foreign(text: str) -> Abstain | None:
    """Whether letters of other scripts stand in the text, and whether any stands in a word with Latin ones."""
    found = None
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        latin = sum(1 for letter in word if _LATIN.match(letter))
        if 0 < latin < len(word):
            return Abstain.UNREADABLE
        if latin == 0:
            found = Abstain.OTHER_LANGUAGE
    return found
