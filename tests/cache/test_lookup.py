"""What is served for what, sync and async, over every local store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slotcache.events import LookedUp
from slotcache.policy import DAY
from slotcache.testing import FakeModel
from tests.cache.shells import ACME, KEY, Bench, summary


def test_cache_asks_the_model_once(bench: Bench, model: FakeModel) -> None:
    first, second = bench.ask("can i cancel?", model, ACME), bench.ask("can i cancel?", model, ACME)
    assert summary(first) == ("miss", "not_found", "model", None)
    assert summary(second) == ("hit", "learned", "learned", None)
    assert first.answer == second.answer == "answer to: can i cancel?"
    assert len(model.calls) == 1


def test_cache_serves_a_paraphrase(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert bench.get("may i call it off?", ACME).answer == "answer to: can i cancel?"


def test_cache_outcome_says_where_the_answer_came_from(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    bench.clock.advance(90)
    outcome = bench.get("can i cancel?", ACME)
    assert (outcome.key, outcome.age, outcome.model, outcome.abstain) == (KEY, 90.0, "test-1", None)
    assert outcome.hit_id is not None


def test_cache_gives_every_hit_an_id_of_its_own(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert bench.get("can i cancel?", ACME).hit_id != bench.get("can i cancel?", ACME).hit_id


def test_cache_keeps_different_questions_apart(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert not bench.get("can i cancel after it ships?", ACME).hit


def test_cache_blocks_a_one_sided_protected_word_as_a_near_miss(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert bench.get("can i not cancel?", ACME).reason == "guard_mismatch"
    assert bench.seen.of(LookedUp)[-1].near.question == "can i cancel?"


def test_cache_serves_both_variants_once_both_were_asked(bench: Bench, model: FakeModel) -> None:
    for text in ("can i cancel?", "can i not cancel?"):
        bench.ask(text, model, ACME)
    assert [bench.get(text, ACME).answer for text in ("may i call it off?", "can i not cancel?")] == [
        "answer to: can i cancel?",
        "answer to: can i not cancel?",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "x"},
        {"locale": "x"},
        {"model": "x"},
        {"prompt_version": "x"},
        {"policy_epoch": "x"},
        {"context": "x"},
        {"extra": (("tools", "x"),)},
    ],
    ids=str,
)
@pytest.mark.parametrize("text", ["can i cancel?", "cancel mine", "no idea what this is"])
def test_cache_never_serves_across_a_line(bench: Bench, model: FakeModel, text: str, change: dict[str, Any]) -> None:
    bench.ask(text, model, ACME)
    assert not bench.get(text, ACME.but(**change)).hit
    assert bench.get(text, ACME).hit


@pytest.mark.parametrize("text", ["cancel mine", "no idea what this is"])
def test_cache_keeps_the_answers_of_customers_apart(bench: Bench, model: FakeModel, text: str) -> None:
    bench.ask(text, model, ACME)
    assert bench.get(text, ACME.but(customer="c2")).reason == "not_found"
    assert bench.get(text, ACME.but(customer=None)).reason == "no_customer"


def test_cache_shares_a_shared_answer_with_every_customer(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    assert bench.get("can i cancel?", ACME.but(customer=None)).hit


def test_cache_a_hit_never_prolongs_an_answer(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    for _ in range(7):
        bench.clock.advance(DAY - 1)
        assert bench.get("can i cancel?", ACME).hit
    bench.clock.advance(7)
    assert bench.get("can i cancel?", ACME).reason == "expired"


def test_cache_wrapped_function_answers_in_plain_text(bench: Bench, model: FakeModel) -> None:
    wrapped = bench.wrap(model if bench.kind == "sync" else model.acall, scope=ACME)

    def ask(text: str, **options: Any) -> Any:
        said = wrapped(text, **options)
        return asyncio.run(said) if bench.kind == "async" else said

    assert [ask("can i cancel?"), ask("may i call it off?")] == ["answer to: can i cancel?"] * 2
    assert ask("can i cancel?", scope=ACME.but(tenant="x")) == "answer to: can i cancel?"
    assert len(model.calls) == 2
