"""What observers and counters are told, sync and async, over every local store."""

from __future__ import annotations

from slotcache.answers import Answer
from slotcache.events import Answered, Event, Kept, LookedUp, Switched, Withdrawn
from slotcache.testing import FakeModel, Recorder, ScriptedParser, memory_cache
from tests.cache.shells import ACME, READINGS, Bench


def test_cache_observers_are_told_everything_in_order(bench: Bench, model: FakeModel) -> None:
    bench.ask("can i cancel?", model, ACME)
    hit = bench.get("can i cancel?", ACME)
    bench.put("can i cancel after it ships?", "no", ACME)
    bench.report_false_hit(hit.hit_id)
    bench.invalidate(intent="cancel_order")
    bench.switch_off("cancel_order")
    kinds = [LookedUp, Answered, LookedUp, Kept, Withdrawn, Withdrawn, Switched]
    assert [type(event) for event in bench.seen.events] == kinds


def test_cache_event_of_a_hit_carries_what_was_served_and_saved(bench: Bench) -> None:
    bench.put("can i cancel?", Answer("yes", tokens_in=100, tokens_out=20, cost=0.5), ACME)
    bench.get("may i call it off?", ACME)
    event = bench.seen.of(LookedUp)[-1]
    assert (event.served.tokens_in, event.served.question, event.scope) == (100, "can i cancel?", ACME)
    stats = bench.stats()
    assert (stats["saved_calls"], stats["saved_tokens"], stats["saved_cost"]) == (1, 120, 0.5)


def test_cache_observer_that_fails_is_counted_and_goes_no_further() -> None:
    seen = Recorder()

    def broken(event: Event) -> None:
        raise RuntimeError("full queue")

    with memory_cache(ScriptedParser(READINGS), observers=(broken, seen)) as cache:
        assert cache.get("can i cancel?").reason == "not_found"
        assert cache.stats()["observer_failures"] == len(seen.events) == 1
