"""The deterministic reader: which intents explain every word of an utterance, and with which slot values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Final

from slotcache.domain.schema import Domain, Intent
from slotcache.errors import Abstain
from slotcache.parsing.lexicon import FILLER, Sense, Span
from slotcache.parsing.normalise import Token

MAX_READINGS: Final = 96
"""Combinations of ambiguous phrases that are tried."""


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
        unexplained: Concepts that the intent does not account for.
    """

    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    abstain: Abstain | None = None
    detail: tuple[str, ...] = ()
    evoked: int = 0
    merged: bool = False
    heard: int = 0
    ignored: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()


class Reader:
    """Matches the frames of a domain's intents against the senses of the phrases that cover an utterance."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._frames: dict[Sense, list[Frame]] = {}
        self._carried = {name: frozenset((*domain.carries, *intent.carries)) for name, intent in domain.intents.items()}
        self._everywhere = frozenset(name for name, slot in domain.slots.items() if slot.everywhere)
        for name, intent in domain.intents.items():
            for text in intent.frames:
                for frame in _frames(name, text):
                    for sense in frame.elements[0]:
                        self._frames.setdefault(sense, []).append(frame)

    def read(self, cover: Sequence[Span]) -> list[Reading]:
        """All readings, the ones that stand first, the most specific first.

        A reading that explains every phrase comes before one that does not, whatever else it explains.
        """
        readings: dict[tuple[str, tuple[tuple[str, str], ...], Abstain | None], Reading] = {}
        for senses in islice(product(*(span.senses for span in cover)), MAX_READINGS):
            for reading in self._readings(senses):
                key = (reading.intent, tuple(sorted(reading.slots.items())), reading.abstain)
                known = readings.get(key)
                if known is None or reading.evoked > known.evoked:
                    readings[key] = reading
        return sorted(readings.values(), key=_rank)

    def _readings(self, senses: Sequence[Sense]) -> Iterator[Reading]:
        concepts = {sense for sense in senses if sense.kind == "concept"}
        values: dict[str, set[str]] = {}
        for sense in senses:
            if sense.kind == "slot":
                values.setdefault(sense.name, set()).add(sense.value)
        present = concepts | {Sense("slot", name, value) for name, given in values.items() for value in given}
        present |= {Sense("slot", name, "*") for name in values}
        done: set[int] = set()
        for sense in present:
            for frame in self._frames.get(sense, ()):
                if id(frame) not in done and all(any(s in present for s in element) for element in frame.elements):
                    done.add(id(frame))
                    yield self._apply(frame, concepts, values)

    def _apply(self, frame: Frame, concepts: set[Sense], values: Mapping[str, set[str]]) -> Reading:
        intent = self._domain.intents[frame.intent]
        named = {sense for element in frame.elements for sense in element}
        unexplained = sorted(
            sense.name for sense in concepts if sense not in named and sense.name not in self._carried[frame.intent]
        )
        consumed = {sense.name for sense in named if sense.kind == "slot"} - set(intent.slots)
        heard = {name: set(given) for name, given in values.items()}
        for name, value in frame.implied:
            heard.setdefault(name, set()).add(value)
        slots, merged, problem, detail = self._slots(intent, heard, consumed)
        if unexplained and problem is None:
            problem, detail = Abstain.RESIDUE, tuple(unexplained)
        return Reading(
            intent=frame.intent,
            slots=slots,
            abstain=problem,
            detail=detail,
            evoked=len(frame.elements),
            merged=merged,
            heard=sum(name in slots for name in heard),
            ignored=tuple(sorted(name for name in heard if name in intent.ignore)),
            unexplained=tuple(unexplained),
        )

    def _slots(
        self, intent: Intent, heard: Mapping[str, set[str]], consumed: set[str]
    ) -> tuple[dict[str, str], bool, Abstain | None, tuple[str, ...]]:
        slots: dict[str, str] = {}
        merged = False
        for name, given in heard.items():
            if name in intent.ignore or name in consumed:
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
    return (reading.abstain is not None, len(reading.unexplained), -reading.evoked, -reading.heard, reading.intent)


def _frames(intent: str, text: str) -> Iterator[Frame]:
    evoked, _, implied = text.partition("->")
    elements = tuple(tuple(_sense(option) for option in element.split("|")) for element in evoked.split())
    pairs = tuple((slot, value) for slot, _, value in (item.partition("=") for item in implied.split()))
    yield Frame(intent, elements, pairs)


def _sense(text: str) -> Sense:
    slot, equals, value = text.partition("=")
    return Sense("slot", slot, value) if equals else Sense("concept", text)
