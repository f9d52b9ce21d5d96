"""The deterministic reader: which intents explain every word of an utterance, and with which slot values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Final, Self

from slotcache.domain.schema import Domain, Intent, IntentSlot
from slotcache.errors import Abstain
from slotcache.parsing.guard import NOTHING, Account, account
from slotcache.parsing.lexicon import Lexicon, Sense, Span
from slotcache.parsing.normalise import Token
from slotcache.parsing.questions import absorb_trailing, indirect, question_words, without_subordinate

MAX_READINGS: Final = 256
"""Combinations of ambiguous phrases that are tried for one frame; a more ambiguous utterance abstains."""


COUNT: Final = "count"
"""Slot that holds numbers which no other slot holds."""

NUMBER: Final = "number"
"""Protected class that an intent declares irrelevant where its phrases name the number ("merge my two accounts")."""

_ROLELESS: Final = frozenset({"closed", "count", "ordinal", "reference"})
"""Types whose values say nothing of their role; an intent takes them only where it lists the slot. A length of time, a
date or a sum says what it is, and where an intent has no use for it, it still splits the key."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One combination of concepts and slot values that evokes an intent."""

    intent: str
    elements: tuple[tuple[Sense, ...], ...]
    implied: tuple[tuple[str, str], ...]
    needed: frozenset[Sense] = frozenset()
    choices: tuple[frozenset[Sense], ...] = ()

    @classmethod
    def of(cls, intent: str, elements: tuple[tuple[Sense, ...], ...], implied: tuple[tuple[str, str], ...]) -> Self:
        """A frame whose elements are sorted into those that must be there and those of which one must."""
        needed = frozenset(element[0] for element in elements if len(element) == 1)
        choices = tuple(frozenset(element) for element in elements if len(element) > 1)
        return cls(intent, elements, implied, needed, choices)

    def evoked_by(self, present: AbstractSet[Sense]) -> bool:
        """Whether every element is there in some sense."""
        return self.needed <= present and not any(present.isdisjoint(choice) for choice in self.choices)


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
        heard: Number of slot values said, not defaulted or implied; of two readings of one intent the fuller one
            stands.
        stray: Quantities that the intent has no slot for; of two readings the one that has a use for them stands.
        ignored: Slots whose values were heard and dropped.
        cover: The phrases by which this intent explains the utterance.
        account: What those phrases leave unexplained.
    """

    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    abstain: Abstain | None = None
    detail: tuple[str, ...] = ()
    evoked: int = 0
    merged: bool = False
    heard: int = 0
    stray: int = 0
    ignored: tuple[str, ...] = ()
    cover: tuple[Span, ...] = ()
    account: Account = NOTHING

    @property
    def pieces(self) -> int:
        """Number of meaningful phrases that explain the utterance; fewer and longer ones explain it better."""
        return sum(not span.is_filler and bool(span.used) for span in self.cover)


class Reader:
    """Explains an utterance by each intent that its words evoke, with that intent's own phrases."""

    def __init__(self, domain: Domain, lexicon: Lexicon) -> None:
        self._domain = domain
        self._lexicon = lexicon
        facet = domain.slots.get(domain.facet)
        self._trailing = frozenset(facet.trailing) if facet else frozenset()
        self._passive = frozenset(facet.weak) if facet else frozenset()
        self._insistent = {(name, value) for name, slot in domain.slots.items() for value in slot.insistent}
        self._embedding = frozenset(domain.embedding)
        self._frames: dict[Sense, list[Frame]] = {}
        self._carried = {name: frozenset((*domain.carries, *intent.carries)) for name, intent in domain.intents.items()}
        self._everywhere = frozenset(name for name, slot in domain.slots.items() if slot.everywhere)
        self._quantities = frozenset(name for name, slot in domain.slots.items() if slot.type not in _ROLELESS)
        self._vocabulary: dict[str, frozenset[Sense]] = {}
        every: list[Frame] = []
        for name, intent in domain.intents.items():
            frames = [frame for text in intent.frames for frame in _frames(name, text)]
            self._vocabulary[name] = frozenset(sense for f in frames for element in f.elements for sense in element)
            every += frames
        uses = Counter(sense for frame in every for element in frame.elements for sense in element)
        for frame in every:
            # Frames are found by their rarest element, so that few are looked at in vain.
            for sense in min(frame.elements, key=lambda element: sum(uses[sense] for sense in element)):
                self._frames.setdefault(sense, []).append(frame)

    def read(self, tokens: Sequence[Token], spans: Sequence[Span]) -> list[Reading]:
        """All readings, the ones that stand first, the most specific first.

        Args:
            tokens: The normalised utterance, or a sentence of it.
            spans: Every phrase found in it.
        """
        present = {sense for span in spans for sense in span.senses}
        present |= {Sense("slot", sense.name, "*") for sense in present if sense.kind == "slot"}
        frames: dict[str, list[Frame]] = {}
        for frame in self._evoked(present):
            frames.setdefault(frame.intent, []).append(frame)
        found = [reading for intent in frames for reading in self._explain(intent, frames[intent], tokens, spans)]
        return sorted(_distinct(found), key=_rank)

    def read_as(self, intent: str, tokens: Sequence[Token], spans: Sequence[Span]) -> list[Reading]:
        """Readings as one intent that no frame evoked; its own vocabulary must still explain every word."""
        return sorted(_distinct(self._explain(intent, [Frame(intent, (), ())], tokens, spans)), key=_rank)

    def _explain(
        self, name: str, frames: Sequence[Frame], tokens: Sequence[Token], spans: Sequence[Span]
    ) -> Iterator[Reading]:
        """Readings by one intent: its own phrases cover the utterance, then each frame is tried on the cover."""
        intent = self._domain.intents[name]
        chosen = self._lexicon.cover(tokens, self._usable(name, intent, spans))
        accounted = account(tokens, chosen, self._lexicon.skippable, self._lexicon.protected)
        loose = [w for kind, words in accounted.loose.items() if kind not in intent.irrelevant for w in words]
        evoked = max(len(frame.elements) for frame in frames)
        if accounted.residue:
            yield Reading(name, abstain=Abstain.RESIDUE, detail=accounted.residue, evoked=evoked, account=accounted)
        elif loose:
            yield Reading(name, abstain=Abstain.PROTECTED, detail=tuple(loose), evoked=evoked, account=accounted)
        else:
            settled = self._settled(chosen, tokens, spans)
            for frame in frames:
                named = {sense for element in frame.elements for sense in element} or self._vocabulary[name]
                for reading in self._apply(frame, settled, named):
                    explained = replace(reading, cover=tuple(chosen), account=accounted)
                    yield explained if NUMBER in intent.irrelevant else self._numbered(explained, tokens)

    def _numbered(self, reading: Reading, tokens: Sequence[Token]) -> Reading:
        """Keep the numbers that phrases name themselves in the key: "pay in 3" and "pay in 4" are two questions."""
        said = sorted(
            at
            for span in reading.cover
            if not any(s.kind == "slot" and self._domain.slots[s.name].type != "closed" for s in span.senses)
            for at in span.used
            if tokens[at].norm[:1].isdigit()
        )
        if not said or reading.abstain is not None:
            return reading
        if COUNT not in self._domain.slots:
            return replace(reading, abstain=Abstain.PROTECTED, detail=tuple(tokens[at].norm for at in said))
        numbers = [tokens[at].norm for at in said]
        given = [reading.slots[COUNT]] if COUNT in reading.slots else []
        return replace(reading, slots={**reading.slots, COUNT: "+".join([*given, *numbers])})

    def _usable(self, name: str, intent: Intent, spans: Sequence[Span]) -> list[Span]:
        """The phrases that an intent can place, with only the senses that it can place."""
        vocabulary = self._vocabulary[name]
        usable = []
        for span in spans:
            senses = tuple(sense for sense in span.senses if self._fits(sense, intent, name, vocabulary))
            if senses:
                usable.append(span if senses == span.senses else Span(span.start, span.end, senses, span.used))
        return usable

    def _settled(self, chosen: Sequence[Span], tokens: Sequence[Token], spans: Sequence[Span]) -> list[Span]:
        """The cover with continued facets absorbed, and with the values that count wherever they are said.

        "can we ..." asks whether, and is also about us.
        """
        silent = {at for span in chosen if span.is_filler for at in range(span.start, span.end)}
        settled = absorb_trailing(
            without_subordinate(
                chosen,
                tokens,
                self._domain.facet,
                self._domain.subordinators,
                self._domain.relatives,
                passive=self._passive - set(self._domain.openers),
                embedding=self._embedding,
            ),
            tokens,
            self._domain.facet,
            self._trailing,
            passive=self._passive,
            conjunctions=self._domain.conjunctions,
            opening=question_words(
                spans,
                tokens,
                self._domain.facet,
                silent=silent,
                passive=self._passive,
                besides=self._domain.subordinators,
            ),
        )
        settled += [
            Span(span.start, span.end, (Sense("slot", self._domain.facet, value),), frozenset())
            for span, value in indirect(chosen, tokens, self._domain.indirect, self._embedding)
        ]
        for span in spans:
            senses = tuple(sense for sense in span.senses if self._counts_anywhere(sense, span, silent))
            if senses:
                settled.append(Span(span.start, span.end, senses, frozenset()))
        return settled

    def _counts_anywhere(self, sense: Sense, span: Span, silent: Collection[int]) -> bool:
        """Whether a value counts wherever it is said, also inside a phrase that was chosen for what else it means."""
        if sense.kind != "slot":
            return False
        insists = (sense.name, sense.value) in self._insistent and len(span.used) == 1 and span.start not in silent
        return insists or sense.name in self._everywhere

    def _droppable(self, name: str, values: Collection[str]) -> bool:
        """Whether values may be left out of a key where the intent ignores them.

        Quantities and the values of protecting slots never are: where an intent ignores them they split the key, which
        costs a miss at worst.
        """
        slot = self._domain.slots[name]
        if slot.type != "closed" or slot.protects is not None:
            return False
        return not slot.droppable or set(values) <= set(slot.droppable)

    def _evoked(self, present: AbstractSet[Sense]) -> Iterator[Frame]:
        """Frames whose every element is there in some sense."""
        done: set[int] = set()
        for sense in present:
            for frame in self._frames.get(sense, ()):
                if id(frame) not in done and frame.evoked_by(present):
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
                choices.append(self._without_weak(fitting))
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

    def _without_weak(self, senses: tuple[Sense, ...]) -> tuple[Sense, ...]:
        """Senses of one phrase without the weak values of a slot that it says strongly too ("can you ...")."""
        strong = {s.name for s in senses if s.kind == "slot" and s.value not in self._domain.slots[s.name].weak}
        return tuple(
            s
            for s in senses
            if s.kind != "slot" or s.name not in strong or s.value not in self._domain.slots[s.name].weak
        )

    def _fits(self, sense: Sense, intent: Intent, name: str, named: Collection[Sense]) -> bool:
        if sense.kind == "concept":
            return sense in named or sense.name in self._carried[name]
        if sense.kind == "slot":
            return (
                sense.name in intent.slots
                or sense.name in intent.ignore
                or sense.name in self._everywhere
                or sense.name in self._quantities
                or sense in named
                or Sense("slot", sense.name, "*") in named
            )
        return True

    def _reading(self, frame: Frame, intent: Intent, senses: Sequence[Sense], named: Collection[Sense]) -> Reading:
        heard: dict[str, set[str]] = {}
        for sense in senses:
            if sense.kind == "slot":
                heard.setdefault(sense.name, set()).add(sense.value)
        said = {name: frozenset(values) for name, values in heard.items()}
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
            heard=sum(name in slots and _was_said(slots[name], said[name], intent.slots.get(name)) for name in said),
            stray=len(set(slots) - {*intent.slots, *intent.ignore, *self._everywhere}),
            ignored=tuple(sorted(name for name in heard if name in intent.ignore)),
        )

    def _slots(
        self, intent: Intent, heard: Mapping[str, set[str]], consumed: set[str]
    ) -> tuple[dict[str, str], bool, Abstain | None, tuple[str, ...]]:
        slots: dict[str, str] = {}
        merged = False
        for name, given in heard.items():
            if name in consumed and name not in intent.ignore:
                continue
            if name in intent.ignore and self._droppable(name, given):
                # Two values of one kind have roles (the red one for the green one), and dropping them would swap them.
                if len(given) > 1:
                    return slots, merged, Abstain.CONFLICT, _told(name, given)
                continue
            if not (name in intent.slots or name in intent.ignore or name in self._everywhere | self._quantities):
                return slots, merged, Abstain.RESIDUE, _told(name, given)
            use = intent.slots.get(name)
            kept = _strongest(given, self._domain.slots[name].weak)
            if use is not None:
                equal = self._domain.slots[name].equal
                mapped = {use.merge.get(value, value) for value in kept}
                merged |= any(use.merge.get(value, value) not in (value, *equal.get(value, ())) for value in kept)
                kept = {v for v in mapped if not use.only or v in use.only or not self._droppable(name, {v})}
                if len(mapped - kept) > 1:
                    return slots, merged, Abstain.CONFLICT, _told(name, mapped - kept)
                if not kept:
                    continue
                # A facet that the intent does not list is still asked exactly; it stands for itself.
                if use.values and name != self._domain.facet and not kept <= set(use.values):
                    return slots, merged, Abstain.RESIDUE, _told(name, kept - set(use.values))
            if len(kept) > 1:
                return slots, merged, Abstain.CONFLICT, _told(name, kept)
            slots[name] = next(iter(kept))
        for name, use in intent.slots.items():
            if use is None or name in slots:
                continue
            if use.default is not None:
                slots[name] = use.default
            elif use.required:
                return slots, merged, Abstain.INCOMPLETE, (name,)
        return slots, merged, None, ()


def _was_said(value: str, said: Collection[str], use: IntentSlot | None) -> bool:
    """Whether a value of the key, or one that the intent merges into it, was among those said."""
    merge = use.merge if use is not None else {}
    return value in said or any(merge.get(given) == value for given in said)


def _told(name: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for value in sorted(values))


def _strongest(given: set[str], weak: Sequence[str]) -> set[str]:
    """Values that stand: weak ones yield to all others, and among themselves in the order the domain lists them."""
    strong = given - set(weak)
    return strong or {min(given, key=list(weak).index)}


def _distinct(readings: Iterable[Reading]) -> list[Reading]:
    """The best of those readings that would make the same key or abstain for the same reason."""
    best: dict[tuple[str, tuple[tuple[str, str], ...], Abstain | None], Reading] = {}
    for reading in readings:
        key = (reading.intent, tuple(sorted(reading.slots.items())), reading.abstain)
        if key not in best or _rank(reading) < _rank(best[key]):
            best[key] = reading
    return list(best.values())


def _rank(reading: Reading) -> tuple[object, ...]:
    """What sorts readings; of those that are equal otherwise the fuller one comes first, whatever order found them."""
    missing = len(reading.detail) if reading.abstain is Abstain.RESIDUE else 0
    told = (-reading.evoked, -reading.heard, reading.intent, -len(reading.slots), sorted(reading.slots.items()))
    return (reading.abstain is not None, missing, reading.stray, *told)


def _frames(intent: str, text: str) -> Iterator[Frame]:
    evoked, _, implied = text.partition("->")
    elements = tuple(tuple(_sense(option) for option in element.split("|")) for element in evoked.split())
    pairs = tuple((slot, value) for slot, _, value in (item.partition("=") for item in implied.split()))
    yield Frame.of(intent, elements, pairs)


def _is(wanted: Sense, sense: Sense) -> bool:
    return wanted == sense or (wanted.value == "*" and wanted.kind == sense.kind and wanted.name == sense.name)


def _printed(sense: Sense) -> str:
    return f"{sense.name}={sense.value}" if sense.kind == "slot" else sense.name


def _sense(text: str) -> Sense:
    slot, equals, value = text.partition("=")
    return Sense("slot", slot, value) if equals else Sense("concept", text)
