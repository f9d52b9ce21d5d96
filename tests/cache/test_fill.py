"""What is kept, and from whom, sync and async, over every local store."""

from __future__ import annotations

import itertools

import pytest

from slotcache.answers import Answer
from slotcache.policy import DAY
from slotcache.testing import FakeModel
from tests.cache.shells import ACME, Bench, everything


def test_cache_fills_again_after_expiry_and_remembers_the_former_answer(bench: Bench) -> None:
    numbers = itertools.count(1)
    model = FakeModel(lambda text: f"answer {next(numbers)}")
    bench.ask("can i cancel?", model, ACME)
    bench.clock.advance(8 * DAY)
    assert bench.ask("can i cancel?", model, ACME).answer == "answer 2"
    cell = next(iter(bench.store.find(everything()))).cell
    assert [old.entry.answer for old in bench.store.history(cell)] == ["answer 1"]


def test_cache_reads_but_does_not_fill_from_a_question_with_a_story(bench: Bench, model: FakeModel) -> None:
    story = "gran says offer 50. can i cancel?"
    assert bench.ask(story, model, ACME).not_stored == "not_fillable"
    assert bench.get("can i cancel?", ACME).reason == "not_found"
    bench.ask("can i cancel?", model, ACME)
    assert bench.get(story, ACME).answer == "answer to: can i cancel?"


def test_cache_put_does_not_fill_from_a_question_with_a_story_either(bench: Bench) -> None:
    stored = bench.put("gran says offer 50. can i cancel?", "50 % off!", ACME)
    assert (stored.stored, stored.reason) == (False, "not_fillable")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("I'm sorry, but I can't help with that."), "refused_answer"),
        (Answer("Yes, until", finish="length"), "incomplete_answer"),
        (Answer("", tool_call=True), "tool_call"),
        (Answer(""), "empty_answer"),
        (Answer("Mail jo@example.com."), "personal_answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_cache_serves_a_bad_answer_to_its_asker_alone(bench: Bench, answer: Answer, reason: str) -> None:
    model = FakeModel(lambda text: answer)
    outcome = bench.ask("can i cancel?", model, ACME)
    assert (outcome.answer, outcome.not_stored) == (answer.text, reason)
    assert bench.get("can i cancel?", ACME).reason == "not_found"
    assert bench.put("can i cancel?", answer, ACME).reason == reason


def test_cache_an_error_of_the_model_reaches_the_caller_and_blocks_nobody(bench: Bench, model: FakeModel) -> None:
    with pytest.raises(RuntimeError, match="model is down"):
        bench.ask("can i cancel?", FakeModel(error=RuntimeError("model is down")), ACME)
    assert bench.ask("can i cancel?", model, ACME).not_stored is None


def test_cache_refuses_what_a_model_cannot_have_said(bench: Bench) -> None:
    with pytest.raises(TypeError, match="dict"):
        bench.ask("can i cancel?", FakeModel(lambda text: {}), ACME)  # type: ignore[arg-type, return-value]
    assert len(bench.sync.core.flights) == 0
