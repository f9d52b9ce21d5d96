"""The operator's rules, and what a caller may tighten for one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slotcache.conversation import POINTS_BACK
from slotcache.errors import ConfigurationError
from slotcache.parsing.types import Owner
from slotcache.prompts import PromptTemplate

_SHORTEST_SECRET: Final = 16
HOUR: Final = 3600.0
DAY: Final = 24 * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be cached, for whom and for how long. All durations are seconds.

    Attributes:
        ttl: Life of a learned answer that everybody may read.
        customer_ttl: Life of a learned answer that one customer may read.
        approved_ttl: Life of an approved answer; None for no limit.
        ttl_by_intent: Life of learned answers by intent (`verbatim` for verbatim keys), before the two above.
        live_ttl: Intents about live state that may be kept for a moment, each for its own customer only.
        approved_only: Serve and keep answers that a person approved, nothing else.
        observe: Serve nothing; record what would have been served.
        intents_off: Intents that take no part in the cache. More can be switched off while it runs.
        verbatim_owner: Who may share answers under verbatim keys; None leaves it as the parser says. `SHARED` never
            applies to a question that holds personal data or depends on the turn before it.
        self_contained_context: Whether a question with an intent key that stands on its own leaves the conversation
            out of its address. An answer of the model that saw a conversation does not fill such an address, unless
            the caller judges conversations itself (`Scope.context_judged`).
        points_back: Words with which a question points to an earlier turn; then it does not stand on its own.
        prompts: Templates of the system prompts in use.
        undeclared_prompts: How many different undeclared prompts a tenant may use before they count as varying.
        prompt_window: For how long an undeclared prompt is remembered.
        redaction_secret: When given, stored questions hold typed placeholders in place of personal data, and keys
            stand-ins; a digest made with this secret keeps one customer's order numbers apart. At least 16 characters,
            the same in all processes that share a store; another one leaves those answers unread.
        public: Texts such as the shop's own phone number and e-mail address, which are nobody's personal data.
        lease: For how long one caller may be filling a key.
        wait: For how long another caller waits for it.
        max_waiters: How many callers of one process wait for the same key; more than that call the model themselves.
        store_failures: Consecutive failures after which the store is left alone.
        store_pause: For how long it is left alone.
    """

    ttl: float = 7 * DAY
    customer_ttl: float = DAY
    approved_ttl: float | None = None
    ttl_by_intent: Mapping[str, float] = field(default_factory=dict)
    live_ttl: Mapping[str, float] = field(default_factory=dict)
    approved_only: bool = False
    observe: bool = False
    intents_off: frozenset[str] = frozenset()
    verbatim_owner: Owner | None = None
    self_contained_context: bool = False
    points_back: frozenset[str] = POINTS_BACK
    prompts: tuple[PromptTemplate, ...] = ()
    undeclared_prompts: int = 1
    prompt_window: float = HOUR
    redaction_secret: str = field(default="", repr=False)
    public: tuple[str, ...] = ()
    lease: float = 60.0
    wait: float = 30.0
    max_waiters: int = 256
    store_failures: int = 3
    store_pause: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "intents_off", frozenset(self.intents_off))
        positive = {name: getattr(self, name) for name in _POSITIVE}
        positive |= {f"ttl_by_intent[{intent!r}]": ttl for intent, ttl in self.ttl_by_intent.items()}
        positive |= {f"live_ttl[{intent!r}]": ttl for intent, ttl in self.live_ttl.items()}
        if self.approved_ttl is not None:
            positive["approved_ttl"] = self.approved_ttl
        wrong = [f"{name} is {value!r}" for name, value in positive.items() if not 0 < value < float("inf")]
        if wrong:
            raise ConfigurationError(f"policy: {', '.join(wrong)}; it must be a number above 0")
        if self.redaction_secret and len(self.redaction_secret) < _SHORTEST_SECRET:
            raise ConfigurationError(f"policy: redaction_secret needs {_SHORTEST_SECRET} characters or more")
        if self.max_waiters < 0:
            raise ConfigurationError(f"policy: max_waiters is {self.max_waiters}; it must be 0 or more")

    def life_of(self, intent: str, owner: Owner) -> float:
        """For how many seconds a learned answer lives."""
        chosen = self.ttl_by_intent.get(intent)
        if chosen is not None:
            return chosen
        return self.ttl if owner is Owner.SHARED else self.customer_ttl


_POSITIVE = (
    "ttl",
    "customer_ttl",
    "undeclared_prompts",
    "prompt_window",
    "lease",
    "wait",
    "store_failures",
    "store_pause",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """What a caller asks for one request. Each of them can only make the operator's rules stricter.

    Attributes:
        no_cache: Take no part: neither read nor store.
        no_store: Read, but keep nothing.
        only_if_cached: Never call the model.
        max_age: Serve only answers younger than this, in seconds.
        ttl: Keep the answer for at most this long, in seconds.
    """

    no_cache: bool = False
    no_store: bool = False
    only_if_cached: bool = False
    max_age: float | None = None
    ttl: float | None = None

    def __post_init__(self) -> None:
        if self.max_age is not None and not self.max_age >= 0:
            raise ConfigurationError(f"max_age is {self.max_age!r}; it must be 0 or more")
        if self.ttl is not None and not self.ttl > 0:
            raise ConfigurationError(f"ttl is {self.ttl!r}; it must be above 0")


PLAIN: Final = Directives()
"""A request without wishes of its own."""
