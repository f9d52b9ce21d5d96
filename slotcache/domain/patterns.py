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


def expand(pattern: str, words: Words) -> Iterator[tuple[tuple[Label, ...], ...]]:
    """Expand a pattern into sequences of elements, each element a tuple of alternative labels.

    An alternative of several normalised words ("two-day" is `2 day`) makes a sequence of its own.

    Raises:
        PatternError: the pattern is empty or malformed.
    """
    elements = pattern.split()
    if not elements:
        raise PatternError("a pattern needs at least one word")
    choices: list[list[tuple[tuple[Label, ...], ...]]] = []
    for special, group in groupby(elements, key=lambda element: bool(_SPECIAL.search(element))):
        run = list(group)
        choices += [_choices(element, words) for element in run] if special else _plain(run, words)
    emitted = False
    for sequence in product(*choices):
        labels = tuple(step for part in sequence for step in part)
        if labels:
            emitted = True
            yield labels
    if not emitted:
        raise PatternError(f"nothing in {pattern!r} is left after normalisation")


def _plain(run: Sequence[str], words: Words) -> list[list[tuple[tuple[Label, ...], ...]]]:
    """Steps of plain words, which are normalised together: "twenty one" is 21, "the us" a country."""
    return [[((word,),)] for word in words(" ".join(run))]


def _choices(element: str, words: Words) -> list[tuple[tuple[Label, ...], ...]]:
    """Ways to fill one element; each way is a sequence of (alternatives per step)."""
    optional = element.endswith("?")
    adjacent = element.startswith(ADJACENT)
    body = element.removeprefix(ADJACENT).removesuffix("?")
    single: list[Label] = []
    ways: list[tuple[tuple[Label, ...], ...]] = []
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
