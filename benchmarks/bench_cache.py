"""How fast an identical question is answered again, and whether lookups stay flat as the store grows.

    python benchmarks/bench_cache.py                         # memory store, and SQLite with 1 thousand to 1 million
    python benchmarks/bench_cache.py --entries 1000 100000   # smaller stores, for a look in between
    python benchmarks/bench_cache.py --json results.json     # figures with machine and versions beside them

A full hit goes through `SlotCache.get`: the remembered reading, the address, the switches, the store, the decision, the
counters and the event to one observer. The reader is scripted: this measures the cache, not the parser. Figures of
different store sizes come from one run and are given as ratios; absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from slotcache.address import Address, Namespace, Scope
from slotcache.cache import SlotCache
from slotcache.entry import Entry, Origin
from slotcache.key import Key
from slotcache.stores.memory import MemoryStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import ScriptedParser

TEXT = "can i cancel before it ships?"
KEY = "cancel_order(aspect=eligibility, timing=pre_shipment)"
ANSWER = "Yes. Open the order in your account and choose Cancel; the money is back within 5 business days."
SCOPE = Scope(tenant="acme", customer="c-1", locale="en-GB", model="m-1", prompt_version="7", policy_epoch="2024-06")
BATCH = 10_000


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    options.add_argument("--lookups", type=int, default=20_000, help="lookups for each figure")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()

    figures: dict[str, Any] = {"machine": _machine(), "hit_again_us": _hit_again(chosen.lookups)}
    _show("identical question again, memory store", figures["hit_again_us"])
    with tempfile.TemporaryDirectory() as folder:
        figures["sqlite"] = list(_growing(Path(folder), sorted(chosen.entries), chosen.lookups))
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _hit_again(lookups: int) -> dict[str, float]:
    seen: list[object] = [None]

    def observe(event: object) -> None:
        seen[0] = event

    with SlotCache(ScriptedParser({TEXT: KEY}), MemoryStore(), observers=(observe,)) as cache:
        assert cache.put(TEXT, ANSWER, SCOPE).stored
        assert cache.get(TEXT, SCOPE).hit
        return _times(lambda _: cache.get(TEXT, SCOPE), range(lookups))


def _growing(folder: Path, sizes: list[int], lookups: int) -> Iterator[dict[str, Any]]:
    """Fill one SQLite file further and further, and look random entries up after each size."""
    store = SqliteStore(folder / "answers.sqlite3", max_entries=2 * sizes[-1])
    dice = random.Random(7)
    first: dict[str, float] | None = None
    filled = 0
    for size in sizes:
        started = time.perf_counter()
        for at in range(filled, size, BATCH):
            store.put_many([_entry(number) for number in range(at, min(at + BATCH, size))])
        filling = time.perf_counter() - started
        cells = [_entry(dice.randrange(size)).cell for _ in range(lookups)]
        absent = [_entry(size + dice.randrange(size)).cell for _ in range(lookups)]
        _times(store.get, cells[: lookups // 10])
        hits, misses = _times(store.get, cells), _times(store.get, absent)
        first = first or hits
        ratio = hits["median"] / first["median"]
        _show(f"SQLite, {size:>9,} entries: hit", hits, f"{ratio:.2f} x the smallest")
        _show(f"SQLite, {size:>9,} entries: miss", misses)
        yield {
            "entries": size,
            "hit_us": hits,
            "miss_us": misses,
            "ratio_to_smallest": round(ratio, 3),
            "filled_per_second": round((size - filled) / filling) if size > filled else None,
            "bytes": store.path.stat().st_size,
        }
        filled = size
    store.close()


def _entry(number: int) -> Entry:
    address = Address.of(Namespace(tenant=f"t{number}", locale="en-GB", model="m-1"), Key.parse(KEY), ())
    return Entry(
        id=f"{address.cell}{number:016x}",
        address=address,
        answer=ANSWER,
        origin=Origin.LEARNED,
        created=time.time(),
        expires=time.time() + 86_400,
        question=TEXT,
        canonical=TEXT,
        tags=("cancelling",),
        parser="bench",
    )


def _times(work: Callable[[Any], object], values: Any) -> dict[str, float]:
    """Microseconds that each call takes."""
    timer = time.perf_counter
    taken = []
    for value in values:
        started = timer()
        work(value)
        taken.append((timer() - started) * 1e6)
    taken.sort()
    return {
        "median": round(statistics.median(taken), 2),
        "mean": round(statistics.fmean(taken), 2),
        "p95": round(taken[int(len(taken) * 0.95)], 2),
        "p99": round(taken[int(len(taken) * 0.99)], 2),
    }


def _show(what: str, figures: dict[str, float], note: str = "") -> None:
    numbers = "  ".join(f"{name} {value:8.2f} us" for name, value in figures.items())
    print(f"{what:<44} {numbers}  {note}".rstrip(), flush=True)


def _machine() -> dict[str, str]:
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
    }


if __name__ == "__main__":
    main()
