"""The pattern language of domain files.

A pattern is a phrase; its elements are separated by spaces.

    word            the word itself, after normalisation ("two-day" is written as people write it)
    word~           any inflection of the word
    {concept}       any phrase of that concept
    <duration>      a typed quantity (see `slotcache.parsing.quantities`)
    a|b|{c}         any of these
    element?        may be absent
    +element        follows the element before it directly, with nothing passed over
    ^               (first) the phrase must open a clause, after greetings and fillers

Function words and one-word fillers that stand between two elements of a pattern are passed over, so that
`after {ship}` also reads "after it has already been shipped". Protected words never are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, product
from typing import Final

from slotcache.domain.inflection import inflections

Label = str
"""A word, `{concept}`, `<type>`, or `ADJACENT`."""

ADJACENT: Final = "+"
"""Label of the step that allows nothing between the elements around it."""

TYPES: Final = frozenset(
    ("duration", "money", "date", "count", "percent", "ordinal", "time", "measure", "currency", "reference")
)
"""Names that may stand between angle brackets."""

_CONCEPT: Final = re.compile(r"\{[a-z][a-z0-9_]*\}\Z")
_SPECIAL: Final = re.compile(r"[|?~{}<>]|\A\+.")

Words = Callable[[str], tuple[str, ...]]
"""The normaliser: text -> normalised words."""


class PatternError(ValueError):
    """A pattern that cannot be read; the message says why and what to write instead."""


Way = tuple[tuple[Label, ...], ...]
"""One way to fill an element: a sequence of steps, each a tuple of alternative labels; empty where it may be absent."""


def elements(pattern: str, words: Words) -> list[list[Way]]:
    """The elements of a pattern, each with all ways to fill it.

    An alternative of several normalised words ("two-day" is `2 day`) is a way of its own.

    Raises:
        PatternError: the pattern is empty or malformed.
    """
    written = pattern.split()
    if not written:
        raise PatternError("a pattern needs at least one word")
    found: list[list[Way]] = []
    for special, group in groupby(written, key=lambda element: bool(_SPECIAL.search(element))):
        run = list(group)
        found += [_choices(element, words) for element in run] if special else _plain(run, words)
    if not any(way for ways in found for way in ways):
        raise PatternError(f"nothing in {pattern!r} is left after normalisation")
    return found


def expand(pattern: str, words: Words) -> Iterator[Way]:
    """Expand a pattern into every sequence of steps that it stands for.

    Raises:
        PatternError: the pattern is empty or malformed.
    """
    for sequence in product(*elements(pattern, words)):
        steps = tuple(step for part in sequence for step in part)
        if steps:
            yield steps


def _plain(run: Sequence[str], words: Words) -> list[list[Way]]:
    """Steps of plain words, which are normalised together: "twenty one" is 21, "the us" a country."""
    return [[((word,),)] for word in words(" ".join(run))]


def _choices(element: str, words: Words) -> list[Way]:
    """Ways to fill one element; each way is a sequence of (alternatives per step)."""
    optional = element.endswith("?")
    adjacent = element.startswith(ADJACENT)
    body = element.removeprefix(ADJACENT).removesuffix("?")
    single: list[Label] = []
    ways: list[Way] = []
    for alternative in body.split("|"):
        if not alternative:
            raise PatternError(f"{element!r} has an empty alternative")
        if alternative[0] in "{<":
            close = {"{": "}", "<": ">"}[alternative[0]]
            if not alternative.endswith(close):
                raise PatternError(f"{alternative!r} lacks its closing {close!r}")
            if close == "}" and not _CONCEPT.match(alternative):
                raise PatternError(f"{alternative!r}: a name is made of lower-case letters, digits and _")
            if close == ">" and alternative[1:-1] not in TYPES:
                raise PatternError(f"{alternative!r} is no quantity; write one of {', '.join(sorted(TYPES))}")
            single.append(alternative)
        elif alternative.endswith("~"):
            base = words(alternative[:-1])
            if not base:
                raise PatternError(f"{alternative!r}: put ~ behind a word")
            if len(base) == 1:
                single.extend(inflections(base[0]))
            else:
                ways.append((*((word,) for word in base[:-1]), inflections(base[-1])))
        else:
            normal = words(alternative)
            if len(normal) == 1:
                single.append(normal[0])
            elif normal:
                ways.append(tuple((word,) for word in normal))
    if single:
        ways.append((tuple(dict.fromkeys(single)),))
    if adjacent:
        ways = [((ADJACENT,), *way) for way in ways]
    if optional:
        ways.append(())
    return ways


def references(pattern: str) -> set[str]:
    """Names of the concepts that a pattern refers to."""
    found = set()
    for element in pattern.split():
        for alternative in element.removeprefix(ADJACENT).removesuffix("?").split("|"):
            if alternative.startswith("{") and alternative.endswith("}"):
                found.add(alternative[1:-1])
    return found
