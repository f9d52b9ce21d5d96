"""The cache key: an intent and its slot values, printed as one canonical string.

>>> Key.of("cancel_order", {"timing": "post_shipment", "aspect": "eligibility"})
Key('cancel_order(aspect=eligibility, timing=post_shipment)')
>>> Key.parse('return_item(window=P14D)') == Key.of("return_item", {"window": "P14D"})
True
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from slotcache.errors import KeyFormatError

VERBATIM: Final = "verbatim"
"""Reserved intent name of keys made from canonical text instead of a reading."""

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_BARE = re.compile(r"[A-Za-z0-9_.:+\-]+\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """An exact question: intent plus slot values, sorted by slot name.

    Two keys are equal exactly when they print alike; values that are not plain words are printed as JSON
    strings, so no value can imitate the punctuation around it. Lone surrogates are refused: two of them side by
    side would print like the one character that they encode.
    """

    intent: str
    slots: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if any(_SURROGATE.search(value) for _, value in self.slots):
            raise KeyFormatError("a slot value holds a lone surrogate, which is not text")
        if self.intent == VERBATIM:
            if len(self.slots) != 1 or self.slots[0][0] != "text":
                raise KeyFormatError("a verbatim key carries one slot, 'text'; use Key.verbatim(text)")
            return
        names = [name for name, _ in self.slots]
        for name in (self.intent, *names):
            if not _NAME.match(name):
                raise KeyFormatError(f"{name!r} is not a name: use lower-case letters, digits and _")
        if names != sorted(set(names)):
            raise KeyFormatError("slots must be sorted by name and not repeat; use Key.of(intent, slots)")

    @classmethod
    def of(cls, intent: str, slots: Mapping[str, str] | None = None) -> Key:
        """Make a key from slots in any order.

        Raises:
            KeyFormatError: a name is malformed, or the intent is the reserved `verbatim`.
        """
        if intent == VERBATIM:
            raise KeyFormatError("'verbatim' is reserved; use Key.verbatim(text)")
        return cls(intent, tuple(sorted((slots or {}).items())))

    @classmethod
    def verbatim(cls, text: str) -> Key:
        """Make the key of a question that is known only by its own canonical text."""
        return cls(VERBATIM, (("text", text),))

    @classmethod
    def parse(cls, printed: str) -> Key:
        """Read a key back from its printed form.

        Raises:
            KeyFormatError: the text is not exactly what some key prints.
        """
        head, paren, rest = printed.partition("(")
        if not paren or not rest.endswith(")"):
            raise KeyFormatError(f"not a key: {printed!r}; expected intent(slot=value, ...)")
        body = rest[:-1]
        key = cls.verbatim(_json_string(body, printed)) if head == VERBATIM else cls(head, tuple(_slots(body, printed)))
        if str(key) != printed:
            raise KeyFormatError(f"not canonical: {printed!r}; this key prints {str(key)!r}")
        return key

    @property
    def is_verbatim(self) -> bool:
        """Whether the key is the question's own text rather than a reading of it."""
        return self.intent == VERBATIM

    def as_dict(self) -> dict[str, str]:
        """Slot values by slot name."""
        return dict(self.slots)

    def __str__(self) -> str:
        if self.intent == VERBATIM:
            return f"{VERBATIM}({_quoted(self.slots[0][1])})"
        return f"{self.intent}({', '.join(f'{name}={_printed(value)}' for name, value in self.slots)})"

    def __repr__(self) -> str:
        return f"Key({str(self)!r})"


def _quoted(value: str) -> str:
    return json.dumps(value)


def _printed(value: str) -> str:
    return value if _BARE.match(value) else _quoted(value)


def _json_string(text: str, printed: str) -> str:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise KeyFormatError(f"not a key: {printed!r}; {error}") from None
    if not isinstance(value, str):
        raise KeyFormatError(f"not a key: {printed!r}; expected a JSON string")
    return value


def _slots(body: str, printed: str) -> Iterator[tuple[str, str]]:
    decoder = json.JSONDecoder()
    at = 0
    while at < len(body):
        name, equals, rest = body[at:].partition("=")
        if not equals:
            raise KeyFormatError(f"not a key: {printed!r}; expected slot=value at {body[at:]!r}")
        at += len(name) + 1
        if rest.startswith('"'):
            try:
                value, used = decoder.raw_decode(rest)
            except ValueError as error:
                raise KeyFormatError(f"not a key: {printed!r}; {error}") from None
        else:
            value = rest.partition(",")[0]
            used = len(value)
        at += used
        yield name, value
        if at < len(body):
            if body[at : at + 2] != ", " or at + 2 >= len(body):
                raise KeyFormatError(f"not a key: {printed!r}; expected ', ' after a value")
            at += 2
