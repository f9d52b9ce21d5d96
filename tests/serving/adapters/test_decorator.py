from __future__ import annotations

import pytest

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.errors import ConfigurationError
from slotcache.events import Outcome
from slotcache.serving.adapters.decorator import cached
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock, ScriptedParser
from tests.cache.shells import READINGS


@pytest.fixture
def cache() -> SlotCache:
    return SlotCache(ScriptedParser(READINGS), MemoryStore(), clock=FakeClock())


def test_decorator_function_is_called_once_for_two_wordings(cache: SlotCache) -> None:
    calls: list[str] = []

    @cached(cache)
    def answer(question: str) -> str:
        """Answers."""
        calls.append(question)
        return "Yes."

    assert [answer("can i cancel?"), answer("may i call it off?")] == ["Yes.", "Yes."]
    assert (calls, answer.__doc__) == (["can i cancel?"], "Answers.")


def test_decorator_scope_comes_from_the_arguments(cache: SlotCache) -> None:
    @cached(cache, scope=lambda user, text: Scope(customer=user), question="text")
    def answer(user: str, text: str) -> str:
        return f"for {user}"

    told = [answer("c1", "cancel mine"), answer("c2", text="cancel mine"), answer("c1", "cancel mine")]
    assert told == ["for c1", "for c2", "for c1"]


def test_decorator_tells_every_outcome(cache: SlotCache) -> None:
    outcomes: list[Outcome] = []

    @cached(cache, tell=outcomes.append)
    def answer(question: str) -> str:
        return "Yes."

    for _ in range(2):
        answer("can i cancel?")
    assert [outcome.decision for outcome in outcomes] == ["miss", "hit"]


async def test_decorator_coroutine_function(cache: SlotCache) -> None:
    calls: list[str] = []

    @cached(AsyncSlotCache.over(cache))
    async def answer(question: str) -> str:
        calls.append(question)
        return "Yes."

    assert [await answer("can i cancel?"), await answer("may i call it off?")] == ["Yes.", "Yes."]
    assert calls == ["can i cancel?"]


def test_decorator_error_of_the_function_passes(cache: SlotCache) -> None:
    @cached(cache)
    def answer(question: str) -> str:
        raise LookupError("no model")

    with pytest.raises(LookupError, match="no model"):
        answer("can i cancel?")


def test_decorator_unknown_parameter_is_an_error(cache: SlotCache) -> None:
    with pytest.raises(ConfigurationError, match="no parameter 'text'"):

        @cached(cache, question="text")
        def answer(question: str) -> str:
            return question


def test_decorator_coroutine_function_needs_the_async_cache(cache: SlotCache) -> None:
    with pytest.raises(ConfigurationError, match="AsyncSlotCache"):

        @cached(cache)  # type: ignore[arg-type]
        async def answer(question: str) -> str:
            return question
