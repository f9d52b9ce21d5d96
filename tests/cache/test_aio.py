"""What only the asynchronous shell can get wrong: cancellation, blocking the loop, and sharing with sync callers."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.errors import ConfigurationError
from slotcache.events import Outcome
from slotcache.parsing.types import Parse
from slotcache.stores.memory import MemoryStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeClock, FakeModel, ScriptedParser
from tests.cache.shells import ACME, READINGS


def build(store: MemoryStore | SqliteStore | None = None, parser: ScriptedParser | None = None) -> AsyncSlotCache:
    return AsyncSlotCache(parser or ScriptedParser(READINGS), store or MemoryStore(), clock=FakeClock())


async def test_aio_cancelled_filler_leaves_the_key_free(tmp_path: Path) -> None:
    async with build(SqliteStore(tmp_path / "a.sqlite3")) as cache:
        started = asyncio.Event()

        async def hang(text: str) -> str:
            started.set()
            await asyncio.sleep(60)
            return "never"

        task = asyncio.create_task(cache.get_or_call("can i cancel?", hang, ACME))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        outcome = await cache.get_or_call("can i cancel?", FakeModel().acall, ACME)
        assert outcome.not_stored is None


async def test_aio_cancelled_waiter_disturbs_nobody() -> None:
    async with build() as cache:
        await cache.get("can i cancel?", ACME)  # read once, so that the tasks below come in order
        release = asyncio.Event()

        async def slow(text: str) -> str:
            await release.wait()
            return "yes"

        tasks = [asyncio.create_task(cache.get_or_call("can i cancel?", slow, ACME)) for _ in range(3)]
        while sum(flight.waiting for flight in cache.core.flights._flights.values()) < 2:
            await asyncio.sleep(0.005)
        tasks[-1].cancel()
        await asyncio.sleep(0)
        release.set()
        *others, cancelled = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(cancelled, asyncio.CancelledError)
        assert [getattr(outcome, "answer", outcome) for outcome in others] == ["yes", "yes"]
        assert sum(getattr(outcome, "coalesced", False) for outcome in others) == 1


class SlowParser(ScriptedParser):
    def parse(self, text: str) -> Parse:
        time.sleep(0.2)
        return super().parse(text)


async def test_aio_parsing_does_not_block_the_loop() -> None:
    async with build(parser=SlowParser(READINGS)) as cache:
        asked = asyncio.create_task(cache.get("can i cancel?", ACME))
        turns = 0
        while not asked.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert turns > 3


class CountingParser(ScriptedParser):
    busy = 0
    most = 0

    def parse(self, text: str) -> Parse:
        with lock:
            self.busy += 1
            self.most = max(self.most, self.busy)
        time.sleep(0.02)
        with lock:
            self.busy -= 1
        return super().parse(text)


lock = threading.Lock()


async def test_aio_parses_in_a_bounded_pool() -> None:
    parser = CountingParser()
    async with AsyncSlotCache(parser, MemoryStore(), threads=2) as cache:
        await asyncio.gather(*(cache.get(f"question {number}", ACME) for number in range(12)))
    assert parser.most <= 2


async def test_aio_coalesces_with_synchronous_callers_of_the_same_cache() -> None:
    cache = SlotCache(ScriptedParser(READINGS), MemoryStore(), clock=FakeClock())
    started = threading.Event()

    def slow(text: str) -> str:
        started.set()
        time.sleep(0.2)
        return "yes"

    thread = threading.Thread(target=cache.get_or_call, args=("can i cancel?", slow, ACME))
    thread.start()
    await asyncio.to_thread(started.wait)
    async with AsyncSlotCache.over(cache) as shell:
        outcome = await shell.get_or_call("may i call it off?", FakeModel().acall, ACME)
    thread.join()
    assert (outcome.answer, outcome.coalesced) == ("yes", True)


def test_aio_works_in_one_loop_after_another() -> None:
    cache = build()
    model = FakeModel()
    outcomes = [asyncio.run(cache.get_or_call("can i cancel?", model.acall, ACME)) for _ in range(2)]
    asyncio.run(cache.aclose())
    assert [outcome.hit for outcome in outcomes] == [False, True]


def test_aio_needs_a_thread() -> None:
    with pytest.raises(ConfigurationError):
        AsyncSlotCache(ScriptedParser(), MemoryStore(), threads=0)


async def test_aio_relay_is_told_what_came_of_the_look_up() -> None:
    told: list[tuple[str, str]] = []

    async def relay(outcome: Outcome) -> str:
        told.append((outcome.decision, outcome.reason))
        return "yes"

    async with build() as cache:
        outcomes = [await cache.get_or_relay(text, relay, ACME) for text in ("can i cancel?", "may i call it off?")]
    assert (told, [outcome.hit for outcome in outcomes]) == ([("miss", "not_found")], [False, True])


async def test_aio_close_can_be_repeated() -> None:
    async with build() as cache:
        await cache.aclose()
