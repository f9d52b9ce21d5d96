from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from slotcache.address import Scope
from slotcache.errors import StoreUnavailable
from slotcache.events import Decision, LookedUp, Outcome
from slotcache.parsing.types import Parse
from slotcache.serving.metrics import Metrics
from slotcache.stores.memory import MemoryStore
from slotcache.testing import ScriptedParser
from tests.serving.harness import Bot, Endpoint
from tests.stores.contract import entry

Make = Callable[..., Bot]


async def samples(bot: Bot) -> dict[str, float]:
    """What `/metrics` says, by name and labels, without what is zero."""
    async with bot.client() as client:
        text = (await client.get("/metrics")).text
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            if sample.value and not sample.name.endswith(("_created", "_bucket", "_sum")):
                found[f"{sample.name}{{{labels}}}".removeprefix("slotcache_").removesuffix("{}")] = sample.value
    return found


async def test_metrics_count_outcomes_by_reason_and_intent(bot: Bot) -> None:
    for question in ("can i cancel?", "can i cancel?", "where is it?", "unknown words"):
        await bot.ask(question)
    found = await samples(bot)
    assert {name: value for name, value in found.items() if name.startswith("lookups")} == {
        "lookups_total{intent=cancel_order,outcome=miss,reason=not_found}": 1,
        "lookups_total{intent=cancel_order,outcome=hit,reason=learned}": 1,
        "lookups_total{intent=track_order,outcome=bypass,reason=owner_never}": 1,
        "lookups_total{intent=verbatim,outcome=bypass,reason=no_customer}": 1,
    }


async def test_metrics_keep_saved_apart_from_spent(make_bot: Make) -> None:
    bot = make_bot({"prices": {"m": {"input": 1_000, "output": 10_000}}})
    for _ in range(3):
        await bot.ask()
    found = await samples(bot)
    assert (found["spent_calls_total"], found["saved_calls_total"]) == (1, 2)
    assert (found["spent_tokens_total{kind=input}"], found["saved_tokens_total{kind=input}"]) == (100, 200)
    assert (found["spent_money_total"], found["saved_money_total"]) == (pytest.approx(0.3), pytest.approx(0.6))


async def test_metrics_count_what_is_kept_and_what_is_not(make_bot: Make) -> None:
    bot = make_bot(endpoint=Endpoint(finish="length"))
    await bot.ask()
    bot.endpoint.script.finish = "stop"
    await bot.ask()
    found = await samples(bot)
    assert (found["not_stored_total{reason=incomplete_answer}"], found["stored_total{origin=learned}"]) == (1, 1)


async def test_metrics_count_coalesced_calls(make_bot: Make) -> None:
    bot = make_bot({"prices": {"m": {"input": 1_000, "output": 10_000}}}, endpoint=Endpoint(delay=0.05))
    await asyncio.gather(*(bot.ask() for _ in range(5)))
    found = await samples(bot)
    assert (found["coalesced_total{intent=cancel_order}"], found["saved_calls_total"]) == (4, 4)
    assert (found["saved_tokens_total{kind=input}"], found["saved_money_total"]) == (400, pytest.approx(1.2))
    assert found["spent_calls_total"] == 1


async def test_metrics_tell_what_the_store_holds(make_bot: Make) -> None:
    store = MemoryStore()
    store.put(entry())
    bot = make_bot(store=store)
    async with bot.proxy.running():
        async with asyncio.timeout(10):
            while "store{what=entries}" not in await samples(bot):
                await asyncio.sleep(0.005)


@pytest.mark.parametrize("stage", ["read", "lookup", "upstream_first", "upstream", "hit", "miss"])
async def test_metrics_time_every_stage(bot: Bot, stage: str) -> None:
    for _ in range(2):
        await bot.ask()
    assert (await samples(bot))[f"seconds_count{{stage={stage}}}"] >= 1


class AwayStore(MemoryStore):
    def get(self, cell: str) -> Any:
        raise StoreUnavailable("away")


class NoParser(ScriptedParser):
    def parse(self, text: str) -> Parse:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("options", "where", "reason"),
    [({"store": AwayStore()}, "store", "store_unavailable"), ({"parser": NoParser()}, "parser", "parser_failed")],
)
async def test_metrics_say_so_when_a_part_fails(make_bot: Make, options: Any, where: str, reason: str) -> None:
    bot = make_bot(**options)
    response = await bot.ask()
    assert (response.status_code, response.headers["x-slotcache-reason"]) == (200, reason)
    assert (await samples(bot))[f"trouble_total{{where={where}}}"] >= 1


async def test_metrics_count_untrusted_headers(make_bot: Make) -> None:
    bot = make_bot({"gateway": {"addresses": ["192.0.2.0/24"], "customer_header": "X-Customer"}})
    await bot.ask(headers={"X-Customer": "c1"})
    assert (await samples(bot))["untrusted_headers_total"] == 1


def test_metrics_intents_are_bounded() -> None:
    metrics = Metrics()
    for number in range(600):
        outcome = Outcome(Decision.MISS, "not_found", key=f"intent_{number}()")
        metrics(LookedUp(0.0, outcome, None, Scope(), 0.0))
    counted = metrics.render().count(b"slotcache_lookups_total{")
    assert counted == 501


async def test_metrics_hold_no_customer(make_bot: Make) -> None:
    bot = make_bot({"gateway": {"addresses": ["10.0.0.0/8"], "customer_header": "X-Customer"}})
    await bot.ask("i am Josephine", headers={"X-Customer": "customer-77"})
    text = bot.proxy.metrics.render().decode()
    assert ("Josephine" in text, "josephine" in text, "customer-77" in text) == (False, False, False)
