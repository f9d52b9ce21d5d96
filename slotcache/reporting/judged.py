"""One question whose right reading is known, beside how it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse

OUT_OF_SCOPE: Final = "out_of_scope"
"""Intent of questions that no intent answers."""


class Source(StrEnum):
    """Where the right reading comes from."""

    LABELS = "labels"
    REVIEWED = "reviewed"
    CROSS_VALIDATION = "cross_validation"


class Verdict(StrEnum):
    """What came of one question; three errors of very different cost are kept apart."""

    RIGHT = "right"
    ABSTAINED = "abstained"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Gold:
    """What a question asks.

    Attributes:
        intent: The intent, or `out_of_scope`.
        slots: Slot values by slot name; None when only the intent was labelled.
    """

    intent: str
    slots: Mapping[str, str] | None = None

    @property
    def key(self) -> str | None:
        """The printed key; None for out of scope, and when only the intent is known."""
        if self.intent == OUT_OF_SCOPE or self.slots is None:
            return None
        return str(Key.of(self.intent, self.slots))

    @property
    def name(self) -> str:
        """The key, or what is known of it."""
        return self.key or self.intent


@dataclass(frozen=True, slots=True)
class Read:
    """How a question was read.

    Attributes:
        key: The printed intent key; None when the reading abstained.
        intent: The intent read; None when the reading abstained.
        slots: Slot values as they stand in the key.
        owner: Who may share the answers.
        abstain: Why there is no key.
        confidence: Probability in [0, 1] that the reading is right.
        leaning: The intent that a reading which abstained considered first; equal to the intent otherwise.
        model: Version of the model that read it.
    """

    key: str | None
    intent: str | None
    slots: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    abstain: str | None = None
    confidence: float = 0.0
    leaning: str | None = None
    model: str = ""

    @classmethod
    def of(cls, parse: Parse) -> Read:
        """The reading of a parse; a verbatim key is no intent key."""
        accepted = parse.key is not None and not parse.key.is_verbatim
        leaning = parse.intent or (parse.candidates[0][0] if parse.candidates else None)
        return cls(
            key=str(parse.key) if accepted else None,
            intent=parse.intent if accepted else None,
            slots=dict(parse.slots) if accepted else {},
            owner=parse.owner.value if accepted and parse.owner is not None else None,
            abstain=parse.abstain.value if parse.abstain is not None else None,
            confidence=parse.confidence,
            leaning=leaning,
            model=parse.model,
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """One labelled question.

    Attributes:
        text: The question, without personal data when it comes from the record.
        gold: What it asks.
        read: How it was read.
        source: Where the label comes from.
        traffic: How often it was asked; 1 when nobody counted.
        harmful: Whether a wrong answer would have been served.
    """

    text: str
    gold: Gold
    read: Read
    source: Source
    traffic: float = 1.0
    harmful: bool = False

    @property
    def in_scope(self) -> bool:
        """Whether the domain has an intent for it."""
        return self.gold.intent != OUT_OF_SCOPE

    @property
    def verdict(self) -> Verdict:
        """Right, abstained or wrong."""
        return verdict(self.gold, self.read)


def verdict(gold: Gold, read: Read) -> Verdict:
    """What came of a question; turning an out-of-scope question away is right."""
    if read.key is None:
        return Verdict.ABSTAINED if gold.intent != OUT_OF_SCOPE else Verdict.RIGHT
    if read.intent != gold.intent:
        return Verdict.WRONG
    if gold.slots is not None and dict(gold.slots) != dict(read.slots):
        return Verdict.WRONG
    return Verdict.RIGHT


class Answers:
    """Which answers stand under which keys, so that confusing two keys that share one costs nothing."""

    def __init__(self) -> None:
        self._held: dict[str, set[str]] = {}

    def add(self, key: str, digest: str) -> None:
        """Note that an answer, named by its digest, stands under a key."""
        self._held.setdefault(key, set()).add(digest)

    def __len__(self) -> int:
        return len(self._held)

    def same(self, first: str, second: str) -> bool:
        """Whether two keys are known to have one and the same answer."""
        a, b = self._held.get(first), self._held.get(second)
        return a is not None and len(a) == 1 and a == b

    def harmful(self, gold: Gold, read: Read) -> bool:
        """Whether a wrong answer would be served: a wrong key was accepted, and its answers differ or are unknown."""
        if verdict(gold, read) is not Verdict.WRONG or read.owner == Owner.NEVER:
            return False
        return gold.key is None or not self.same(gold.key, str(read.key))
