"""Puts a plain function behind the cache.

@cached(cache, scope=lambda question, user: Scope(tenant="acme", customer=user.id))
def answer(question: str, user: User) -> str: ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, overload

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.errors import ConfigurationError
from slotcache.events import Outcome
from slotcache.shell import ANYONE

P = ParamSpec("P")
ScopeFrom = Scope | Callable[..., Scope]


@overload
def cached(
    cache: SlotCache,
    *,
    scope: ScopeFrom = ANYONE,
    question: str | None = None,
    tell: Callable[[Outcome], None] | None = None,
) -> Callable[[Callable[P, str | Answer]], Callable[P, str]]: ...


@overload
def cached(
    cache: AsyncSlotCache,
    *,
    scope: ScopeFrom = ANYONE,
    question: str | None = None,
    tell: Callable[[Outcome], None] | None = None,
) -> Callable[[Callable[P, Awaitable[str | Answer]]], Callable[P, Awaitable[str]]]: ...


def cached(
    cache: SlotCache | AsyncSlotCache,
    *,
    scope: ScopeFrom = ANYONE,
    question: str | None = None,
    tell: Callable[[Outcome], None] | None = None,
) -> Callable[[Any], Any]:
    """A decorator for functions that answer a question.

    What the function is given beside the question can change its answer, and the cache does not look at it: whatever
    matters belongs into the scope (`scope=lambda question, channel: Scope(extra={"channel": channel})`).

    Args:
        cache: A `SlotCache` for functions, an `AsyncSlotCache` for coroutine functions.
        scope: Under which circumstances it answers, or a function of the same arguments that says so.
        question: Name of the parameter that holds the question; the first one when None.
        tell: Told of every outcome.

    Raises:
        ConfigurationError: the function has no such parameter, or is of the other kind than the cache.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        find = _Arguments(function, question, scope)
        if inspect.iscoroutinefunction(function) != isinstance(cache, AsyncSlotCache):
            raise ConfigurationError("a function takes a SlotCache, a coroutine function an AsyncSlotCache")

        def told(outcome: Outcome) -> str:
            if tell is not None:
                tell(outcome)
            return outcome.answer or ""

        if isinstance(cache, AsyncSlotCache):

            @functools.wraps(function)
            async def answer_async(*args: Any, **options: Any) -> str:
                text, where = find(args, options)
                return told(await cache.get_or_call(text, lambda _: function(*args, **options), where))

            return answer_async

        @functools.wraps(function)
        def answer(*args: Any, **options: Any) -> str:
            text, where = find(args, options)
            return told(cache.get_or_call(text, lambda _: function(*args, **options), where))

        return answer

    return decorate


class _Arguments:
    """Finds question and scope in the arguments of a call."""

    def __init__(self, function: Callable[..., Any], question: str | None, scope: ScopeFrom) -> None:
        self._signature = inspect.signature(function)
        names = list(self._signature.parameters)
        if not names or (question is not None and question not in names):
            raise ConfigurationError(f"{function.__qualname__} has no parameter {question or 'for the question'!r}")
        self._question = question or names[0]
        self._scope = scope

    def __call__(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[str, Scope]:
        bound = self._signature.bind(*args, **options)
        bound.apply_defaults()
        scope = self._scope(*args, **options) if callable(self._scope) else self._scope
        return bound.arguments[self._question], scope
