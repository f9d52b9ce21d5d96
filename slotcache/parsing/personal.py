"""Finds personal data in a text: whatever makes a question or an answer one customer's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

REFERENCE: Final = "reference"
"""The kind whose value may stand in a customer's key: order, invoice and tracking numbers."""

_HINT: Final = re.compile(r"(?:\(\?[a-z]+\))?\s*\(\?#if (?P<hint>[^)]*)\)")


class Personal(NamedTuple):
    """One piece of personal data at `start` (inclusive) to `end` (exclusive) of the text."""

    kind: str
    start: int
    end: int
    value: str


class PersonalFinder:
    """Searches a text with the expressions of a domain.

    Args:
        expressions: Kind -> regular expression. A group whose name starts with `value` narrows what is found. An
            opening comment `(?#if ...)` is a cheaper expression without brackets: a text that lacks it is not searched.
    """

    def __init__(self, expressions: Mapping[str, str]) -> None:
        self._searches = [_Search(kind, expression) for kind, expression in expressions.items()]

    def find(self, text: str) -> list[Personal]:
        """Personal data in the text, in order, none overlapping; kinds listed first in the domain win."""
        found: list[Personal] = []
        for search in self._searches:
            for start, end in search.spans(text):
                if not any(start < p.end and p.start < end for p in found):
                    found.append(Personal(search.kind, start, end, text[start:end]))
        return sorted(found, key=lambda p: p.start)


class _Search:
    """One kind of personal data, ready to be searched for."""

    def __init__(self, kind: str, expression: str) -> None:
        self.kind = kind
        self._expression = re.compile(expression)
        self._groups = tuple(name for name in self._expression.groupindex if name.startswith("value"))
        hint = _HINT.match(expression)
        self._hint = re.compile(hint["hint"], self._expression.flags & re.IGNORECASE) if hint else None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the text holds this kind, without spaces around."""
        if self._hint is not None and self._hint.search(text) is None:
            return
        for match in self._expression.finditer(text):
            start, end = next((match.span(name) for name in self._groups if match[name] is not None), match.span())
            value = text[start:end]
            start += len(value) - len(value.lstrip())
            end -= len(value) - len(value.rstrip(" ,-"))
            if end > start:
                yield start, end


def canonical_reference(value: str) -> str:
    """One spelling per number: upper case, letters and digits only.

    >>> canonical_reference("#ord-10234")
    'ORD10234'
    """
    return re.sub(r"[^0-9A-Z]", "", value.upper())
