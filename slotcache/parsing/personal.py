"""Finds personal data in a text: whatever makes a question or an answer one customer's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

REFERENCE: Final = "reference"
"""The kind whose value may stand in a customer's key: order, invoice and tracking numbers."""


class Personal(NamedTuple):
    """One piece of personal data at `start` (inclusive) to `end` (exclusive) of the text."""

    kind: str
    start: int
    end: int
    value: str


class PersonalFinder:
    """Searches a text with the expressions of a domain. A group named `value` narrows what is found."""

    def __init__(self, expressions: Mapping[str, str]) -> None:
        self._expressions = [(kind, re.compile(expression)) for kind, expression in expressions.items()]

    def find(self, text: str) -> list[Personal]:
        """Personal data in the text, in order, none overlapping; kinds listed first in the domain win."""
        found: list[Personal] = []
        for kind, expression in self._expressions:
            for match in expression.finditer(text):
                group = "value" if "value" in expression.groupindex and match.group("value") is not None else 0
                start, end = match.span(group)
                if end > start and not any(start < p.end and p.start < end for p in found):
                    found.append(Personal(kind, start, end, match.group(group)))
        return sorted(found, key=lambda p: p.start)


def canonical_reference(value: str) -> str:
    """One spelling per number: upper case, letters and digits only.

    >>> canonical_reference("#ord-10234")
    'ORD10234'
    """
    return re.sub(r"[^0-9A-Z]", "", value.upper())
