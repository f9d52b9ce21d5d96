"""What the cache tells its callers (`Outcome`) and its observers (the events).

An observer is any callable that takes one event. It is called in the thread of the request, so it must be quick; what
it raises is counted and goes no further. The traffic record and the metrics are observers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from slotcache.address import Scope
from slotcache.entry import Entry, Selector
from slotcache.errors import Abstain
from slotcache.parsing.types import Parse


class Decision(StrEnum):
    """What the cache did with a question."""

    HIT = "hit"
    MISS = "miss"
    BYPASS = "bypass"


class Source(StrEnum):
    """Where the answer of an outcome came from."""

    APPROVED = "approved"
    LEARNED = "learned"
    MODEL = "model"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question.

    Attributes:
        decision: Hit, miss or bypass.
        reason: Stable id of the reason; for a hit, the kind of answer (`approved` or `learned`).
        answer: What the customer reads; None when there is none yet.
        source: Where the answer came from.
        key: The printed key; None when the question has none.
        abstain: Why the reading gave no intent key; None when it gave one.
        age: Seconds since the served answer was stored; None unless served from the cache.
        model: Version of the parser's model that read the question.
        hit_id: Names this hit in reports of a wrong answer; None unless served from the cache.
        coalesced: Whether the answer came from a call that another caller was making at the same time.
        not_stored: Why the model's answer was not kept; None when it was, or when the model was not called.
    """

    decision: Decision
    reason: str
    answer: str | None = None
    source: Source = Source.NONE
    key: str | None = None
    abstain: Abstain | None = None
    age: float | None = None
    model: str = ""
    hit_id: str | None = None
    coalesced: bool = False
    not_stored: str | None = None

    @property
    def hit(self) -> bool:
        """Whether the answer came out of the cache."""
        return self.decision is Decision.HIT


@dataclass(frozen=True, slots=True)
class Stored:
    """What came of a request to keep an answer.

    Attributes:
        stored: Whether it is in recall now.
        reason: Why not, as a stable id; None when it is.
        key: The printed key; None when the question has none.
        entry_id: The new entry; None when nothing was stored, or when the same answer was there already.
    """

    stored: bool
    reason: str | None = None
    key: str | None = None
    entry_id: str | None = None


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A question was looked up.

    Attributes:
        at: When, in seconds since the epoch.
        outcome: What came of it, before the model is called.
        parse: How it was read; None when the parser failed.
        scope: Who asked and under which circumstances.
        seconds: How long it took.
        served: The entry that was served.
        near: The entry that a protected word kept from being served.
        withheld: The entry that the operator's or the caller's rules kept from being served.
    """

    at: float
    outcome: Outcome
    parse: Parse | None
    scope: Scope
    seconds: float
    served: Entry | None = None
    near: Entry | None = None
    withheld: Entry | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was not served at once has its answer.

    Attributes:
        at: When, in seconds since the epoch.
        outcome: What came of it in the end.
        parse: How it was read; None when the parser failed.
        scope: Who asked and under which circumstances.
        seconds: How long the model, or the caller that was waited for, took.
        stored: The entry that keeps the answer now.
        withheld: The entry that would have been served; compare its answer with the outcome's.
        tokens_in: Prompt tokens spent.
        tokens_out: Completion tokens spent.
        cost: Money spent.
        served: The entry that another caller made meanwhile, when its answer was given.
    """

    at: float
    outcome: Outcome
    parse: Parse | None
    scope: Scope
    seconds: float
    stored: Entry | None = None
    withheld: Entry | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    served: Entry | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer was handed in, outside of a question that waits for it.

    Attributes:
        at: When, in seconds since the epoch.
        outcome: Whether it was kept, and why not.
        entry: The entry; None when it was not kept.
    """

    at: float
    outcome: Stored
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Entries left recall on somebody's word.

    Attributes:
        at: When, in seconds since the epoch.
        reason: `invalidated` or `false_hit`.
        count: How many.
        selector: Which, for an invalidation.
        hit_id: The reported hit.
        entry: The entry that was reported.
    """

    at: float
    reason: str
    count: int
    selector: Selector | None = None
    hit_id: str | None = None
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Switched:
    """An intent was switched off or on."""

    at: float
    intent: str
    off: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something failed that the customer did not notice.

    Attributes:
        at: When, in seconds since the epoch.
        where: `store` or `parser`.
        error: Type of what was raised; never its text, which may quote a customer.
    """

    at: float
    where: str
    error: str


Event = LookedUp | Answered | Kept | Withdrawn | Switched | Trouble
"""Everything that an observer may be told."""

Observer = Callable[[Event], None]
"""Whoever wants to know."""
