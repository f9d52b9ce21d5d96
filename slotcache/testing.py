"""What users need to test their own bot: a model that answers from a script, a clock that stands still, a parser that
reads what it is told, a cache in memory, and assertions about what two questions may share.

>>> keys = {"can i cancel?": "cancel_order(aspect=eligibility)", "how do i cancel?": "cancel_order(aspect=how)"}
>>> parser = ScriptedParser(keys)
>>> assert_not_shared("can i cancel?", "how do i cancel?", parser=parser)
>>> model = FakeModel({"can i cancel?": "Yes, until it ships."})
>>> with memory_cache(parser) as cache:
...     first = cache.get_or_call("can i cancel?", model)
...     second = cache.get_or_call("can i cancel?", model)
>>> second.answer, second.hit, model.calls
('Yes, until it ships.', True, ['can i cancel?'])
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Final

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.core import ParserLike
from slotcache.errors import Abstain
from slotcache.events import Event, Outcome
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore

START: Final = 1_700_000_000.0
"""What a `FakeClock` shows at first, in seconds since the epoch."""


class FakeClock:
    """A clock that moves when it is told to."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass, or go back when negative."""
        self.now += seconds


class FakeModel:
    """A language model that answers from a script and remembers what it was asked.

    Attributes:
        calls: The utterances it was asked, in order.
    """

    def __init__(
        self,
        answers: Mapping[str, str | Answer] | Callable[[str], str | Answer] | None = None,
        *,
        delay: float = 0.0,
        error: Exception | None = None,
    ) -> None:
        """Make a model.

        Args:
            answers: Answers by utterance, or a function; what is not there gets `answer to: <utterance>`.
            delay: Seconds that every call takes.
            error: What every call raises.
        """
        self._answers = answers
        self._delay = delay
        self._error = error
        self._lock = Lock()
        self.calls: list[str] = []

    def __call__(self, text: str) -> str | Answer:
        """Answer, for synchronous callers."""
        answer = self._note(text)
        if self._delay:
            time.sleep(self._delay)
        return self._give(answer)

    async def acall(self, text: str) -> str | Answer:
        """Answer, for asynchronous callers."""
        answer = self._note(text)
        await asyncio.sleep(self._delay)
        return self._give(answer)

    def _note(self, text: str) -> str | Answer:
        with self._lock:
            self.calls.append(text)
        if callable(self._answers):
            return self._answers(text)
        return (self._answers or {}).get(text, f"answer to: {text}")

    def _give(self, answer: str | Answer) -> str | Answer:
        if self._error is not None:
            raise self._error
        return answer


class ScriptedParser:
    """A parser that reads what it is told to, and abstains as out of scope from everything else.

    Attributes:
        version: Model version that it claims; change it to play a promotion.
        domain_hash: Domain that it claims.
        calls: The utterances it was asked to read, in order.
    """

    def __init__(
        self, readings: Mapping[str, str | Key | Parse] | None = None, *, verbatim: bool = True, version: str = "test-1"
    ) -> None:
        """Make a parser.

        Args:
            readings: By utterance: a printed key (shared, fillable), a key, or a whole parse.
            verbatim: Whether everything else gets a verbatim key of the asking customer.
            version: Model version that it claims.
        """
        self._readings = {text: _reading(text, wanted) for text, wanted in (readings or {}).items()}
        self._verbatim = verbatim
        self.version = version
        self.domain_hash = "test-domain"
        self.calls: list[str] = []

    def parse(self, text: str) -> Parse:
        """The reading of one utterance."""
        self.calls.append(text)
        known = self._readings.get(text)
        if known is not None:
            return replace(known, model=self.version)
        canonical = " ".join(text.lower().split())
        if not (self._verbatim and canonical and canonical.isprintable()):
            return Parse(text, abstain=Abstain.OUT_OF_SCOPE if canonical else Abstain.EMPTY, model=self.version)
        return Parse(
            text,
            key=Key.verbatim(canonical),
            owner=Owner.CUSTOMER,
            abstain=Abstain.OUT_OF_SCOPE,
            canonical=canonical,
            model=self.version,
        )


def reading(text: str, key: str | Key, **fields: Any) -> Parse:
    """A parse for `ScriptedParser`: shared and fillable unless `fields` say otherwise."""
    made = Key.parse(key) if isinstance(key, str) else key
    slots = {} if made.is_verbatim else made.as_dict()
    intent = None if made.is_verbatim else made.intent
    plain = Parse(text, key=made, intent=intent, slots=slots, owner=Owner.SHARED, confidence=1.0, fillable=True)
    return replace(plain, canonical=text.lower(), **fields)


def _reading(text: str, wanted: str | Key | Parse) -> Parse:
    return wanted if isinstance(wanted, Parse) else reading(text, wanted)


class Recorder:
    """An observer that keeps every event it is told.

    Attributes:
        events: What happened, in order.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def memory_cache(
    parser: ParserLike,
    *,
    store: Store | None = None,
    policy: Policy | None = None,
    observers: Iterable[Callable[[Event], None]] = (),
    clock: Callable[[], float] | None = None,
) -> SlotCache:
    """A cache in memory whose clock stands still unless another one is given."""
    held = store if store is not None else MemoryStore()
    return SlotCache(parser, held, policy=policy, observers=observers, clock=clock or FakeClock())


def assert_shared(a: str, b: str, *, parser: ParserLike, scope: Scope | None = None) -> None:
    """Fail unless an answer to `a` is served for `b`, asked by the same customer.

    Raises:
        AssertionError: it is not; the message says why.
    """
    outcome = _second(a, b, parser, scope)
    if not outcome.hit:
        raise AssertionError(f"an answer to {a!r} is not served for {b!r}: {outcome.reason}, {_keys(a, b, parser)}")


def assert_not_shared(a: str, b: str, *, parser: ParserLike, scope: Scope | None = None) -> None:
    """Fail if an answer to `a` is served for `b` or the other way round, even to the same customer.

    Raises:
        AssertionError: it is; the message names the key.
    """
    for first, second in ((a, b), (b, a)):
        if _second(first, second, parser, scope).hit:
            raise AssertionError(f"an answer to {first!r} is served for {second!r}: {_keys(first, second, parser)}")


def _second(first: str, second: str, parser: ParserLike, scope: Scope | None) -> Outcome:
    """What happens to `second` when `first` has an answer, however it got there."""
    scope = scope if scope is not None else Scope(tenant="test", customer="customer-1")
    with memory_cache(parser) as cache:
        cache.approve(first, "an answer", scope, author="test")
        return cache.get(second, scope)


def _keys(a: str, b: str, parser: ParserLike) -> str:
    return " and ".join(f"{parse.key or parse.abstain}" for parse in (parser.parse(a), parser.parse(b)))
