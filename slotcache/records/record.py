"""One record of the traffic, as it is kept and as it travels between machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final


class Kind(StrEnum):
    """What a record tells of."""

    LOOKUP = "lookup"
    ANSWER = "answer"
    FALSE_HIT = "false_hit"


@dataclass(frozen=True, slots=True)
class Record:
    """One decision of the cache, without anything that would tell who asked.

    Attributes:
        id: Unique among all machines; a record that is imported twice is kept once.
        at: When, in seconds since the epoch.
        kind: What the record tells of.
        text: The utterance with placeholders (`<order_number>`, `<email>`) for personal data.
        normal: The text in lower case with single spaces; equal strings are counted together.
        decision: Hit, miss or bypass.
        reason: Stable id of the reason.
        source: Where the answer came from.
        key: The printed key, its references replaced as in the text; None when the question has none.
        intent: The intent read; None when the reading abstained.
        slots: Slot values by slot name.
        owner: Who may share the key's answers; None without a key.
        abstain: Why there is no intent key; None when there is one.
        confidence: Probability in [0, 1] that the reading is right.
        candidates: Proposed intents with their scores, best first.
        residue: Words that nothing accounts for.
        protected: Protected words by class.
        personal: Kinds of personal data that were replaced.
        fillable: Whether a learned answer to this utterance may fill a key that others read.
        model: Version of the parser's model; empty when none read it.
        tenant: Whose bot was asked.
        locale: Language and region.
        seconds: How long the look-up or the answer took.
        hit_id: Names the hit, for reports of a wrong answer.
        answer: Digest of the answer that was served or stored; equal digests are equal answers.
        near_key: Key of the entry that a protected word kept from being served.
        near_text: Its question, redacted.
        not_stored: Why the model's answer was not kept.
        agreed: In observation: whether the withheld answer was what the model then said; None when none was withheld.
        weight: How many decisions the record stands for, when only a share of them is recorded.
        redaction: `same` when the redacted text was read again and gave this key, `changed` when it gave another, else
            empty.
    """

    id: str
    at: float
    kind: Kind
    text: str = ""
    normal: str = ""
    decision: str = ""
    reason: str = ""
    source: str = ""
    key: str | None = None
    intent: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    abstain: str | None = None
    confidence: float = 0.0
    candidates: tuple[tuple[str, float], ...] = ()
    residue: tuple[str, ...] = ()
    protected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    personal: tuple[str, ...] = ()
    fillable: bool = False
    model: str = ""
    tenant: str = ""
    locale: str = ""
    seconds: float = 0.0
    hit_id: str | None = None
    answer: str | None = None
    near_key: str | None = None
    near_text: str | None = None
    not_stored: str | None = None
    agreed: bool | None = None
    weight: float = 1.0
    redaction: str = ""

    def to_json(self) -> str:
        """The record as one line of ASCII JSON; fields that say nothing are left out."""
        said = {name: value for name, default in _DEFAULTS if (value := getattr(self, name)) != default}
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Read a record back. Fields that a newer version added are passed over.

        Raises:
            ValueError: the line is not a record.
        """
        raw = json.loads(line)
        if not isinstance(raw, dict):
            raise ValueError("a record is a JSON object")
        values: dict[str, Any] = {name: value for name, value in raw.items() if name in _NAMES}
        try:
            values["kind"] = Kind(values["kind"])
            for name in ("residue", "personal"):
                if name in values:
                    values[name] = tuple(values[name])
            if "candidates" in values:
                values["candidates"] = tuple((str(intent), float(score)) for intent, score in values["candidates"])
            if "protected" in values:
                values["protected"] = {name: tuple(words) for name, words in values["protected"].items()}
            if not isinstance(values["id"], str) or not isinstance(values["at"], int | float):
                raise ValueError("a record needs an id and a time")
            return cls(**values)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a record: {error!r}") from error


_NAMES: Final = frozenset(field.name for field in fields(Record))
_DEFAULTS: Final = tuple(
    (f.name, {} if f.default_factory is dict else f.default)  # what a field holds when it says nothing
    for f in fields(Record)
)


def normal(text: str) -> str:
    """The form of a text under which equal questions are counted together.

    >>> normal("  Can I   cancel? ")
    'can i cancel?'
    """
    return " ".join(text.casefold().split())
