"""How long the first answer takes, and how long a new wording does: `python benchmarks/bench_parse.py [--json FILE]`.

Start: a fresh process imports slotcache, loads the shipped domain and model and reads one question (seconds, resident
megabytes). Reading: questions of the base examples, each read once, warm, pinned to one core where the system allows
it, beside the encoder alone on the same questions in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slotcache import Parser
from slotcache.shipped import shipped

START = """
import resource, time
begun = time.perf_counter()
from slotcache import Parser
Parser.load().parse("hey can i still cancel once its been shipped??")
print(time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def start(runs: int) -> dict[str, float]:
    """Median seconds to the first answer and resident megabytes, over fresh processes."""
    taken = []
    for _ in range(runs):
        printed = subprocess.run([sys.executable, "-c", START], check=True, capture_output=True, text=True).stdout
        taken.append([float(number) for number in printed.split()])
    return {"seconds": statistics.median(t for t, _ in taken), "megabytes": statistics.median(m for _, m in taken)}


def spread(read: Callable[[str], object], texts: list[str]) -> dict[str, float]:
    """Milliseconds a text, p50 and p95."""
    taken = []
    for text in texts:
        begun = time.perf_counter()
        read(text)
        taken.append((time.perf_counter() - begun) * 1e3)
    cuts = statistics.quantiles(taken, n=20)
    return {"p50": statistics.median(taken), "p95": cuts[18]}


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--json", type=Path, help="write the figures here as well")
    arguments.add_argument("--questions", type=int, default=2_000)
    options = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = (shipped("training/groups") / "returns.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in rows][: options.questions]
    parser = Parser.load()
    model = parser.model
    if model is None:
        raise SystemExit("no model ships here; train one with `make train`")
    # Everything that is worked out once is worked out before it counts; no text is read twice by the measured passes.
    for text in texts[::7]:
        parser.parse(text)
    fresh = [f"{text} " for text in texts]
    whole, alone = spread(parser.parse, fresh), spread(model.encoder, texts)
    figures: dict[str, Any] = {
        "start": start(3),
        "new_wording_ms": whole,
        "encoder_alone_ms": alone,
        "ratio_p50": whole["p50"] / alone["p50"],
        "machine": {"processor": platform.processor() or platform.machine(), "python": platform.python_version()},
    }
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
