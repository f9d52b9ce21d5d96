"""Parsers and stores that fail or change, sync and async, over every local store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slotcache.errors import StoreUnavailable
from slotcache.events import Trouble
from slotcache.parsing.types import Parse
from slotcache.policy import Policy
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeModel, ScriptedParser
from tests.cache.shells import ACME, KEY, Bench, summary


def test_cache_ties_a_question_with_an_order_number_to_its_asker_whatever_the_parser_says(
    make: Callable[..., Bench],
) -> None:
    bench = make(parser=ScriptedParser({"can i cancel #4821?": KEY}))
    bench.ask("can i cancel #4821?", FakeModel(), ACME)
    assert not bench.get("can i cancel #4821?", ACME.but(customer="c2")).hit


def test_cache_never_parses_the_same_text_twice(bench: Bench, model: FakeModel) -> None:
    for customer in ("c1", "c2", "c1"):
        bench.ask("can i cancel?", model, ACME.but(customer=customer))
    assert bench.parser.calls == ["can i cancel?"]


def test_cache_parses_again_with_another_model_and_never_mixes_their_answers(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    bench.parser.version = "test-2"
    assert bench.get("can i cancel?", ACME).reason == "not_found"
    assert bench.parser.calls == ["can i cancel?"] * 2


def test_cache_remembers_no_huge_texts(bench: Bench) -> None:
    for _ in range(2):
        bench.get("x" * 1_000_000, ACME)
    assert len(bench.parser.calls) == 2


class BrokenParser(ScriptedParser):
    def parse(self, text: str) -> Parse:
        raise RuntimeError("no model")


def test_cache_parser_that_fails_costs_a_call_and_is_counted(make: Callable[..., Bench]) -> None:
    bench, model = make(parser=BrokenParser()), FakeModel()
    assert summary(bench.ask("can i cancel?", model, ACME)) == ("bypass", "parser_failed", "model", None)
    assert bench.stats()["parser_failures"] == 1
    assert [(event.where, event.error) for event in bench.seen.of(Trouble)] == [("parser", "RuntimeError")]


class FlakyStore(MemoryStore):
    """A store that can be switched off; counts how often it was tried while it was."""

    down = False
    tries = 0

    def _check(self) -> None:
        if self.down:
            self.tries += 1
            raise StoreUnavailable("down")

    def get(self, cell: str) -> Any:
        self._check()
        return super().get(cell)

    def put(self, *args: Any, **options: Any) -> Any:
        self._check()
        return super().put(*args, **options)

    def acquire(self, *args: Any, **options: Any) -> Any:
        self._check()
        return super().acquire(*args, **options)


@pytest.fixture
def flaky() -> FlakyStore:
    return FlakyStore()


def test_cache_store_that_is_away_costs_a_call_and_recovers_by_itself(
    make: Callable[..., Bench], flaky: FlakyStore
) -> None:
    bench, model = make(over=flaky), FakeModel()
    bench.ask("can i cancel?", model, ACME)
    flaky.down = True
    outcome = bench.ask("can i cancel?", model, ACME)
    assert summary(outcome) == ("bypass", "store_unavailable", "model", "store_unavailable")
    flaky.down = False
    assert bench.ask("can i cancel?", model, ACME).hit


def test_cache_store_that_stays_away_is_left_alone_for_a_while(make: Callable[..., Bench], flaky: FlakyStore) -> None:
    bench = make(Policy(store_failures=2, store_pause=5), over=flaky)
    flaky.down = True
    for _ in range(10):
        bench.get("can i cancel?", ACME)
    assert flaky.tries == 2
    flaky.down = False
    assert bench.get("can i cancel?", ACME).reason == "store_unavailable"
    bench.clock.advance(5)
    assert bench.get("can i cancel?", ACME).reason == "not_found"


def test_cache_store_that_goes_away_during_the_call_costs_nothing(
    make: Callable[..., Bench], flaky: FlakyStore
) -> None:
    bench = make(over=flaky)

    def answer(text: str) -> str:
        flaky.down = True
        return "yes"

    outcome = bench.ask("can i cancel?", FakeModel(answer), ACME)
    assert (outcome.answer, outcome.not_stored) == ("yes", "store_unavailable")
    assert len(bench.sync.core.flights) == 0


def test_cache_store_that_goes_away_during_the_call_leaves_no_lease_to_wait_for(
    make: Callable[..., Bench], flaky: FlakyStore
) -> None:
    bench = make(Policy(wait=30, store_failures=5), over=flaky)

    def answer(text: str) -> str:
        flaky.down = True
        return "yes"

    bench.ask("can i cancel?", FakeModel(answer), ACME)
    flaky.down = False
    assert summary(bench.ask("can i cancel?", FakeModel(), ACME)) == ("miss", "not_found", "model", None)
