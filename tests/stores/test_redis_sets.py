"""Sets of servers that change while callers use them: failover, a node that dies, slots that move."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest
from redis.crc import key_slot

from slotcache.cache import SlotCache
from slotcache.entry import Selector
from slotcache.errors import StoreUnavailable
from slotcache.events import Outcome, Trouble
from slotcache.policy import Policy
from slotcache.stores.base import PutResult
from slotcache.stores.redis import RedisStore
from slotcache.testing import FakeModel, Recorder, ScriptedParser
from tests.servers import HOST, Cluster, SentinelSet, Server, shared, until
from tests.stores.contract import NOW, entry
from tests.stores.redis_stores import Open
from tests.stores.redis_whole import misfits

pytestmark = pytest.mark.server
QUESTIONS = [f"question {number}" for number in range(40)]
PARSER = {text: f"ask(number={text.split()[1]})" for text in QUESTIONS}


class Traffic:
    """Four threads that ask all questions again and again until told to stop."""

    def __init__(self, store: RedisStore) -> None:
        self.seen = Recorder()
        self.outcomes: list[tuple[str, Outcome]] = []
        self._stop = threading.Event()
        policy = Policy(store_pause=0.1, wait=2)
        self.cache = SlotCache(ScriptedParser(PARSER), store, policy=policy, observers=(self.seen,))
        self._threads = [threading.Thread(target=self._ask) for _ in range(4)]

    def _ask(self) -> None:
        model = FakeModel()
        while not self._stop.is_set():
            for text in QUESTIONS:
                self.outcomes.append((text, self.cache.get_or_call(text, model)))
                time.sleep(0.002)

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=60)

    def hits_again(self) -> None:
        """Wait until every question is answered from the cache."""
        until(lambda: all(self.cache.get(text).hit for text in QUESTIONS), "hits again", seconds=30)

    def check(self) -> None:
        """Everybody was answered, each with the answer to the question that was asked, and a failure was told."""
        assert len(self.outcomes) > len(QUESTIONS)
        assert {outcome.answer == f"answer to: {text}" for text, outcome in self.outcomes} == {True}
        assert {event.where for event in self.seen.of(Trouble)} == {"store"}
        assert self.cache.stats()["store_failures"] > 0


@pytest.fixture
def sentinels() -> Iterator[SentinelSet]:
    made = SentinelSet()
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A cluster that these tests may harm; each of them leaves it whole."""
    made = Cluster()
    yield made
    made.dispose()


@pytest.fixture
def cluster(own_cluster: Cluster) -> Iterator[Cluster]:
    yield own_cluster
    for node in own_cluster.nodes:
        if not node.running:
            node.start()
    own_cluster.settle()


def test_redis_failover_while_callers_run(sentinels: SentinelSet) -> None:
    store = RedisStore.from_url(sentinels.url, buckets=4, timeout=0.3, connect_timeout=0.3)
    with Traffic(store) as traffic:
        traffic.hits_again()
        sentinels.primary.kill()
        until(lambda: sentinels.primary_port() == sentinels.replica.port, "failover")
        traffic.hits_again()
    traffic.check()
    with contextlib.closing(sentinels.replica.client()) as client:
        assert misfits(store, client) == []
    store.close()


def test_redis_cluster_node_that_dies_and_returns(cluster: Cluster, open_at: Open) -> None:
    store = open_at(cluster.url, timeout=0.3, connect_timeout=0.3)
    with Traffic(store) as traffic:
        traffic.hits_again()
        cluster.nodes[0].kill()
        until(lambda: traffic.cache.stats().get("store_failures", 0) > 3, "failures")
        cluster.nodes[0].start()
        cluster.settle()
        traffic.hits_again()
    traffic.check()


def test_redis_cluster_serves_the_rest_while_a_node_is_away(cluster: Cluster, open_at: Open) -> None:
    store = open_at(cluster.url, timeout=0.3, connect_timeout=0.3)
    kept = [entry(tenant=str(number)) for number in range(40)]
    store.put_many(kept)
    cluster.nodes[2].kill()
    served = 0
    for one in kept:
        with contextlib.suppress(StoreUnavailable):
            assert tuple(store.get(one.cell)) == (one,)
            served += 1
    assert 0 < served < len(kept)


def _move(cluster: Cluster, slot: int, store: RedisStore) -> Iterator[str]:
    """Move a slot to another node as an operator's tools do, stopping after each step."""
    source = cluster.owner(slot)
    target = next(node for node in cluster.nodes if node is not source)
    ids = {node.port: _id_of(node) for node in cluster.nodes}
    with contextlib.closing(source.client()) as here, contextlib.closing(target.client()) as there:
        there.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source.port])
        here.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target.port])
        yield "begun"
        keys = sorted(here.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10_000))
        for at, key in enumerate(keys):
            here.execute_command("MIGRATE", HOST, target.port, key, 0, 5_000)
            if at in (len(keys) // 4, len(keys) // 2, 3 * len(keys) // 4):
                yield f"{at + 1} of {len(keys)} keys"
        yield "all keys"
        for node in cluster.nodes:
            with contextlib.closing(node.client()) as client:
                client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", ids[target.port])


def _id_of(node: Server) -> str:
    with contextlib.closing(node.client()) as client:
        return str(client.execute_command("CLUSTER", "MYID").decode())


def test_redis_cluster_slot_that_moves_is_never_half_changed(cluster: Cluster, open_at: Open) -> None:
    store = open_at(cluster.url, buckets=1)
    kept = [entry(tenant=str(number), tags=(f"t{number % 3}",)) for number in range(30)]
    store.put_many(kept)
    slot = key_slot(b"0")
    for step in _move(cluster, slot, store):
        later = entry(tenant="7", answer=step, token="1" * 16, created=NOW + 1)
        with contextlib.suppress(StoreUnavailable):
            assert store.put(later) is PutResult.STORED
        with contextlib.suppress(StoreUnavailable):
            store.invalidate(Selector(tag="t1"), reason="invalidated", now=NOW)
        # Each answer is where the address says, on either side, or was replaced or withdrawn as a whole.
        held = [found for one in kept for found in store.get(one.cell)]
        assert {found.id for found in held} <= {one.id for one in (*kept, later)}
    with contextlib.closing(cluster.owner(slot).client()) as client:
        assert misfits(store, client) == []
    assert store.invalidate(Selector(tag="t1"), reason="invalidated", now=NOW) in (0, 10)
    assert {found.tags for found in store.find(Selector())} <= {("t0",), ("t2",), ()}
    assert {found.address.namespace.tenant for found in store.find(Selector(tag="t2"))} == {
        str(number) for number in range(30) if number % 3 == 2
    }


def test_redis_cluster_slot_that_moves_while_callers_run(cluster: Cluster, open_at: Open) -> None:
    store = open_at(cluster.url, buckets=2)
    slot = key_slot(b"1")
    with Traffic(store) as traffic:
        traffic.hits_again()
        for _ in _move(cluster, slot, store):
            time.sleep(0.1)
        traffic.hits_again()
    assert {outcome.answer == f"answer to: {text}" for text, outcome in traffic.outcomes} == {True}
    with contextlib.closing(cluster.owner(slot).client()) as client:
        assert misfits(store, client) == []


def test_redis_cluster_spreads_a_store_over_its_nodes(open_at: Open) -> None:
    cluster = shared("cluster")
    store = open_at(cluster.url, buckets=64)
    store.put_many([entry(tenant=str(number)) for number in range(300)])
    sizes = []
    for node in cluster.nodes:
        with contextlib.closing(node.client()) as client:
            sizes.append(len(list(client.scan_iter(match=f"{store.url.options.prefix}:*:cell:*", count=5_000))))
    assert sum(sizes) == 300
    assert min(sizes) > 30
