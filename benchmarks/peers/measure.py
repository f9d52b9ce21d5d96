"""Measures one cache, in the environment in which it is installed.

    python -m benchmarks.peers.measure JOB.json

The job says which cache, which model folder, which files of pairs, which sizes and where to work. What happens is told
on standard output, a JSON object a line: `{"stage", "done", "total"}` on the way, `{"figures"}` at the end.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from benchmarks.peers.encoder import Encoder
from benchmarks.peers.subjects import ANSWER, BATCH, SUBJECTS, Subject, versions
from benchmarks.peers.workload import ASKED, Pair, filling, gate_pairs, never_stored

_EVERY: Final = 50
Tell = Callable[[str, int, int], None]


def main(job: dict[str, Any], out: TextIO) -> None:
    """Measure what the job says."""

    def tell(stage: str, done: int, total: int) -> None:
        if done % _EVERY == 0 or done == total:
            _say(out, {"stage": stage, "done": done, "total": total})

    encoder = Encoder(Path(job["model"]))
    pairs = gate_pairs([Path(path) for path in job["pairs"]])
    figures: dict[str, Any] = {"python": sys.version.split()[0]}
    with _opened(job, "pairs", encoder) as subject:
        figures |= {
            "settings": subject.settings,
            "changed": subject.changed,
            "versions": versions(subject.packages),
            "pairs": _pairs(subject, pairs, tell),
        }
    # Anew, so that no question of the pairs is remembered when it is asked for the first time at some size.
    with _opened(job, "sizes", encoder) as subject:
        figures["sizes"] = list(_sizes(subject, encoder, pairs, job, tell))
    _say(out, {"figures": figures})


@contextmanager
def _opened(job: dict[str, Any], part: str, encoder: Encoder) -> Iterator[Subject]:
    folder = Path(job["folder"]) / part
    folder.mkdir()
    subject = SUBJECTS[job["subject"]](encoder, folder)
    try:
        yield subject
    finally:
        subject.close()


def _pairs(subject: Subject, pairs: Sequence[Pair], tell: Tell) -> dict[str, dict[str, int]]:
    """Keep an answer to one question of a pair in an empty cache, and ask the other."""
    counts: dict[str, Counter[str]] = {}
    for at, pair in enumerate(pairs):
        subject.clear()
        subject.put(pair.a, ANSWER)
        served = subject.get(pair.b) is not None
        of_file = counts.setdefault(pair.file, Counter(must_not=0, false_hits=0, may=0, hits=0))
        of_file["may" if pair.same else "must_not"] += 1
        of_file["hits" if pair.same else "false_hits"] += served
        tell("pairs", at + 1, len(pairs))
    return {name: dict(of_file) for name, of_file in counts.items()}


def _sizes(
    subject: Subject, encoder: Encoder, pairs: Sequence[Pair], job: dict[str, Any], tell: Tell
) -> Iterator[dict[str, Any]]:
    """Fill further and further, and look the same questions up at each size."""
    texts = filling(max(job["sizes"]))
    again, texts = texts[:ASKED], texts[ASKED:]
    vectors = np.load(job["vectors"], mmap_mode="r")[ASKED:]
    for text in again:
        subject.put(text, ANSWER)
    held = 0
    for size, new in zip(sorted(job["sizes"]), never_stored(list(pairs), len(job["sizes"])), strict=True):
        started = time.perf_counter()
        wanted = size - len(again)
        for start in range(held, wanted, BATCH):
            batch = range(start, min(start + BATCH, wanted))
            encoder.known = {texts[number]: np.array(vectors[number]) for number in batch}
            subject.fill([texts[number] for number in batch])
            held = batch.stop
            tell(f"filling to {size:,}", held, wanted)
            if time.perf_counter() - started > job["patience"]:
                break
        encoder.known = {}
        if held < wanted:
            yield {"entries": size, "not_reached": f"{held:,} entries after {job['patience']:g} s of filling"}
            return
        filled = time.perf_counter() - started
        # The first questions after a filling pay for what was put off; the figures are those of a running cache.
        for text in again[:20]:
            subject.get(text)
        hits = _times(subject.get, again)
        fresh = _times(subject.get, new, others=subject.server_seconds)
        alone = _times(encoder, new)
        yield {
            "entries": size,
            "filled_seconds": round(filled, 1),
            "asked_again": len(again),
            "asked_again_served": len(hits.served),
            "hit_ms": _summary(hits.served),
            "new_wordings": len(new),
            "new_wording_served": len(fresh.served),
            "new_wording_ms": _summary([*fresh.served, *fresh.missed]),
            "new_wording_cpu_ms": fresh.cpu,
            "encoder_alone_ms": _summary(alone.served),
            "encoder_alone_cpu_ms": alone.cpu,
        }


@dataclass(frozen=True, slots=True)
class _Times:
    """Milliseconds by the clock of the calls that gave something and of those that did not; processor time of all.

    The clock of a busy machine also counts the time that others had the processor.
    """

    served: list[float]
    missed: list[float]
    cpu: float


def _times(work: Callable[[str], object], texts: Sequence[str], *, others: Callable[[], float] = lambda: 0.0) -> _Times:
    """How long a call takes for each text.

    Args:
        work: Takes a text.
        texts: The texts.
        others: Processor time in seconds that another process has taken for this one.
    """
    served: list[float] = []
    missed: list[float] = []
    before = time.process_time() + others()
    for text in texts:
        started = time.perf_counter()
        found = work(text)
        taken = (time.perf_counter() - started) * 1e3
        (missed if found is None else served).append(taken)
    spent = time.process_time() + others() - before
    return _Times(served, missed, round(1e3 * spent / len(texts), 4))


def _summary(taken: list[float]) -> dict[str, float] | None:
    """Median and 95th percentile; None where nothing was taken."""
    if not taken:
        return None
    ordered = sorted(taken)
    return {"p50": round(statistics.median(ordered), 4), "p95": round(ordered[int(len(ordered) * 0.95)], 4)}


def _say(out: TextIO, event: dict[str, Any]) -> None:
    print(json.dumps(event), file=out, flush=True)


if __name__ == "__main__":
    # Some caches print; what they say must not get in between.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), told)
