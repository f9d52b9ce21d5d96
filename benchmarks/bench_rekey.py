"""What customers notice of a re-keying: the hit rate under load while the next generation is built and takes over.

    python benchmarks/bench_rekey.py                           # 5 thousand answers in a SQLite file
    python benchmarks/bench_rekey.py --store redis://localhost/0?prefix=bench
    python benchmarks/bench_rekey.py --json results.json       # figures with machine and versions beside them

Two threads ask questions of a small domain without pause, one in twenty of them new, and keep what a stand-in answers,
while the job re-keys the same store for a domain with one more synonym. The bots follow the announcement as they do in
production: they keep new answers in both generations, and change over when the pointer does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from slotcache import Parser, Scope, SlotCache, load_domain, open_store
from slotcache.domain.patches import patch_from, patched
from slotcache.learning.rekey import Journal, Rekeying
from slotcache.parsing.types import Parse

LIBRARY = Path(__file__).parent.parent / "tests" / "domains" / "library.yaml"
THINGS = ("books", "dvds", "magazines", "maps")
WINDOW = 0.25
"""Seconds over which a hit rate is taken."""


class Bots:
    """The parser of all bots: changes over at once, and may know of the next generation."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.next: Parser | None = None

    @property
    def version(self) -> str:
        return self.parser.version

    @property
    def domain_hash(self) -> str:
        return self.parser.domain_hash

    def parse(self, text: str) -> Parse:
        return self.parser.parse(text)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--answers", type=int, default=5_000)
    options.add_argument("--store", help="a store's address; a SQLite file in a temporary folder when absent")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure(Path(folder), chosen.store, answers=chosen.answers, seed=chosen.seed)
    for name, value in figures.items():
        print(f"{name:<28}{value:>14,.3f}" if isinstance(value, float) else f"{name:<28}{value:>14,}")
    if chosen.json:
        machine = {"python": sys.version.split()[0], "system": platform.platform(), "processor": platform.machine()}
        chosen.json.write_text(json.dumps({"machine": machine, **figures}, indent=2) + "\n", encoding="utf-8")


def _measure(folder: Path, where: str | None, *, answers: int, seed: int) -> dict[str, Any]:
    domain = load_domain(LIBRARY)
    before, after = Parser(domain), Parser(patched(domain, patch_from({"fillers": ["quick one"]}, where="here")))
    store = open_store(where if where is not None else folder / "answers.db")
    bots = Bots(before)
    cache = SlotCache(bots, store)
    texts = [f"can i borrow {2 + n // len(THINGS)} {THINGS[n % len(THINGS)]}" for n in range(answers)]
    for text in texts:
        cache.get_or_call(text, str, Scope(tenant="town"))
    asked = itertools.count(answers)
    seen: Counter[tuple[str, int, bool]] = Counter()
    phase, over = "before", threading.Event()

    def ask(number: int) -> None:
        chance = random.Random(seed + number)
        while not over.is_set():
            at = next(asked) if chance.random() < 0.05 else chance.randrange(answers)
            text = f"can i borrow {2 + at // len(THINGS)} {THINGS[at % len(THINGS)]}"
            hit = cache.get_or_call(text, str, Scope(tenant="town")).hit
            seen[phase, int(time.perf_counter() / WINDOW), hit] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(2.0)
    started = time.perf_counter()
    phase, bots.next = "while building", after
    job = Rekeying(store, after, Journal(folder / "journal.jsonl"), clock=time.time)
    built = sum(1 for _ in job.build())
    job.withdraw()
    built_seconds = time.perf_counter() - started
    phase, bots.parser = "after the switch", after
    closed = sum(1 for _ in job.finish())
    total_seconds = time.perf_counter() - started
    over.set()
    for thread in threads:
        thread.join()
    store.close()
    return {
        "answers": answers,
        "carried_over": built,
        "closed": closed,
        "build_s": built_seconds,
        "whole_s": total_seconds,
        **{f"hit rate {name}": _rate(seen, name) for name in ("before", "while building", "after the switch")},
        "lowest in a window": min(_windows(seen).values()),
    }


def _rate(seen: Counter[tuple[str, int, bool]], phase: str) -> float:
    hits, misses = (
        sum(n for (name, _, hit), n in seen.items() if name == phase and hit is kind) for kind in (True, False)
    )
    return hits / ((hits + misses) or 1)


def _windows(seen: Counter[tuple[str, int, bool]]) -> dict[int, float]:
    """Hit rate of each window in which at least 20 questions were asked."""
    counts: dict[int, list[int]] = {}
    for (_, window, hit), number in seen.items():
        counts.setdefault(window, [0, 0])[hit] += number
    return {window: hits / (hits + misses) for window, (misses, hits) in counts.items() if hits + misses >= 20}


if __name__ == "__main__":
    main()
