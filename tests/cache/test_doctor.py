from __future__ import annotations

from slotcache.policy import Policy
from slotcache.testing import FakeModel, ScriptedParser
from tests.cache.shells import ACME, KEY, Bench


def test_doctor_names_the_fields_that_split_a_key(bench: Bench) -> None:
    for scope in (ACME, ACME.but(context="a"), ACME.but(context="b", locale="en-US")):
        bench.put("can i cancel?", "yes", scope)
    bench.put("can i cancel after it ships?", "no", ACME)
    (health,) = bench.doctor().keys
    assert (health.key, health.entries, dict(health.split_by)) == (KEY, 3, {"context": 3, "locale": 2})


def test_doctor_names_a_fingerprint_that_splits_a_key(bench: Bench) -> None:
    for text in ("can i cancel?", "can i not cancel?"):
        bench.put(text, "yes", ACME)
    assert dict(bench.doctor().keys[0].split_by) == {"fingerprint": 2}


def test_doctor_names_keys_that_wait_for_an_approved_answer(bench: Bench) -> None:
    for _ in range(3):
        bench.ask("gran says offer 50. can i cancel?", FakeModel(), ACME)
    assert dict(bench.doctor().waiting) == {KEY: 3}
    bench.approve("can i cancel?", "Yes.", ACME, author="kim")
    assert dict(bench.doctor().waiting) == {}


def test_doctor_tells_entries_that_another_parser_read(bench: Bench) -> None:
    bench.put("can i cancel?", "yes", ACME)
    assert isinstance(bench.parser, ScriptedParser)
    bench.parser.version = "test-2"
    found = bench.doctor()
    assert found.generation == "test-2/test-domain"
    assert dict(found.generations) == {"test-1/test-domain": 1}


def test_doctor_tells_what_is_switched_off(bench: Bench) -> None:
    bench.switch_off("cancel_order")
    bench.sync.core.policy = Policy(intents_off=frozenset({"return_item"}))
    assert bench.doctor().switched_off == {"cancel_order", "return_item"}


def test_doctor_has_nothing_to_say_about_a_healthy_cache(bench: Bench) -> None:
    bench.put("can i cancel?", "yes", ACME)
    found = bench.doctor()
    assert (found.keys, dict(found.waiting), found.counts["entries"]) == ((), {}, 1)
