"""Servers that die, hang, are slow, full or cut off: the customer is answered, nothing wrong is served, it heals."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tests
from slotcache.cache import SlotCache
from slotcache.entry import Origin, Selector
from slotcache.errors import StoreUnavailable
from slotcache.events import Outcome, Trouble
from slotcache.policy import Policy
from slotcache.stores.base import PutResult
from slotcache.stores.redis import RedisStore
from slotcache.testing import FakeModel, Recorder, ScriptedParser
from tests.cache.shells import ACME, READINGS
from tests.servers import Proxy, Server, until
from tests.stores.contract import NOW, entry, lease_for, quarantine
from tests.stores.redis_whole import misfits

pytestmark = pytest.mark.server
ROOT = Path(tests.__path__[0]).parent
ASKED = "can i cancel?"
KEYS = {text: wanted if isinstance(wanted, str) else str(wanted.key) for text, wanted in READINGS.items()}


class Bot:
    """A bot behind the cache on a Redis store, with short patience."""

    def __init__(self, url: str, **options: Any) -> None:
        self.store = RedisStore.from_url(url, **{"buckets": 4, "timeout": 0.2, "connect_timeout": 0.2, **options})
        self.model = FakeModel()
        self.seen = Recorder()
        policy = Policy(store_pause=0.1, wait=5, lease=5)
        self.cache = SlotCache(ScriptedParser(READINGS), self.store, policy=policy, observers=(self.seen,))

    def ask(self, text: str = ASKED) -> Outcome:
        outcome = self.cache.get_or_call(text, self.model, ACME)
        # Whatever is wrong, the customer is told what the model says to this very question, now or earlier.
        assert outcome.answer in {f"answer to: {same}" for same in READINGS if KEYS[same] == KEYS[text]}
        return outcome

    def heals(self) -> None:
        """Wait until questions are answered from the cache again."""
        until(lambda: self.ask().hit, "a hit", seconds=10)


@pytest.fixture
def bot(server: Server) -> Iterator[Bot]:
    made = Bot(server.url)
    yield made
    made.cache.close()


def test_redis_server_that_is_killed_costs_calls_and_nothing_else(server: Server, bot: Bot) -> None:
    bot.ask()
    server.kill()
    outcomes = [bot.ask() for _ in range(5)]
    assert {(one.decision, one.reason, one.not_stored) for one in outcomes} == {
        ("bypass", "store_unavailable", "store_unavailable")
    }
    assert bot.cache.stats()["store_failures"] >= 3
    assert {event.where for event in bot.seen.of(Trouble)} == {"store"}
    server.start()
    bot.heals()
    with contextlib.closing(server.client()) as client:
        assert misfits(bot.store, client) == []


def test_redis_server_that_hangs_costs_one_timeout_and_is_then_left_alone(server: Server, bot: Bot) -> None:
    bot.ask()
    server.pause()
    outcomes = [bot.ask() for _ in range(20)]
    assert not any(one.hit for one in outcomes)
    assert bot.cache.stats()["store_failures"] < 20
    server.resume()
    bot.heals()


def test_redis_server_that_is_slow_counts_as_away_and_comes_back(server: Server) -> None:
    proxy = Proxy(server.port)
    bot = Bot(f"redis://127.0.0.1:{proxy.port}")
    bot.ask()
    proxy.delay = 0.5
    assert bot.ask().reason == "store_unavailable"
    proxy.delay = 0.0
    bot.heals()
    bot.cache.close()
    proxy.close()


def test_redis_late_reply_is_never_taken_for_another_one(server: Server) -> None:
    proxy = Proxy(server.port)
    store = RedisStore.from_url(f"redis://127.0.0.1:{proxy.port}", buckets=1, timeout=0.1)
    store.put_many([entry(tenant=tenant) for tenant in "ab"])
    proxy.delay = 0.3
    with pytest.raises(StoreUnavailable):
        store.get(entry(tenant="a").cell)
    proxy.delay = 0.0
    time.sleep(0.4)
    assert tuple(store.get(entry(tenant="b").cell)) == (entry(tenant="b"),)
    store.close()
    proxy.close()


def _fill(client: Any) -> None:
    """Let the server have less memory than it uses already."""
    client.config_set("maxmemory", 100_000)


def test_redis_server_without_memory_refuses_answers_and_serves_what_it_holds(server: Server, bot: Bot) -> None:
    bot.ask()
    with contextlib.closing(server.client()) as client:
        _fill(client)
        assert bot.ask().hit
        outcomes = [bot.ask("can i cancel after it ships?") for _ in range(5)]
        assert {(one.decision, one.not_stored) for one in outcomes} == {("miss", "store_full")}
        assert bot.cache.stats()["not_stored.store_full"] == 5
        assert "store_failures" not in bot.cache.stats()
        assert bot.store.counts()["refused"] == 5
        assert bot.ask().hit
        client.config_set("maxmemory", 0)
        assert bot.ask("can i cancel after it ships?").not_stored is None
        assert bot.ask("can i cancel after it ships?").hit
        assert misfits(bot.store, client) == []


def test_redis_server_without_memory_still_obeys_people(server: Server, bot: Bot) -> None:
    bot.ask()
    hit = bot.ask()
    bot.store.put_many([entry(tenant=str(number)) for number in range(50)])
    with contextlib.closing(server.client()) as client:
        _fill(client)
        assert bot.cache.report_false_hit(str(hit.hit_id)).quarantined
        assert bot.cache.invalidate(intent="cancel_order").count == 50
        bot.cache.switch_off("cancel_order")
        assert bot.ask().reason == "intent_off"
        assert len(bot.store.feedback()) == 1
        assert misfits(bot.store, client) == []


def test_redis_server_without_memory_says_so_to_who_approves(server: Server, bot: Bot) -> None:
    bot.ask()
    hit = bot.ask()
    with contextlib.closing(server.client()) as client:
        _fill(client)
        assert bot.cache.approve_hit(str(hit.hit_id), author="kim").reason == "store_full"
        assert bot.cache.approve(ASKED, "yes", ACME, author="kim").reason == "store_full"
        assert bot.ask().reason == "learned"


def test_redis_server_without_memory_says_so_to_an_import(server: Server, bot: Bot) -> None:
    bot.ask()
    with contextlib.closing(server.client()) as client:
        _fill(client)
        with pytest.raises(StoreUnavailable, match="no room"):
            bot.cache.import_answers([{"key": "return_item()", "answer": "yes"}])


def test_redis_server_without_memory_counts_waiting_keys_as_refused(server: Server, bot: Bot) -> None:
    bot.ask()
    with contextlib.closing(server.client()) as client:
        _fill(client)
        assert bot.ask("gran says offer 50. can i cancel?").hit
        bot.store.retire(next(iter(bot.store.find(Selector()))).id, reason="false_hit", now=time.time())
        assert bot.ask("gran says offer 50. can i cancel?").not_stored == "not_fillable"
        assert "store_failures" not in bot.cache.stats()


def test_redis_server_that_cannot_save_refuses_answers_and_serves_what_it_holds(server: Server, bot: Bot) -> None:
    bot.ask()
    with contextlib.closing(server.client()) as client:
        client.config_set("min-replicas-to-write", 1)
        assert bot.ask().hit
        assert bot.ask("can i cancel after it ships?").not_stored == "store_full"
        assert "store_failures" not in bot.cache.stats()
        with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
            bot.cache.invalidate(intent="cancel_order")
        client.config_set("min-replicas-to-write", 0)
        assert bot.ask("can i cancel after it ships?").not_stored is None


@pytest.mark.parametrize("passed_on", [1, 200, 900])
def test_redis_line_that_is_cut_in_mid_write_leaves_all_or_nothing(server: Server, passed_on: int) -> None:
    proxy = Proxy(server.port)
    store = RedisStore.from_url(f"redis://127.0.0.1:{proxy.port}", buckets=1)
    store.put(entry(answer="old"))
    later = entry(answer="new " * 1_000, token="1" * 16, origin=Origin.APPROVED)
    proxy.cut_request = passed_on
    # The line is dead before the request is whole; it is sent once more over another one.
    assert store.put(later) is PutResult.STORED
    assert tuple(store.get(later.cell)) == (later,)
    with contextlib.closing(server.client()) as client:
        assert misfits(store, client) == []
    store.close()
    proxy.close()


def test_redis_put_whose_reply_is_lost_counts_once(server: Server) -> None:
    proxy = Proxy(server.port)
    store = RedisStore.from_url(f"redis://127.0.0.1:{proxy.port}", buckets=1)
    lease = lease_for(store, entry())
    assert not store.in_quarantine(quarantine().place)
    # The quarantine is asked about first, so the reply to swallow is the second one.
    original = store.in_quarantine

    def asked(place: Any) -> bool:
        held = original(place)
        proxy.swallow_reply = True
        return held

    store.in_quarantine = asked  # type: ignore[method-assign]
    assert store.put(entry(), lease=lease) is PutResult.STORED
    assert store.history(entry().cell) == ()
    assert tuple(store.get(entry().cell)) == (entry(),)
    assert lease_for(store, entry(), holder="b").granted
    store.close()
    proxy.close()


def test_redis_damaged_entry_answers_nothing_and_can_be_replaced(server: Server) -> None:
    store = RedisStore.from_url(server.url, buckets=1)
    store.put(entry())
    with contextlib.closing(server.client()) as client:
        (key,) = client.keys("*:cell:*")
        client.hset(key, entry().address.variant, b"1 {\xff")
    assert tuple(store.get(entry().cell)) == ()
    assert store.counts()["damaged"] == 1
    assert store.put(entry(token="1" * 16)) is PutResult.STORED
    assert len(store.get(entry().cell)) == 1
    store.close()


def test_redis_server_that_forgot_everything_is_used_afresh(server: Server, bot: Bot) -> None:
    bot.ask()
    server.kill()
    server.start()
    bot.heals()
    with contextlib.closing(server.client()) as client:
        assert client.exists("slotcache:schema")


@pytest.mark.parametrize("acknowledged", [1, 60, 300])
def test_redis_survives_kill_9_of_a_writer(server: Server, acknowledged: int) -> None:
    last = _write_until(server, acknowledged, lambda writer: os.kill(writer.pid, signal.SIGKILL))
    store = RedisStore.from_url(server.url)
    _holds_what_was_acknowledged(store, last)
    with contextlib.closing(server.client()) as client:
        assert misfits(store, client) == []
    store.close()


def test_redis_that_logs_every_write_loses_nothing_when_it_is_killed() -> None:
    server = Server(appendonly="yes", appendfsync="always").start()
    last = _write_until(server, 150, lambda _: server.kill())
    server.start()
    store = RedisStore.from_url(server.url)
    _holds_what_was_acknowledged(store, last)
    with contextlib.closing(server.client()) as client:
        assert misfits(store, client) == []
    store.close()
    server.dispose()


def _write_until(server: Server, acknowledged: int, disaster: Callable[[subprocess.Popen[bytes]], None]) -> int:
    """Let a process write until something happens to it or to the server; the last number that it acknowledged."""
    command = [sys.executable, "-m", "tests.stores.writer", server.url]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
    assert writer.stdout is not None
    last = next(number for number in map(int, writer.stdout) if number >= acknowledged)
    disaster(writer)
    last = max([last, *map(int, writer.stdout)])
    writer.stdout.close()
    writer.wait(timeout=30)
    return last


def _holds_what_was_acknowledged(store: RedisStore, last: int) -> None:
    held = {int(found.answer.partition(":")[0]): found for found in store.find(Selector())}
    expected = set(range(max(0, last - 49), last + 1))
    # One more than was acknowledged may be there: stored, but killed before it could say so.
    assert expected - set(held) <= {last - 49}
    assert set(held) - expected <= {last + 1}
    everything = [*held.values(), *(old.entry for found in held.values() for old in store.history(found.cell))]
    assert {int(one.answer.partition(":")[0]) for one in everything} >= set(range(last + 1))
    assert lease_for(store, entry(tenant="0"), now=NOW + 10**6).granted
