"""Refits the heads on the encoder of a model folder: `python -m training.refit --encoder-from A --out B`.

What `make train` does after the encoder, without torch and in minutes: for labels or a domain that changed while the
encoder's text did not. The bars between the two readers are set by risk control on the calibration split, and stay
where those of the model before were as long as that allows it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from slotcache.domain.loader import load_domain
from slotcache.learning.calibrate import calibrate
from slotcache.learning.facets import with_exact_facets
from slotcache.learning.heads import Settings
from slotcache.learning.model_writer import train_heads
from slotcache.model_files import MANIFEST, Manifest, read_manifest
from training import data, measure

FEWEST = 30
"""Examples that must speak of a slot before a head is fitted for it; with fewer it would only guess."""


def refit(encoder_from: Path, out: Path, *, domain: str) -> Manifest:
    """Write a model folder with new heads and bars on a kept encoder."""
    corpus = data.load()
    known = load_domain(domain)
    data.check(corpus, known)
    fitted, kept, tested = (
        with_exact_facets(data.examples(corpus.of(split)), known)
        for split in (data.FIT, data.CALIBRATION, data.TEST)
    )
    said = Counter(name for example in fitted for name in example.slots)
    closed = frozenset(
        name
        for name, slot in known.slots.items()
        if slot.type == "closed" and not slot.everywhere and said[name] >= FEWEST
    )
    text = json.dumps([asdict(u) for u in corpus.utterances], sort_keys=True)
    train_heads(
        encoder_from,
        out,
        fitted,
        kept,
        version=out.name,
        domain=known.name,
        provenance={
            **read_manifest(encoder_from).provenance,
            "heads_text": {"sha256": hashlib.sha256(text.encode()).hexdigest(), "counts": corpus.counts},
        },
        settings=Settings(slots=closed),
        measure=lambda folder: measure.measure(folder, tested),
        report=lambda step: print(f"heads: {step}", flush=True),
    )
    bars = calibrate(out, known, kept, former=read_manifest(encoder_from).bars)
    manifest = read_manifest(out).model_copy(update={"bars": asdict(bars)})
    (out / MANIFEST).write_text(json.dumps(manifest.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    """Parse the command line and refit."""
    parser = argparse.ArgumentParser(prog="python -m training.refit", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--encoder-from", type=Path, required=True, help="model folder whose encoder is kept")
    parser.add_argument("--out", type=Path, required=True, help="folder of the new model; its name is the version")
    parser.add_argument("--domain", default="order_support", help="name or path of the domain the labels belong to")
    options = parser.parse_args()
    manifest = refit(options.encoder_from, options.out, domain=options.domain)
    print(json.dumps({"bars": manifest.bars, "metrics": manifest.metrics}, indent=1))


if __name__ == "__main__":
    main()
