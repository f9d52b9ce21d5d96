"""Noise that customers' keyboards add and that changes no meaning: slips, lost apostrophes, openers, punctuation."""

from __future__ import annotations

import random
import re
from typing import Final

_NEAR: Final = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo",
    "j": "hk", "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o", "q": "w", "r": "et",
    "s": "ad", "t": "ry", "u": "yi", "v": "cb", "w": "qe", "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip
_OPENERS: Final = (
    "hi",
    "hello",
    "hey",
    "hi there",
    "hey there",
    "good morning",
    "hello team",
    "quick question",
    "question",
)
_CLOSERS: Final = ("thanks", "thank you", "thx", "please", "cheers", "ty", "many thanks")
_WORD: Final = re.compile(r"[a-z]{5,}")
# Words one slip away from another that would be read as something else stay as they are.
_FIXED: Final = frozenset(
    {"after", "before", "first", "later", "never", "under", "above", "below", "within", "without"}
)


def noisy(text: str, chance: random.Random) -> str:
    """Return the text with at most a few harmless changes."""
    if chance.random() < 0.5:
        return text
    text = text.lower() if chance.random() < 0.5 else text
    if chance.random() < 0.3:
        text = text.replace("'", "").replace("’", "")
    if chance.random() < 0.3:
        text = text.rstrip("?.!")
    if chance.random() < 0.15:
        text = f"{chance.choice(_OPENERS)}{chance.choice((' ', ', ', '! '))}{text}"
    if chance.random() < 0.15:
        text = f"{text} {chance.choice(_CLOSERS)}"
    if chance.random() < 0.35:
        text = _slip(text, chance)
    return text


def _slip(text: str, chance: random.Random) -> str:
    words = [m for m in _WORD.finditer(text) if m.group() not in _FIXED]
    if not words:
        return text
    word = chance.choice(words)
    old = word.group()
    at = chance.randrange(1, len(old) - 1)
    kind = chance.randrange(4)
    if kind == 0:
        new = old[:at] + old[at + 1] + old[at] + old[at + 2 :]
    elif kind == 1:
        new = old[:at] + old[at + 1 :]
    elif kind == 2:
        new = old[:at] + old[at] + old[at:]
    else:
        new = old[:at] + chance.choice(_NEAR[old[at]]) + old[at + 1 :]
    return text[: word.start()] + new + text[word.end() :]
