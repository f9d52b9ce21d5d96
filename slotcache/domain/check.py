"""Finds what is valid in a domain but cannot be meant: phrases that say two things, parts that nothing reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from slotcache.domain.patterns import PatternError, Words, expand, references
from slotcache.domain.schema import Domain, IntentSlot


class Kind(StrEnum):
    """What is wrong."""

    SAID_ALIKE = "said_alike"
    UNREACHABLE_VALUE = "unreachable_value"
    UNUSED_SLOT = "unused_slot"
    UNUSED_CONCEPT = "unused_concept"
    UNSAYABLE = "unsayable"
    OPTIONAL_NEGATION = "optional_negation"
    SAME_FRAME = "same_frame"
    BAD_PATTERN = "bad_pattern"
    NO_EXAMPLES = "no_examples"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at.

    Attributes:
        kind: What is wrong.
        path: The part of the domain, for example `("slots", "timing", "values", "pre_shipment")`.
        message: What is wrong and what to do about it.
    """

    kind: Kind
    path: tuple[str, ...]
    message: str


def check(
    domain: Domain, words: Words, *, base: Domain | None = None, examples: Collection[str] | None = None
) -> list[Finding]:
    """Everything worth looking at in a valid domain.

    Args:
        domain: The domain.
        words: The normaliser, so that phrases are compared as they are read.
        base: The domain that it extends, whose unused parts are nobody's mistake.
        examples: Intents that have labelled examples; None when examples are not looked at.
    """
    findings = [*_malformed(domain, words), *_alike(domain, words), *_both_ways(domain)]
    findings += [*_values(domain), *_unused(domain), *_frames(domain)]
    findings = [f for f in findings if f.kind not in _UNUSED or not _inherited(f.path, base)]
    if examples is not None:
        findings += [
            Finding(Kind.NO_EXAMPLES, ("intents", name), "no labelled example; add some before training")
            for name, intent in domain.intents.items()
            if name not in examples and not intent.outside
        ]
    return findings


_UNUSED = (Kind.UNREACHABLE_VALUE, Kind.UNUSED_SLOT, Kind.UNUSED_CONCEPT)


def _inherited(path: tuple[str, ...], base: Domain | None) -> bool:
    if base is None:
        return False
    section, name, *value = path
    if section == "concepts":
        return name in base.concepts
    return name in base.slots and (not value or value[-1] in base.slots[name].values)


def _malformed(domain: Domain, words: Words) -> Iterator[Finding]:
    """Phrases that cannot be read; a parser of this domain does not start."""
    for path, phrases in _phrases(domain):
        for phrase in phrases:
            try:
                list(expand(phrase.removeprefix("^ "), words))
            except PatternError as error:
                yield Finding(Kind.BAD_PATTERN, path, str(error))


def _phrases(domain: Domain) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    yield ("fillers",), domain.fillers
    for name, phrases in domain.concepts.items():
        yield ("concepts", name), phrases
    for name, slot in domain.slots.items():
        yield ("slots", name, "patterns"), slot.patterns
        for value, phrases in slot.values.items():
            yield ("slots", name, "values", value), phrases


def _expanded(phrase: str, words: Words) -> list[tuple[tuple[str, ...], ...]]:
    try:
        return list(expand(phrase.removeprefix("^ "), words))
    except PatternError:
        return []  # told by `_malformed`


def _alike(domain: Domain, words: Words) -> Iterator[Finding]:
    """Two values of one slot that one phrase says: every question with it abstains as a conflict."""
    for name, slot in domain.slots.items():
        said: dict[tuple[tuple[str, ...], ...], str] = {}
        for value, phrases in slot.values.items():
            for phrase in phrases:
                path = ("slots", name, "values", value)
                for sequence in _expanded(phrase, words):
                    other = said.setdefault(sequence, value)
                    if other != value:
                        message = f"{phrase!r} also says {other!r}; keep it under one of the two"
                        yield Finding(Kind.SAID_ALIKE, path, message)
                        break


_TURNING: Final = ("negation", "exception", "condition")
"""Protected classes whose words turn a phrase around."""


def _both_ways(domain: Domain) -> Iterator[Finding]:
    """Phrases that say the same with a negation and without it ("have not? a printer")."""
    negation = frozenset(domain.protected.get(_TURNING[0], ()))
    turning = frozenset(word for name in _TURNING for word in domain.protected.get(name, ()))
    for path, phrases in _phrases(domain):
        for phrase in phrases:
            elements = phrase.split()
            kept = (element.split("|") for element in elements if not element.endswith("?"))
            if any(turning.issuperset(options) for options in kept):
                continue
            # At the end it asks for either answer: "has it shipped or not".
            for element in elements[:-1]:
                options = element.removesuffix("?").split("|")
                if element.endswith("?") and not negation.isdisjoint(options):
                    message = f"{phrase!r} says the same with and without {element}; make two phrases of it"
                    yield Finding(Kind.OPTIONAL_NEGATION, path, message)


def _values(domain: Domain) -> Iterator[Finding]:
    """Values that no question can put into a key."""
    for name, slot in domain.slots.items():
        uses = [intent.slots[name] for intent in domain.intents.values() if name in intent.slots]
        ignored = any(name in intent.ignore for intent in domain.intents.values())
        implied = {pair for intent in domain.intents.values() for frame in intent.frames for pair in _implied(frame)}
        for value, phrases in slot.values.items():
            path = ("slots", name, "values", value)
            defaults = any(use is not None and use.default == value for use in uses)
            if not phrases and not defaults and f"{name}={value}" not in implied:
                yield Finding(Kind.UNSAYABLE, path, "no phrase says this value; add one, or remove the value")
            elif uses and not slot.everywhere and not ignored and not any(_admits(use, value) for use in uses):
                message = "no intent accepts this value; every question with it abstains"
                yield Finding(Kind.UNREACHABLE_VALUE, path, message)


def _admits(use: IntentSlot | None, value: str) -> bool:
    return use is None or not use.values or value in use.values or value in use.merge


def _unused(domain: Domain) -> Iterator[Finding]:
    named = {slot for intent in domain.intents.values() for slot in (*intent.slots, *intent.ignore)}
    framed = {part for intent in domain.intents.values() for frame in intent.frames for part in _elements(frame)}
    for name, slot in domain.slots.items():
        evokes = any(part.startswith(f"{name}=") for part in framed)
        if name not in named and not slot.everywhere and not evokes:
            yield Finding(Kind.UNUSED_SLOT, ("slots", name), "no intent names this slot; questions with it abstain")
    carried = {*domain.carries, *(name for intent in domain.intents.values() for name in intent.carries)}
    referred = {name for _, phrases in _phrases(domain) for phrase in phrases for name in references(phrase)}
    for name, phrases in domain.concepts.items():
        if not phrases:
            yield Finding(Kind.UNSAYABLE, ("concepts", name), "no phrase says this concept; add one, or remove it")
        elif name not in framed | carried | referred:
            yield Finding(Kind.UNUSED_CONCEPT, ("concepts", name), "no frame, intent or phrase refers to this concept")


def _frames(domain: Domain) -> Iterator[Finding]:
    """Two intents evoked by the same words: every question with them is ambiguous."""
    by_frame: dict[frozenset[str], set[str]] = defaultdict(set)
    for name, intent in domain.intents.items():
        for frame in intent.frames:
            evoked = frozenset(frame.partition("->")[0].split())
            rivals = by_frame[evoked] - {name}
            if rivals:
                yield Finding(
                    Kind.SAME_FRAME,
                    ("intents", name, "frames"),
                    f"{frame!r} also evokes {', '.join(sorted(rivals))}; make one of them more specific",
                )
            by_frame[evoked].add(name)


def _elements(frame: str) -> list[str]:
    return frame.partition("->")[0].replace("|", " ").split()


def _implied(frame: str) -> list[str]:
    return frame.partition("->")[2].split()
