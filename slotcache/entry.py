"""A stored answer and everything that must be known to serve it, judge it and take it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from slotcache.address import CELL_LENGTH, Address, Namespace
from slotcache.key import Key


class Origin(StrEnum):
    """Where an answer came from."""

    LEARNED = "learned"
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer under one address.

    Attributes:
        id: Cell digest followed by a random part; unguessable, and a store can tell from it where the entry lives.
        address: The exact place.
        answer: What is served.
        origin: Learned from the model or approved by a person.
        created: When it was stored, in seconds since the epoch.
        expires: When it stops being served, in seconds since the epoch; None for never. A hit never moves it.
        question: The utterance that filled it; empty for an answer written for a key.
        canonical: The normalised utterance.
        protected: Protected words of the utterance by class.
        tags: The operator's labels, for invalidation.
        parser: Version of the model that read the question; empty when none did.
        tokens_in: Prompt tokens that the model call took.
        tokens_out: Completion tokens that the model call took.
        cost: Price of the model call, in the operator's currency.
        author: Who approved it; empty for learned answers.
        source: Id of the entry of the generation before that it was carried over from; empty for one that was not.
    """

    id: str
    address: Address
    answer: str
    origin: Origin
    created: float
    expires: float | None
    question: str = ""
    canonical: str = ""
    protected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    parser: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    author: str = ""
    source: str = ""

    @property
    def key(self) -> Key:
        """The question it answers."""
        return self.address.key

    @property
    def cell(self) -> str:
        """The cell it lives in."""
        return self.address.cell

    @property
    def approved(self) -> bool:
        """Whether a person wrote or confirmed it."""
        return self.origin is Origin.APPROVED

    def expired(self, now: float) -> bool:
        """Whether its time is over at `now` (inclusive)."""
        return self.expires is not None and now >= self.expires

    def but(self, **changes: Any) -> Entry:
        """The same entry with some fields changed."""
        return replace(self, **changes)

    def says_the_same_as(self, other: Entry) -> bool:
        """Whether replacing one by the other would change nothing that is served or judged."""
        return (self.address, self.answer, self.origin, self.tags, self.author) == (
            other.address,
            other.answer,
            other.origin,
            other.tags,
            other.author,
        ) and self.expires == other.expires

    def to_json(self) -> str:
        """The entry as one line of ASCII JSON."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return json.dumps(
            plain
            | {
                "origin": self.origin.value,
                "namespace": list(self.address.namespace),
                "key": str(self.key),
                "fingerprint": list(self.address.fingerprint),
                "protected": {name: list(words) for name, words in self.protected.items()},
                "tags": list(self.tags),
            }
            | ({"source": self.source} if self.source else {}),
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, line: str) -> Entry:
        """Read an entry back.

        The address is computed from its fields, never taken from the line, so an entry that was put into the
        wrong place is noticed by whoever compares addresses.

        Raises:
            ValueError: the line is not an entry.
        """
        raw = json.loads(line)
        try:
            address = Address.of(Namespace(*raw["namespace"]), Key.parse(raw["key"]), tuple(raw["fingerprint"]))
            return cls(
                address=address,
                origin=Origin(raw["origin"]),
                protected={name: tuple(words) for name, words in raw["protected"].items()},
                tags=tuple(raw["tags"]),
                source=raw.get("source", ""),
                **{name: raw[name] for name in _PLAIN},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an entry: {error!r}") from error


_PLAIN = (
    "id",
    "answer",
    "created",
    "expires",
    "question",
    "canonical",
    "parser",
    "tokens_in",
    "tokens_out",
    "cost",
    "author",
)


@dataclass(frozen=True, slots=True)
class Retired:
    """An entry that left recall: it is kept for people to look at and is never served.

    Attributes:
        entry: What it was.
        reason: Why it left (`superseded`, `invalidated`, `false_hit`, `expired`, `evicted`, ...).
        at: When, in seconds since the epoch.
    """

    entry: Entry
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class Selector:
    """Which entries an operation is about; every field that is set must match.

    Attributes:
        key: One printed key.
        intent: All keys of one intent.
        slots: Slot values by name; `*` stands for any value of that slot.
        tag: A label given when the answer was stored.
        epoch: A policy epoch.
        tenant: A tenant.
        customer: The customer whose answers these are.
        generation: The parser generation that read the questions.
    """

    key: str | None = None
    intent: str | None = None
    slots: tuple[tuple[str, str], ...] = ()
    tag: str | None = None
    epoch: str | None = None
    tenant: str | None = None
    customer: str | None = None
    generation: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is set, so that everything matches."""
        return self == Selector()

    def matches(self, entry: Entry) -> bool:
        """Whether an entry is meant."""
        key, namespace = entry.key, entry.address.namespace
        held = {} if key.is_verbatim else key.as_dict()
        return (
            (self.key is None or self.key == str(key))
            and (self.intent is None or self.intent == key.intent)
            and all(name in held and value in ("*", held[name]) for name, value in self.slots)
            and (self.tag is None or self.tag in entry.tags)
            and (self.epoch is None or self.epoch == namespace.epoch)
            and (self.tenant is None or self.tenant == namespace.tenant)
            and (self.customer is None or self.customer == namespace.customer)
            and (self.generation is None or self.generation == namespace.generation)
        )

    def to_json(self) -> str:
        """The selector as one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Selector:
        """Read a selector back."""
        raw = json.loads(line)
        return cls(**(raw | {"slots": tuple((name, value) for name, value in raw["slots"])}))


def cell_of(entry_id: str) -> str:
    """The cell in which an entry of this id lives; empty when it is no entry id."""
    return entry_id[:CELL_LENGTH] if len(entry_id) > CELL_LENGTH and entry_id.isascii() else ""
