"""How long a report of a large traffic record takes, and what recording costs the bot.

    python benchmarks/bench_report.py                       # 100 thousand records of a small domain
    python benchmarks/bench_report.py --records 10000       # fewer, for a look in between
    python benchmarks/bench_report.py --domain order_support --texts questions.jsonl
    python benchmarks/bench_report.py --json results.json   # figures with machine and versions beside them

The real parser reads variations of the questions; a cache over a memory store decides, and the observer records. Every
question that is keyed is labelled with its key, one in fifty of them wrongly, so that the report has cells to show. The
report is then made as the command makes it: record, labels, reviewed traffic, explanations, HTML, JSON and CSV.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.evaluation.rows import read_rows
from slotcache.records import TrafficRecord, read_records
from slotcache.reporting.csv_files import write_csv
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.html import render
from slotcache.reporting.labels import labelled_from

LIBRARY = Path(__file__).parent.parent / "tests" / "domains" / "library.yaml"
OPENERS = ("", "hi, ", "hello ", "please, ", "quick question: ", "sorry, ", "hey, ")
VERBS = ("renew", "extend", "borrow", "take out", "check out", "reserve", "return")
THINGS = (
    "a book",
    "my novel",
    "a dvd",
    "two films",
    "a magazine",
    "my tablet",
    "a map",
    "the laptop",
    "order 10234567",
)
TAILS = ("", " before the due date", " after the due date", " for my son", " as a student", " tomorrow", " again?")
ASKS = ("can i", "how do i", "how much is it to", "when can i", "i want to")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--domain", default=str(LIBRARY))
    options.add_argument("--texts", type=Path, help='questions of the domain, JSON lines with "text"')
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()

    parser = Parser.load(chosen.domain)
    texts = [str(row["text"]) for row in read_rows([chosen.texts], needs=("text",))] if chosen.texts else list(_texts())
    with tempfile.TemporaryDirectory() as folder:
        figures = {"machine": _machine(), "records": chosen.records, "distinct": len(texts)}
        figures |= _measure(parser, texts, Path(folder), records=chosen.records, seed=chosen.seed)
    for name, value in figures.items():
        if name != "machine":
            print(f"{name:<28}{value:>14,.2f}" if isinstance(value, float) else f"{name:<28}{value:>14,}")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _texts() -> Iterator[str]:
    for opener in OPENERS:
        for ask in ASKS:
            for verb in VERBS:
                for thing in THINGS:
                    for tail in TAILS:
                        yield f"{opener}{ask} {verb} {thing}{tail}"


def _measure(parser: Parser, texts: list[str], folder: Path, *, records: int, seed: int) -> dict[str, Any]:
    path = folder / "traffic.db"
    random_source = random.Random(seed)
    weights = [1 / (1 + at) for at in range(len(texts))]
    random_source.shuffle(texts)
    asked = random_source.choices(texts, weights, k=records)
    took = _fill(parser, asked, path)
    labelled = labelled_from(_labels(parser, texts, random_source))
    inputs = Inputs(parser, read_records(path), labelled=labelled, reviewed=labelled)
    used = time.process_time()
    made, make_seconds = _timed(lambda: make_report(inputs, made=0.0))
    page, render_seconds = _timed(lambda: render(made))
    _, json_seconds = _timed(lambda: json.dumps(made.as_dict()))
    _, csv_seconds = _timed(lambda: write_csv(made, folder / "csv"))
    used = time.process_time() - used
    return {
        **took,
        "labelled": len(labelled),
        "make_s": make_seconds,
        "html_s": render_seconds,
        "json_s": json_seconds,
        "csv_s": csv_seconds,
        "report_s": make_seconds + render_seconds + json_seconds + csv_seconds,
        "report_cpu_s": used,
        "html_mb": len(page.encode()) / 1e6,
    }


def _fill(parser: Parser, asked: list[str], path: Path) -> dict[str, Any]:
    """Record the traffic, and time how long the observer holds a request."""
    record = TrafficRecord(path, waiting=len(asked) * 3 + 10, rows=len(asked) * 3)
    held = 0.0

    def observe(event: Any) -> None:
        nonlocal held
        start = time.perf_counter()
        record(event)
        held += time.perf_counter() - start

    start = time.perf_counter()
    cache = SlotCache(parser, MemoryStore(), observers=[observe])
    for at, text in enumerate(asked):
        cache.get_or_call(text, lambda said: f"answer to {said}", Scope(customer=f"c-{at % 500}"))
    record.flush(600.0)
    seconds = time.perf_counter() - start
    record.close()
    counts = record.counts()
    return {
        "recorded": counts["recorded"],
        "lost": counts["lost"],
        "fill_s": seconds,
        "observer_us_per_event": held / max(1, counts["recorded"]) * 1e6,
        "record_mb": path.stat().st_size / 1e6,
    }


def _labels(parser: Parser, texts: list[str], random_source: random.Random) -> list[dict[str, Any]]:
    parses = [parser.parse(text) for text in texts[:5_000]]
    keyed = [parse for parse in parses if parse.intent is not None]
    keys = [str(parse.key) for parse in keyed]
    return [
        {"text": parse.text, "key": random_source.choice(keys) if random_source.random() < 0.02 else key}
        for parse, key in zip(keyed, keys, strict=True)
    ]


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    value = work()
    return value, time.perf_counter() - start


def _machine() -> dict[str, str]:
    return {"python": sys.version.split()[0], "system": platform.platform(), "processor": platform.machine()}


if __name__ == "__main__":
    main()
