"""The deterministic reader: which intents explain every word of an utterance, and with which slot values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from slotcache.domain.schema import Domain, Intent
from slotcache.errors import Abstain
from slotcache.parsing.lexicon import FILLER, Sense, Span
from slotcache.parsing.normalise import Token

MAX_READINGS: Final = 256
"""Combinations of ambiguous phrases that are tried for one frame; a more ambiguous utterance abstains."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One combination of concepts and slot values that evokes an intent."""

    intent: str
    elements: tuple[tuple[Sense, ...], ...]
    implied: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand an utterance.

    Attributes:
        intent: The intent.
        slots: Slot values as they go into the key.
        abstain: Why the reading cannot stand, None when it can.
        detail: Names the words or slots behind `abstain`.
        evoked: Number of frame elements matched; the more, the more specific.
        merged: Whether a value was merged into another one.
        heard: Number of slot values said, not defaulted; of two readings of one intent the fuller one stands.
        ignored: Slots whose values were heard and dropped.
    """

    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    abstain: Abstain | None = None
    detail: tuple[str, ...] = ()
    evoked: int = 0
    merged: bool = False
    heard: int = 0
    ignored: tuple[str, ...] = ()


class Reader:
    """Matches the frames of a domain's intents against the senses of the phrases that cover an utterance."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._frames: dict[Sense, list[Frame]] = {}
        self._carried = {name: frozenset((*domain.carries, *intent.carries)) for name, intent in domain.intents.items()}
        self._everywhere = frozenset(name for name, slot in domain.slots.items() if slot.everywhere)
        self._vocabulary: dict[str, frozenset[Sense]] = {}
        for name, intent in domain.intents.items():
            frames = [frame for text in intent.frames for frame in _frames(name, text)]
            self._vocabulary[name] = frozenset(sense for f in frames for element in f.elements for sense in element)
            for frame in frames:
                for sense in frame.elements[0]:
                    self._frames.setdefault(sense, []).append(frame)

    def read(self, cover: Sequence[Span]) -> list[Reading]:
        """All readings, the ones that stand first, the most specific first.

        A reading that explains every phrase comes before one that does not, whatever else it explains.
        """
        present = {sense for span in cover for sense in span.senses}
        present |= {Sense("slot", sense.name, "*") for sense in present if sense.kind == "slot"}
        readings: dict[tuple[str, tuple[tuple[str, str], ...], Abstain | None], Reading] = {}
        for frame in self._evoked(present):
            named = {sense for element in frame.elements for sense in element}
            for reading in self._apply(frame, cover, named):
                key = (reading.intent, tuple(sorted(reading.slots.items())), reading.abstain)
                known = readings.get(key)
                if known is None or _rank(reading) < _rank(known):
                    readings[key] = reading
        return sorted(readings.values(), key=_rank)

    def read_as(self, intent: str, cover: Sequence[Span]) -> list[Reading]:
        """Readings of a cover as one intent that no frame evoked; its own vocabulary must still explain every phrase."""
        named = self._vocabulary.get(intent, frozenset())
        found = self._apply(Frame(intent, (), ()), cover, named)
        return sorted(found, key=_rank)

    def _evoked(self, present: Collection[Sense]) -> Iterator[Frame]:
        """Frames whose every element is there in some sense."""
        done: set[int] = set()
        for sense in present:
            for frame in self._frames.get(sense, ()):
                if id(frame) not in done and all(any(s in present for s in element) for element in frame.elements):
                    done.add(id(frame))
                    yield frame

    def _apply(self, frame: Frame, cover: Sequence[Span], named: Collection[Sense]) -> Iterator[Reading]:
        """Readings of a cover by one frame: one for each choice among the senses that the intent can place."""
        intent = self._domain.intents[frame.intent]
        choices: list[tuple[Sense, ...]] = []
        unexplained: list[str] = []
        for span in cover:
            fitting = tuple(sense for sense in span.senses if self._fits(sense, intent, frame.intent, named))
            if fitting:
                choices.append(fitting)
            else:
                unexplained.append(_printed(span.senses[0]))
        if unexplained:
            yield Reading(frame.intent, abstain=Abstain.RESIDUE, detail=tuple(unexplained), evoked=len(frame.elements))
        elif prod(map(len, choices)) > MAX_READINGS:
            yield Reading(frame.intent, abstain=Abstain.AMBIGUOUS, evoked=len(frame.elements))
        else:
            for senses in product(*choices):
                if all(any(_is(sense, s) for s in senses for sense in element) for element in frame.elements):
                    yield self._reading(frame, intent, senses, named)

    def _fits(self, sense: Sense, intent: Intent, name: str, named: Collection[Sense]) -> bool:
        if sense.kind == "concept":
            return sense in named or sense.name in self._carried[name]
        if sense.kind == "slot":
            return (
                sense.name in intent.slots
                or sense.name in intent.ignore
                or sense.name in self._everywhere
                or sense in named
                or Sense("slot", sense.name, "*") in named
            )
        return True

    def _reading(self, frame: Frame, intent: Intent, senses: Sequence[Sense], named: Collection[Sense]) -> Reading:
        heard: dict[str, set[str]] = {}
        for sense in senses:
            if sense.kind == "slot":
                heard.setdefault(sense.name, set()).add(sense.value)
        for name, value in frame.implied:
            heard.setdefault(name, set()).add(value)
        consumed = {sense.name for sense in named if sense.kind == "slot"} - set(intent.slots)
        slots, merged, problem, detail = self._slots(intent, heard, consumed)
        return Reading(
            intent=frame.intent,
            slots=slots,
            abstain=problem,
            detail=detail,
            evoked=len(frame.elements),
            merged=merged,
            heard=sum(name in slots for name in heard),
            ignored=tuple(sorted(name for name in heard if name in intent.ignore)),
        )

    def _slots(
        self, intent: Intent, heard: Mapping[str, set[str]], consumed: set[str]
    ) -> tuple[dict[str, str], bool, Abstain | None, tuple[str, ...]]:
        slots: dict[str, str] = {}
        merged = False
        for name, given in heard.items():
            if name in intent.ignore or name in consumed:
                # Two values of one kind have roles (the red one for the green one), and dropping them would swap them.
                if len(given) > 1 and name in intent.ignore:
                    return slots, merged, Abstain.CONFLICT, tuple(f"{name}={value}" for value in sorted(given))
                continue
            if name not in intent.slots and name not in self._everywhere:
                return slots, merged, Abstain.RESIDUE, (f"{name}={'|'.join(sorted(given))}",)
            use = intent.slots.get(name)
            kept = _strongest(given, self._domain.slots[name].weak)
            if use is not None:
                mapped = {use.merge.get(value, value) for value in kept}
                merged |= mapped != kept
                kept = mapped & set(use.only) if use.only else mapped
                if not kept:
                    continue
                if use.values and not kept <= set(use.values):
                    return (
                        slots,
                        merged,
                        Abstain.RESIDUE,
                        tuple(f"{name}={value}" for value in sorted(kept - set(use.values))),
                    )
            if len(kept) > 1:
                return slots, merged, Abstain.CONFLICT, tuple(f"{name}={value}" for value in sorted(kept))
            slots[name] = next(iter(kept))
        for name, use in intent.slots.items():
            if use is None or name in slots:
                continue
            if use.default is not None:
                slots[name] = use.default
            elif use.required:
                return slots, merged, Abstain.INCOMPLETE, (name,)
        return slots, merged, None, ()


def _strongest(given: set[str], weak: Sequence[str]) -> set[str]:
    """Values that stand: weak ones yield to all others, and among themselves in the order the domain lists them."""
    strong = given - set(weak)
    return strong or {min(given, key=list(weak).index)}


def absorb_trailing(
    cover: Sequence[Span], tokens: Sequence[Token], facet: str, trailing: Collection[str], conjunctions: Collection[str]
) -> list[Span]:
    """Turn a facet that only continues the question before it into a filler.

    In "how many books can I borrow" the second facet (can I) is part of the first question (how many); in "how many are
    there and can I borrow one" it is a question of its own.
    """
    settled: list[Span] = []
    asked: Span | None = None
    for span in sorted(cover, key=lambda span: span.start):
        values = {sense.value for sense in span.senses if sense.kind == "slot" and sense.name == facet}
        if values and values <= set(trailing) and asked is not None:
            between = tokens[asked.end : span.start]
            joined = any(token.norm in conjunctions for token in between)
            if not joined and tokens[span.start].clause == tokens[asked.start].clause:
                settled.append(Span(span.start, span.end, (FILLER,), span.used))
                continue
        if values and not values <= set(trailing):
            asked = span
        settled.append(span)
    return settled


def _rank(reading: Reading) -> tuple[bool, int, int, int, str]:
    missing = len(reading.detail) if reading.abstain is Abstain.RESIDUE else 0
    return (reading.abstain is not None, missing, -reading.evoked, -reading.heard, reading.intent)


def _frames(intent: str, text: str) -> Iterator[Frame]:
    evoked, _, implied = text.partition("->")
    elements = tuple(tuple(_sense(option) for option in element.split("|")) for element in evoked.split())
    pairs = tuple((slot, value) for slot, _, value in (item.partition("=") for item in implied.split()))
    yield Frame(intent, elements, pairs)


def _is(wanted: Sense, sense: Sense) -> bool:
    return wanted == sense or (wanted.value == "*" and wanted.kind == sense.kind and wanted.name == sense.name)


def _printed(sense: Sense) -> str:
    return f"{sense.name}={sense.value}" if sense.kind == "slot" else sense.name


def _sense(text: str) -> Sense:
    slot, equals, value = text.partition("=")
    return Sense("slot", slot, value) if equals else Sense("concept", text)
