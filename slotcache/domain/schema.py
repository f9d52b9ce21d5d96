"""What a domain file may say, as pydantic models.

A domain is data: intents, the slots that matter to each, how values are said, which words never matter and which
always do. Nothing here knows a particular business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from slotcache.domain.patterns import references
from slotcache.parsing.types import Owner

SlotType = Literal[
    "closed", "duration", "money", "date", "count", "percent", "ordinal", "time", "measure", "currency", "reference"
]
"""`closed` slots list their values; every other type is read by the quantity grammar and printed canonically."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Phrases = Annotated[
    list[str], BeforeValidator(lambda value: [str(item) for item in value] if isinstance(value, list) else value)
]


_LISTED: Final = 24
"""Most names that a message lists."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Slot(_Model):
    """One dimension of meaning, shared by all intents.

    Attributes:
        about: What the slot means, for people.
        type: `closed` or a quantity type.
        values: For closed slots: value -> phrases that say it.
        patterns: For typed slots: phrases with the `<type>` placeholder.
        weak: Values that yield to any other value said in the same utterance.
        trailing: Values that belong to the question of another value when they follow it in the same clause
            ("how many ... can I ...").
        insistent: Values that count also where their single word stands inside a longer phrase.
        equal: Value -> values that it may be merged into without loss, so that such an answer may be kept for others:
            an intent that merges them asks for the same either way.
        live: Values that ask for present state; a key that holds one is never shared.
        droppable: Values that an intent may drop by `ignore` or `only`; empty means all. The others often change an
            answer, so they stay in the key even where an intent ignores the slot.
        everywhere: Whether the slot belongs to every key in which it is said, without being listed per intent.
        protects: The protected class its words belong to, if any.
    """

    about: str = ""
    type: SlotType = "closed"
    values: dict[Name, Phrases] = {}
    patterns: Phrases = []
    weak: list[Name] = []
    trailing: list[Name] = []
    insistent: list[Name] = []
    equal: dict[Name, list[Name]] = {}
    live: list[Name] = []
    droppable: list[Name] = []
    everywhere: bool = False
    protects: Name | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Slot:
        if self.type == "closed":
            if self.patterns:
                raise ValueError("a closed slot has 'values', not 'patterns'")
            named = {*self.weak, *self.trailing, *self.insistent, *self.live, *self.droppable}
            equal = {value for values in self.equal.values() for value in values}
            unknown = {*named, *self.equal, *equal} - set(self.values)
            if unknown:
                lists = "weak, trailing, insistent, equal, live or droppable"
                raise ValueError(f"{lists} values {sorted(unknown)} are not among the values")
        else:
            if self.values:
                raise ValueError(f"a {self.type} slot has 'patterns', not 'values'")
            if any(f"<{self.type}>" not in pattern for pattern in self.patterns):
                raise ValueError(f"every pattern of a {self.type} slot must contain <{self.type}>")
        return self


class IntentSlot(_Model):
    """How one slot takes part in one intent.

    Attributes:
        values: Values that make sense here; empty means all. Another one abstains; of the facet, it stands for itself.
        only: Values that matter here; empty means all. Another value is heard and dropped: it cannot change the answer.
        default: Value when none is said; without one the slot is then absent from the key.
        merge: Values that mean the same here, mapped to the one that stands in the key.
        required: Whether the intent abstains when nothing is said.
    """

    values: list[Name] = []
    only: list[Name] = []
    default: Name | None = None
    merge: dict[Name, Name] = {}
    required: bool = False


class Intent(_Model):
    """One kind of question.

    Attributes:
        about: What is asked, for people.
        owner: Who may share its answers.
        owner_when: `slot=value` -> owner, to narrow the owner for some values.
        frames: Combinations of concepts (and `slot=value`) that evoke the intent. Elements are separated by spaces,
            `a|b` means either; `-> slot=value` sets a value that the words imply.
        carries: Concepts that may accompany the frame without changing what is asked.
        slots: The slots that matter to the answer.
        ignore: Slots that never change this answer; their words are accounted for and dropped. Quantities and slots
            that protect a class are never dropped: they stay in the key.
        irrelevant: Protected classes that never change this answer.
        ttl: Seconds that an answer lives; needed for live state (`never`) to be cached at all.
        outside: Whether what evokes it is not the domain's to answer (small talk, "are you a robot") and ends as out of
            scope. It keeps such questions from being read as the domain's own that share their words.
    """

    about: str = ""
    owner: Owner = Owner.SHARED
    owner_when: dict[str, Owner] = {}
    frames: Phrases
    carries: list[Name] = []
    slots: dict[Name, IntentSlot | None] = {}
    ignore: list[Name] = []
    irrelevant: list[Name] = []
    ttl: float | None = Field(default=None, gt=0)
    outside: bool = False


class Domain(_Model):
    """Everything that can be asked, and how it is said.

    Attributes:
        name: Name of the domain.
        extends: Name of a shipped base (`english`), whose concepts, slots and word lists are included.
        concepts: Name -> phrases that mean the same to this domain.
        slots: Name -> slot.
        intents: Name -> intent.
        carries: Concepts that never change what is asked, in any intent.
        courtesies: Fillers that are mere politeness; only they are left out of a verbatim key.
        fillers: Phrases that never change an answer: greetings, politeness, hesitation.
        function_words: Words that carry grammar only.
        protected: Class -> words that can turn an answer.
        irrelevant: Protected classes that turn no answer when only politeness names them ("need to know").
        rewrites: Spellings -> the words they stand for, applied before anything is read.
        personal: Kind of personal data -> regular expression over the text as typed.
        follow_ups: Phrases that, at the start of an utterance, need an earlier turn; with ` $` behind them, only when
            nothing else is said.
        conjunctions: Words that join two questions.
        subordinators: Words of the facet that also open a subordinate clause ("do I need it when collecting").
        relatives: Words of the facet that only describe, behind something else that is asked ("shoes which I wore").
        embedding: Words behind which a subordinator asks all the same ("can I choose when it comes").
        indirect: Words that, behind an embedding word, say a value of the facet ("I wonder whether it ships").
        openers: Weak values of the facet that open a question of their own behind a conjunction.
        facet: The slot that says what is asked (whether, how, when, ...); two of its values are two questions.
    """

    name: Name
    extends: Name | None = None
    concepts: dict[Name, Phrases] = {}
    slots: dict[Name, Slot] = {}
    intents: dict[Name, Intent] = {}
    carries: list[Name] = []
    courtesies: Phrases = []
    fillers: Phrases = []
    function_words: Phrases = []
    protected: dict[Name, Phrases] = {}
    irrelevant: list[Name] = []
    rewrites: dict[str, str] = {}
    personal: dict[Name, str] = {}
    follow_ups: Phrases = []
    conjunctions: Phrases = []
    subordinators: Phrases = []
    relatives: Phrases = []
    embedding: Phrases = []
    indirect: dict[str, Name] = {}
    openers: list[Name] = []
    facet: Name = "aspect"

    @model_validator(mode="after")
    def _references(self) -> Domain:
        problems = [*self._unknown_references(), *self._bad_expressions()]
        if problems:
            raise ValueError("; ".join(problems[:12]))
        return self

    def _unknown_references(self) -> list[str]:
        problems = []
        known = set(self.concepts)
        for where, patterns in self._patterns():
            for pattern in patterns:
                unknown = references(pattern) - known
                if unknown:
                    problems.append(f"{where}: {pattern!r} names unknown concepts {sorted(unknown)}")
        problems += [f"irrelevant names an unknown class {n!r}" for n in self.irrelevant if n not in self.protected]
        problems += [f"carries names an unknown concept {n!r}" for n in self.carries if n not in self.concepts]
        for name, intent in self.intents.items():
            problems += [f"intents.{name}: {text}" for text in self._intent_problems(intent)]
        return problems

    def _intent_problems(self, intent: Intent) -> list[str]:
        problems = [f"carries names an unknown concept {c!r}" for c in intent.carries if c not in self.concepts]
        problems += [
            f"slot {s!r} is not defined{_near(s, self.slots)}"
            for s in (*intent.slots, *intent.ignore)
            if s not in self.slots
        ]
        problems += [f"protected class {c!r} is not defined" for c in intent.irrelevant if c not in self.protected]
        for slot, use in intent.slots.items():
            if use is None or slot not in self.slots or self.slots[slot].type != "closed":
                continue
            named = {*use.values, *use.only, *use.merge, *use.merge.values(), *([use.default] if use.default else [])}
            has = self.slots[slot].values
            problems += [f"slot {slot!r} has no value {v!r}{_near(v, has)}" for v in sorted(named - set(has))]
        for condition in intent.owner_when:
            problems += self._value_problems(condition)
        for frame in intent.frames:
            evoked, _, implied = frame.partition("->")
            for element in (*evoked.replace("|", " ").split(), *implied.split()):
                if "=" in element:
                    problems += self._value_problems(element)
                elif element not in self.concepts:
                    problems.append(
                        f"frame {frame!r} names an unknown concept {element!r}{_near(element, self.concepts)}"
                    )
        return problems

    def _value_problems(self, text: str) -> list[str]:
        slot, _, value = text.partition("=")
        if slot not in self.slots:
            return [f"{text!r}: slot {slot!r} is not defined{_near(slot, self.slots)}"]
        if self.slots[slot].type == "closed" and value not in self.slots[slot].values and value != "*":
            return [f"{text!r}: slot {slot!r} has no value {value!r}{_near(value, self.slots[slot].values)}"]
        return []

    def _bad_expressions(self) -> list[str]:
        problems = []
        for kind, expression in self.personal.items():
            try:
                re.compile(expression)
            except re.error as error:
                problems.append(f"personal.{kind} is not a regular expression: {error}")
        return problems

    def _patterns(self) -> list[tuple[str, list[str]]]:
        found = [(f"concepts.{name}", phrases) for name, phrases in self.concepts.items()]
        found += [("courtesies", self.courtesies), ("fillers", self.fillers), ("follow_ups", self.follow_ups)]
        for name, slot in self.slots.items():
            found += [(f"slots.{name}.{value}", phrases) for value, phrases in slot.values.items()]
            found.append((f"slots.{name}", slot.patterns))
        return found


def _near(name: str, known: Iterable[str]) -> str:
    """What may have been meant by a name that is not known, or which names are where none is like it."""
    names = list(known)
    near = get_close_matches(name, names, n=2)
    if near:
        return f", did you mean {' or '.join(map(repr, near))}?"
    return f" (known are {', '.join(names)})" if 0 < len(names) <= _LISTED else ""
