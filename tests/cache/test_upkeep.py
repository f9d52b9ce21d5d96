"""Withdrawing, reporting, switching, approving, sync and async, over every local store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slotcache.policy import Directives
from slotcache.testing import FakeModel
from tests.cache.shells import ACME, KEY, Bench, summary


def test_cache_a_hit_can_be_approved(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    hit = bench.get("can i cancel?", ACME)
    assert bench.approve_hit(hit.hit_id, author="kim", answer="Yes, sure.").stored
    outcome = bench.get("can i cancel?", ACME)
    assert (outcome.answer, outcome.reason) == ("Yes, sure.", "approved")


def test_cache_approving_an_unknown_hit_says_so(bench: Bench) -> None:
    assert bench.approve_hit("nonsense.1", author="kim").reason == "unknown_hit"


def test_cache_report_evicts_at_once(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    hit = bench.get("can i cancel?", ACME)
    report = bench.report_false_hit(hit.hit_id, author="kim", note="wrong")
    assert (report.evicted, report.key) == (True, KEY)
    assert bench.get("can i cancel?", ACME).reason == "not_found"
    assert [(one.hit_id, one.author, one.key) for one in bench.store.feedback()] == [(hit.hit_id, "kim", KEY)]


def test_cache_report_of_something_gone_is_recorded_all_the_same(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    hit_id = bench.get("can i cancel?", ACME).hit_id
    bench.report_false_hit(hit_id)
    assert not bench.report_false_hit(hit_id, author="lee").evicted
    assert len(bench.store.feedback()) == 2


def test_cache_key_that_gave_a_wrong_answer_is_not_filled_by_the_model_again(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    hit = bench.get("can i cancel?", ACME)
    assert bench.report_false_hit(hit.hit_id, author="kim").quarantined
    for text in ("can i cancel?", "may i call it off?"):
        outcome = bench.ask(text, model, ACME)
        assert summary(outcome) == ("miss", "not_found", "model", "quarantined")
    assert bench.put("can i cancel?", "yes", ACME).reason == "quarantined"
    assert bench.put("can i cancel?", "yes", ACME.but(policy_epoch="next")).reason == "quarantined"
    (one,) = bench.doctor().quarantined
    assert (one.place, one.hit_id, one.author) == (("acme", "", KEY), hit.hit_id, "kim")
    assert (bench.stats()["quarantined"], bench.stats()["not_stored.quarantined"]) == (1, 4)


def test_cache_key_in_quarantine_is_filled_again_after_it_was_cleared(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    bench.report_false_hit(bench.get("can i cancel?", ACME).hit_id)
    assert not bench.clear_quarantine(KEY, tenant="other")
    assert bench.clear_quarantine(KEY, tenant="acme")
    assert not bench.clear_quarantine(KEY, tenant="acme")
    assert bench.ask("can i cancel?", model, ACME).not_stored is None
    assert bench.stats()["quarantine_cleared"] == 1


def test_cache_key_in_quarantine_is_served_once_somebody_approved(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    bench.report_false_hit(bench.get("can i cancel?", ACME).hit_id)
    assert bench.approve("can i cancel?", "Yes.", ACME, author="kim").stored
    assert bench.get("can i cancel?", ACME).answer == "Yes."
    assert bench.doctor().quarantined == ()


def test_cache_report_of_an_answer_that_was_replaced_counts_for_its_key(bench: Bench) -> None:
    bench.put("can i cancel?", "wrong", ACME)
    hit = bench.get("can i cancel?", ACME)
    bench.put("can i cancel?", "also wrong", ACME)
    report = bench.report_false_hit(hit.hit_id)
    assert (report.evicted, report.key, report.quarantined) == (False, KEY, True)


def test_cache_report_of_an_answer_that_a_person_replaced_leaves_theirs_alone(bench: Bench) -> None:
    bench.put("can i cancel?", "wrong", ACME)
    hit = bench.get("can i cancel?", ACME)
    bench.approve("can i cancel?", "Yes.", ACME, author="kim")
    assert not bench.report_false_hit(hit.hit_id).quarantined
    assert bench.get("can i cancel?", ACME).answer == "Yes."


def test_cache_callers_do_not_wait_for_an_answer_that_will_not_be_kept(bench: Bench) -> None:
    bench.put("can i cancel?", "wrong", ACME)
    bench.report_false_hit(bench.get("can i cancel?", ACME).hit_id)
    outcomes = bench.ask_at_once(["can i cancel?"] * 4, FakeModel(), ACME)
    assert {outcome.not_stored for outcome in outcomes} == {"quarantined"}


def test_cache_switch_works_without_a_restart_in_both_directions(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    bench.switch_off("cancel_order")
    assert summary(bench.ask("can i cancel?", model, ACME)) == ("bypass", "intent_off", "model", None)
    assert bench.put("can i cancel?", "x", ACME).reason == "intent_off"
    bench.switch_on("cancel_order")
    assert bench.get("can i cancel?", ACME).hit


def test_cache_switch_is_seen_by_others_within_a_second(make: Callable[..., Bench]) -> None:
    here, there = make(), make()
    here.put("can i cancel?", "yes", ACME)
    there.get("can i cancel?", ACME)
    here.switch_off("cancel_order")
    there.clock.advance(0.9)
    assert there.get("can i cancel?", ACME).reason == "intent_off"


def test_cache_switch_reaches_verbatim_keys(bench: Bench, model: FakeModel) -> None:
    bench.switch_off("verbatim")
    assert bench.ask("no idea what this is", model, ACME).reason == "intent_off"


@pytest.mark.parametrize(
    "what",
    [
        {"key": KEY},
        {"intent": "cancel_order"},
        {"slots": {"timing": "*"}},
        {"tag": "t"},
        {"epoch": ""},
        {"tenant": "acme"},
    ],
    ids=str,
)
def test_cache_invalidates_what_it_said_it_would(bench: Bench, what: dict[str, Any]) -> None:
    bench.put("can i cancel?", "yes", ACME, tags=["t"])
    planned = bench.invalidate(**what, dry_run=True)
    assert (planned.count, planned.keys) == (1, (KEY,))
    assert bench.get("can i cancel?", ACME).hit
    assert bench.invalidate(**what).count == 1
    assert bench.get("can i cancel?", ACME).reason == "not_found"


def test_cache_invalidation_with_a_misspelt_name_withdraws_nothing(bench: Bench) -> None:
    bench.put("can i cancel?", "yes", ACME)
    with pytest.raises(TypeError, match="intnet"):
        bench.invalidate(tenant="acme", intnet="track_order")
    assert bench.get("can i cancel?", ACME).hit


def test_cache_does_not_keep_an_answer_that_was_invalidated_while_it_was_made(bench: Bench) -> None:
    def answer(text: str) -> str:
        bench.sync.invalidate(intent="cancel_order")
        return "made before the policy changed"

    assert bench.ask("can i cancel?", FakeModel(answer), ACME).not_stored == "invalidated"
    assert bench.get("can i cancel?", ACME).reason == "not_found"


def test_cache_does_not_keep_an_answer_that_was_reported_while_it_was_made_again(bench: Bench) -> None:
    bench.put("can i cancel?", "wrong", ACME)
    hit_id = bench.get("can i cancel?", ACME).hit_id

    def answer(text: str) -> str:
        bench.sync.report_false_hit(hit_id)
        return "wrong"

    outcome = bench.ask("can i cancel?", FakeModel(answer), ACME, directives=Directives(max_age=0))
    assert outcome.not_stored in ("lease_lost", "quarantined")
