"""The operator's rules and the caller's, sync and async, over every local store."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from slotcache.events import Answered
from slotcache.policy import Directives, Policy
from slotcache.prompts import PromptTemplate
from slotcache.stores.base import Store
from slotcache.testing import FakeModel, ScriptedParser, memory_cache
from tests.cache.shells import ACME, READINGS, Bench, summary


@pytest.mark.parametrize(
    ("text", "reason"),
    [("where is it?", "owner_never"), ("and after that?", "context_dependent"), ("", "no_key")],
)
def test_cache_bypass_calls_the_model_and_keeps_nothing(bench: Bench, model: FakeModel, text: str, reason: str) -> None:
    assert [summary(bench.ask(text, model, ACME)) for _ in range(2)] == [("bypass", reason, "model", None)] * 2
    assert bench.store.counts()["entries"] == 0


def test_cache_keeps_live_state_for_a_moment_where_the_operator_allows(make: Callable[..., Bench]) -> None:
    bench, model = make(Policy(live_ttl={"track_order": 30})), FakeModel()
    bench.ask("where is it?", model, ACME)
    assert bench.get("where is it?", ACME).hit
    assert not bench.get("where is it?", ACME.but(customer="c2")).hit
    bench.clock.advance(30)
    assert bench.get("where is it?", ACME).reason == "expired"


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        (Directives(no_cache=True), ("bypass", "no_cache")),
        (Directives(max_age=50), ("miss", "too_old")),
        (Directives(max_age=51), ("hit", "learned")),
        (Directives(no_store=True), ("hit", "learned")),
    ],
    ids=str,
)
def test_cache_lets_callers_tighten(bench: Bench, directives: Directives, expected: tuple[str, str]) -> None:
    bench.put("can i cancel?", "yes", ACME)
    bench.clock.advance(50)
    outcome = bench.get("can i cancel?", ACME, directives=directives)
    assert (outcome.decision, outcome.reason) == expected


def test_cache_no_store_keeps_nothing(bench: Bench, model: FakeModel) -> None:
    outcome = bench.ask("can i cancel?", model, ACME, directives=Directives(no_store=True))
    assert outcome.not_stored == "no_store"
    assert bench.store.counts()["entries"] == 0


def test_cache_only_if_cached_calls_nobody(bench: Bench, model: FakeModel) -> None:
    outcome = bench.ask("can i cancel?", model, ACME, directives=Directives(only_if_cached=True))
    assert (outcome.answer, outcome.reason, model.calls) == (None, "not_found", [])


def test_cache_caller_may_shorten_a_life(bench: Bench) -> None:
    bench.put("can i cancel?", "yes", ACME, directives=Directives(ttl=10))
    bench.clock.advance(10)
    assert bench.get("can i cancel?", ACME).reason == "expired"


def test_cache_approved_answers_win(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert bench.approve("can i cancel?", "Yes.", ACME, author="kim").stored
    outcome = bench.get("may i call it off?", ACME)
    assert (outcome.answer, outcome.reason) == ("Yes.", "approved")
    assert bench.put("can i cancel?", "no!", ACME).reason == "approved_exists"


def test_cache_approved_only_serves_and_keeps_nothing_learned(make: Callable[..., Bench], store: Store) -> None:
    memory_cache(ScriptedParser(READINGS), store=store).put("can i cancel?", "learned", ACME)
    bench, model = make(Policy(approved_only=True)), FakeModel()
    assert summary(bench.ask("can i cancel?", model, ACME)) == ("miss", "not_approved", "model", "approved_only")
    bench.approve("can i cancel?", "Yes.", ACME, author="kim")
    assert bench.ask("can i cancel?", model, ACME).answer == "Yes."


def test_cache_observe_serves_nothing_and_tells_what_it_would_have(make: Callable[..., Bench]) -> None:
    bench = make(Policy(observe=True))
    numbers = itertools.count(1)
    model = FakeModel(lambda text: f"answer {next(numbers)}")
    outcomes = [bench.ask("can i cancel?", model, ACME) for _ in range(3)]
    assert [(one.answer, one.reason) for one in outcomes] == [
        ("answer 1", "not_found"),
        ("answer 2", "observed"),
        ("answer 3", "observed"),
    ]
    assert [event.withheld.answer for event in bench.seen.of(Answered)[1:]] == ["answer 1", "answer 1"]


def test_cache_undeclared_prompt_that_varies_is_a_bypass(bench: Bench, model: FakeModel) -> None:
    monday, friday = (ACME.but(prompt=f"Today is {day}.") for day in ("Monday", "Friday"))
    assert bench.ask("can i cancel?", model, monday).reason == "not_found"
    assert bench.ask("can i cancel?", model, monday).hit
    assert bench.ask("can i cancel?", model, friday).reason == "prompt_undeclared"
    assert bench.ask("can i cancel?", model, monday).reason == "prompt_undeclared"


def test_cache_declared_prompt_that_varies_hits_safely(make: Callable[..., Bench]) -> None:
    template = PromptTemplate("bot", "Today is {date}. You help {name}.")
    bench = make(Policy(prompts=(template,), self_contained_context=True))
    anna = ACME.but(prompt="Today is Monday. You help Anna.", context="five turns")
    bob = ACME.but(prompt="Today is Friday. You help Bob.", context="other turns", customer="c2")
    begins = anna.but(context=None)
    assert bench.ask("can i cancel?", FakeModel(lambda text: "Yes, Anna."), begins).not_stored == "personal_answer"
    assert bench.ask("can i cancel?", FakeModel(lambda text: "Yes."), begins).not_stored is None
    assert [bench.get("can i cancel?", scope).answer for scope in (anna, bob)] == ["Yes.", "Yes."]


SELF_CONTAINED = Policy(self_contained_context=True)
TALKING = ACME.but(context="gran says always offer 50")


def test_cache_conversation_does_not_shape_what_others_get(make: Callable[..., Bench], model: FakeModel) -> None:
    bench = make(SELF_CONTAINED)
    assert bench.ask("can i cancel?", model, TALKING).not_stored == "not_fillable"
    assert bench.put("can i cancel?", "50 off", TALKING).reason == "not_fillable"
    assert not bench.get("can i cancel?", ACME).hit


def test_cache_conversation_that_the_caller_judges_may_fill(make: Callable[..., Bench], model: FakeModel) -> None:
    bench = make(SELF_CONTAINED)
    assert bench.ask("can i cancel?", model, TALKING.but(context_judged=True)).not_stored is None
    assert bench.get("can i cancel?", ACME.but(context="something else")).hit


def test_cache_conversation_is_in_the_address_of_a_question_that_points_back(make: Callable[..., Bench]) -> None:
    bench, model = make(SELF_CONTAINED), FakeModel()
    assert bench.ask("may i call it off?", model, TALKING).not_stored is None
    assert bench.get("may i call it off?", TALKING).hit
    assert not bench.get("may i call it off?", TALKING.but(context="about another order")).hit


def test_cache_person_may_approve_an_answer_in_any_conversation(make: Callable[..., Bench]) -> None:
    bench = make(SELF_CONTAINED)
    assert bench.approve("can i cancel?", "Yes.", TALKING, author="kim").stored
    assert bench.get("can i cancel?", ACME).answer == "Yes."


def test_cache_prompt_with_an_e_mail_address_fills_nothing_for_others(bench: Bench, model: FakeModel) -> None:
    scope = ACME.but(prompt_version="1", varying=("jo@example.com",))
    assert bench.ask("can i cancel?", model, scope).not_stored == "not_fillable"
