"""One caller fills, the others wait, sync and async, over every local store."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from slotcache import flow
from slotcache.policy import PLAIN, Policy
from slotcache.stores.base import Store
from slotcache.testing import FakeModel
from tests.cache.shells import ACME, Bench, everything, summary


def test_cache_callers_of_one_key_share_one_call(make: Callable[..., Bench]) -> None:
    bench, model = make(), FakeModel(delay=0.2)
    texts = ["can i cancel?", "may i call it off?"] * 10
    outcomes = bench.ask_at_once(texts, model, ACME)
    assert len(model.calls) == 1
    assert len({outcome.answer for outcome in outcomes}) == 1
    assert sum(outcome.coalesced for outcome in outcomes) == bench.stats()["coalesced"] == 19


def test_cache_callers_of_different_keys_do_not_wait_for_each_other(make: Callable[..., Bench]) -> None:
    bench, model = make(), FakeModel(delay=0.05)
    outcomes = bench.ask_at_once(["can i cancel?", "can i cancel after it ships?", "can i not cancel?"], model, ACME)
    assert sorted(outcome.answer for outcome in outcomes) == sorted(f"answer to: {text}" for text in model.calls)


def test_cache_waiters_are_bounded_and_the_rest_call_themselves(make: Callable[..., Bench]) -> None:
    bench, model = make(Policy(max_waiters=2)), FakeModel(delay=0.3)
    outcomes = bench.ask_at_once(["can i cancel?"] * 6, model, ACME)
    assert len(model.calls) == 4
    assert sum(outcome.not_stored == "lease_lost" for outcome in outcomes) == 3


def test_cache_nobody_is_served_an_answer_that_was_not_kept(make: Callable[..., Bench]) -> None:
    bench, model = make(), FakeModel(lambda text: "Mail jo@example.com.", delay=0.1)
    outcomes = bench.ask_at_once(["can i cancel?"] * 4, model, ACME)
    assert len(model.calls) == 4
    assert not any(outcome.hit for outcome in outcomes)


def test_cache_fill_that_nobody_goes_on_with_keeps_nobody_waiting(make: Callable[..., Bench]) -> None:
    bench, model = make(), FakeModel()
    steps = flow.get_or_call(bench.sync.core, "can i cancel?", ACME, PLAIN, ())
    step = next(steps)
    while not isinstance(step, flow.Calling):
        step = steps.send(step.run())  # type: ignore[union-attr]
    steps.close()
    assert bench.ask("can i cancel?", model, ACME).not_stored is None
    assert bench.get("can i cancel?", ACME).hit


def test_cache_waiters_go_on_when_the_model_fails_for_the_first(make: Callable[..., Bench]) -> None:
    turns = itertools.count()

    def answer(text: str) -> str:
        if next(turns) == 0:
            raise RuntimeError("model is down")
        return "yes"

    class Slow(FakeModel):
        def _give(self, said: Any) -> Any:
            return answer("")

    outcomes = make().ask_at_once(["can i cancel?"] * 3, Slow(delay=0.1), ACME)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Outcome", "Outcome", "RuntimeError"]


def test_cache_waits_for_another_process_that_fills(make: Callable[..., Bench], store: Store) -> None:
    here, there = make(), make()

    def answer(text: str) -> str:
        # While this process is filling, the other one asks; it has to wait for the lease and gives up after `wait`.
        outcome = there.sync.get_or_call("may i call it off?", FakeModel(), ACME)
        outcomes.append(outcome)
        return "yes"

    outcomes: list[Any] = []
    there.sync.core.policy = Policy(wait=0.05)
    here.ask("can i cancel?", FakeModel(answer), ACME)
    assert summary(outcomes[0]) == ("miss", "not_found", "model", "lease_lost")
    assert there.get("can i cancel?", ACME).answer == "yes"


def test_cache_takes_over_from_a_filler_that_died(make: Callable[..., Bench], store: Store) -> None:
    bench, model = make(Policy(lease=10)), FakeModel()
    bench.put("can i cancel?", "yes", ACME)
    place = next(iter(store.find(everything())))
    bench.invalidate(intent="cancel_order")
    store.acquire(place.cell, place.address.variant, holder="dead", now=bench.clock(), seconds=10)
    bench.clock.advance(10)
    assert bench.ask("can i cancel?", model, ACME).not_stored is None


def test_cache_is_served_what_another_process_filled_meanwhile(make: Callable[..., Bench], store: Store) -> None:
    here, there = make(Policy(wait=20)), make()
    there.put("can i cancel?", "yes", ACME)
    place = next(iter(store.find(everything())))
    there.invalidate(intent="cancel_order")
    lease = store.acquire(place.cell, place.address.variant, holder="other", now=here.clock(), seconds=60)
    finished = itertools.count()

    def timer() -> float:
        # The other process is done by the time that this one has looked a few times.
        if next(finished) == 4:
            store.put(place.but(id=place.cell + "1" * 16), lease=lease)
        return time.perf_counter()

    here.sync.core.timer = timer
    model = FakeModel()
    outcome = here.ask("can i cancel?", model, ACME)
    assert (outcome.answer, outcome.coalesced, model.calls) == ("yes", True, [])
