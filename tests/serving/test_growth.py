"""A simulated week of traffic: everything that a proxy remembers is bounded."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

from slotcache.stores.memory import MemoryStore
from tests.serving.harness import Bot

DAY = 86_400
ASKED = 60


async def one_day(bot: Bot, day: int) -> None:
    """New customers, keys, prompts and questions, beside those that come every day."""
    for asked in range(ASKED):
        prompt = {"role": "system", "content": f"You are bot {day} {asked % 7}. " * 20}
        question = {"role": "user", "content": f"words {day} {asked}" if asked % 3 else "can i cancel?"}
        await bot.ask(
            messages=[prompt, question],
            model=f"m{asked % 5}",
            user=f"{day}-{asked}",
            key=f"sk-{day}-{asked % ASKED}-012345",
        )
    bot.clock.advance(DAY)
    # What the test itself remembers is none of the proxy's.
    bot.endpoint.seen.clear()
    bot.seen.events.clear()
    bot.parser.calls.clear()


async def test_growth_of_a_week_is_bounded(make_bot: Callable[..., Bot]) -> None:
    store = MemoryStore(max_entries=50, max_history=20)
    settings = {"limits": {"remembered": 64}, "chat": {"self_contained": True, "customer_from_user": True}}
    bot = make_bot(settings, store=store)
    sizes = []
    tracemalloc.start()
    try:
        for day in range(7):
            await one_day(bot, day)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # A request or its reply, kept for ever, would be several thousand bytes; digests of bounded memories are not.
    assert (sizes[-1] - sizes[3]) / (3 * ASKED) < 1_500
    assert store.counts()["entries"] <= 50
