"""Takes personal data out of a text and leaves placeholders that say what stood there.

A placeholder can be filled with a stand-in of its kind (`readable`), so that a redacted question is still read as the
customer's was: the same intent and slots, and for a number its stand-in instead of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from slotcache.key import Key
from slotcache.parsing.personal import REFERENCE, Personal, PersonalFinder, canonical_reference

_NAMES: Final = {REFERENCE: "order_number"}
"""Placeholders whose name differs from their kind."""

_STAND_INS: Final = {
    "order_number": "100200300",
    "email": "someone@example.com",
    "phone": "+44 20 7946 0000",
    "iban": "GB33 BUKB 2020 1555 5555 55",
    "card": "4000 0000 0000 0002",
    "birth_date": "1 January 1970",
    "address": "1 Example Street",
    "postcode": "EX4 1AA",
    "name": "Mr Example",
    "account": "example_1",
    "number": "100200300",
}
_PLACEHOLDER: Final = re.compile(rf"<({'|'.join(_STAND_INS)})(?:_([2-9]|[1-9]\d))?>")

# What the expressions of the domain let through and still may be somebody's: long numbers, and whatever holds an @.
_LEFT_OVER: Final = re.compile(r"(?P<email>\S*@\S*)|(?<![\w<])(?P<number>\+?\d(?:[\d ().-]{3,20})\d)(?![\w>])")
_NAME: Final = "name"
_FAMILY_NAME: Final = re.compile(
    r"(?:\s+(?:(?:van|von|de|del|da|der|den|di|la|le|bin|al|el)\s+){0,3}(?!I['’])[^\W\d_a-z][\w'’-]+){1,3}"
)
_LONGEST: Final = 2_000
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without personal data.

    Attributes:
        text: The text with placeholders.
        kinds: Kinds that were replaced.
        references: Canonical reference as it stood in the key -> canonical stand-in.
        words: Lower-case words of what was replaced; they must not be kept elsewhere either.
        values: What was replaced, in order: its kind and the value itself, in one spelling.
    """

    text: str
    kinds: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()

    def hides(self, word: str) -> bool:
        """Whether a word of the utterance belongs to what was replaced."""
        return not self.words.isdisjoint(_WORD.findall(word.lower()))

    def key(self, key: Key | None, normal: str) -> Key | None:
        """The key without personal data: references become stand-ins, verbatim text becomes the redacted one."""
        if key is None or not self.kinds:
            return key
        if key.is_verbatim:
            return Key.verbatim(normal)
        return Key(key.intent, tuple((name, self.references.get(value, value)) for name, value in key.slots))


class Redactor:
    """Replaces personal data.

    Args:
        expressions: Kind -> regular expression, as a domain's `personal` section has them.
    """

    def __init__(self, expressions: Mapping[str, str]) -> None:
        self._finder = PersonalFinder(expressions)

    def __call__(self, text: str) -> Redacted:
        """The text with placeholders, and what they stand for."""
        text = _SURROGATE.sub("\ufffd", text[:_LONGEST])
        numbers: dict[tuple[str, str], int] = {}
        kinds: list[str] = []
        references: dict[str, str] = {}
        words: set[str] = set()
        values: list[tuple[str, str]] = []
        parts = []
        at = 0
        for piece in _whole_names(self._finder.find(text), text):
            name = _NAMES.get(piece.kind, piece.kind)
            value = canonical_reference(piece.value) if piece.kind == REFERENCE else piece.value
            # The same number twice is one number; two numbers stay two.
            known = numbers.setdefault((name, value), 1 + sum(kind == name for kind, _ in numbers))
            placeholder = f"<{name}>" if known == 1 else f"<{name}_{known}>"
            if piece.kind == REFERENCE:
                references[value] = canonical_reference(readable(placeholder))
            # The sign belongs to the number, whether or not the expression that found it says so.
            parts += [text[at : piece.start].removesuffix("#"), placeholder]
            kinds.append(piece.kind)
            values.append((piece.kind, _one_spelling(value)))
            words.update(_WORD.findall(piece.value.lower()))
            at = piece.end
        known_gone = "".join([*parts, text[at:]])
        redacted = _LEFT_OVER.sub(lambda found: f"<{found.lastgroup}>", known_gone)
        for found in _LEFT_OVER.finditer(known_gone):
            kinds.append(str(found.lastgroup))
            values.append((str(found.lastgroup), _one_spelling(found[0])))
            words.update(_WORD.findall(found[0].lower()))
        return Redacted(redacted, tuple(dict.fromkeys(kinds)), references, frozenset(words), tuple(values))


def _whole_names(pieces: list[Personal], text: str) -> Iterator[Personal]:
    """The same pieces, with the family name where the expressions of the domain stop at the first one."""
    for piece, following in zip(pieces, [*(piece.start for piece in pieces[1:]), len(text)], strict=False):
        more = _FAMILY_NAME.match(text, piece.end, following) if piece.kind == _NAME else None
        yield piece if more is None else piece._replace(end=more.end(), value=text[piece.start : more.end()])


def readable(text: str) -> str:
    """A redacted text with stand-ins for its placeholders, for a parser to read.

    >>> readable("where is order <order_number>?")
    'where is order 100200300?'
    """
    return _PLACEHOLDER.sub(lambda found: _stand_in(found[1], int(found[2] or 1)), text)


def _one_spelling(value: str) -> str:
    return " ".join(value.casefold().split())


def _stand_in(name: str, number: int) -> str:
    value = _STAND_INS[name]
    return value if number == 1 or not value[-1].isdigit() else f"{value[:-2]}{number:02d}"
