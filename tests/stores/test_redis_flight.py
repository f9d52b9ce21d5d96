"""Single flight between processes: one fills, the others wait, and nobody waits for the dead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tests
from tests.servers import shared
from tests.stores.contract import NOW, entry, lease_for
from tests.stores.redis_stores import Open

pytestmark = pytest.mark.server
ROOT = Path(tests.__path__[0]).parent


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("kind", ["valkey", "cluster"])
def test_redis_200_callers_of_4_processes_make_one_call(kind: str, prefix: str) -> None:
    url = f"{shared(kind).url}?prefix={prefix}&buckets=8&timeout=10&connect_timeout=10"
    processes = [_start("tests.stores.redis_callers", url, "50") for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(one["calls"] for one in told) == 1
    outcomes = [one["outcomes"] for one in told]
    assert sum(sum(one.values()) for one in outcomes) == 200
    coalesced = sum(one.get("coalesced", 0) for one in outcomes)
    assert coalesced == sum(one["counted"] for one in told)
    # One asked the model; who came after it was done is served a plain hit.
    assert coalesced + sum(one.get("learned", 0) for one in outcomes) == 199


def test_redis_lease_of_a_filler_that_was_killed_runs_out(prefix: str) -> None:
    url = f"{shared('valkey').url}?prefix={prefix}&buckets=1"
    first = _start("tests.cache.filler", url, "60", "1")
    assert first.stdout is not None
    assert first.stdout.readline() == "calling\n"
    first.kill()
    first.communicate(timeout=30)
    second, _ = _start("tests.cache.filler", url, "0", "1").communicate(timeout=60)
    assert second.split("\n")[:-1] == ["calling", "yes None"]


def test_redis_forgets_leases_by_itself(open_at: Open) -> None:
    store = open_at(shared("valkey").url, buckets=1)
    lease_for(store, entry(), seconds=30)
    client = shared("valkey").client()
    (key,) = client.keys(f"{store.url.options.prefix}:*lease:*")
    assert 3600 < client.ttl(key) <= 3630
    client.close()


def test_redis_lease_is_granted_again_to_its_holder(open_at: Open) -> None:
    store = open_at(shared("valkey").url)
    for now in (NOW, NOW + 1):
        assert lease_for(store, entry(), holder="a", now=now).granted
    assert not lease_for(store, entry(), holder="b", now=NOW + 1).granted
