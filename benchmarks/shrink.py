"""What each step of making the encoder buys: `python -m benchmarks.shrink [FOLDER ...] [--steps] [--json FILE]`.

Each FOLDER holds `encoder.onnx` and `tokenizer.json`: a model folder, or what the recipe left in `training/work`.
`--steps` first exports the steps that can be had without training: the base encoder, its vocabulary trimmed, and that
in 8 bits; and the fine-tuned weights of `training/work`, where they are, in full precision and in 8 bits. It needs the
extra `training`. Weights that were tuned on an earlier text may have seen what is held out now, which flatters them.

Measured alike for all, without any head: size, and milliseconds to encode one text (pinned to one core where the
system allows it, all taking turns at each text). By the nearest prototypes (the mean of the fitting examples of one
meaning): the share of held-out examples whose intent is among the 20 nearest, and whose intent is the nearest. The area
under the curve of the cosine between two wordings of one meaning against two meanings of one intent, and the same on
the pairs of the gate. A folder with heads also shows what is served: the intent among its candidates, and by its heads.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from rich.progress import track
from tokenizers import Tokenizer

from slotcache.domain.loader import load_domain
from slotcache.evaluation.baselines import ranked_above, separation
from slotcache.learning.base import Base, shipped_base
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.model_files import MANIFEST, EncoderShape, find_model, read_manifest
from slotcache.parsing.encoder import Encoder
from slotcache.parsing.learned import Model

NEAREST: Final = 20
"""Intents that count as proposed where no head says how many are."""

WORK: Final = Path(__file__).parent.parent / "training" / "work"
MAX_TOKENS: Final = 64

Vectors = NDArray[np.float32]


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("folders", nargs="*", type=Path, help="the shipped model if none")
    arguments.add_argument("--steps", action="store_true", help="export and measure the steps of the recipe first")
    arguments.add_argument("--per-meaning", type=int, default=4, help="fitting examples that make a prototype")
    arguments.add_argument("--domain", default="order_support")
    arguments.add_argument("--json", type=Path, help="write the figures here as well")
    options = arguments.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    base = shipped_base(load_domain(options.domain))
    rows = []
    with tempfile.TemporaryDirectory() as room:
        chosen = [(str(path), path) for path in options.folders]
        steps = export_steps(Path(room)) if options.steps else []
        if not chosen:
            found = find_model(domain=options.domain)
            chosen = [(f"shipped {found.name}", found)]
        every = [*steps, *chosen]
        took = speeds([folder for _, folder in every], [example.text for example in base.test])
        for (name, folder), p50 in zip(every, took, strict=True):
            rows.append(measure(name, folder, base, per_meaning=options.per_meaning) | {"p50_ms": p50})
            print(json.dumps(rows[-1]), flush=True)
    told = {
        "steps": rows,
        "machine": {"processor": platform.processor() or platform.machine(), "python": platform.python_version()},
    }
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def speeds(folders: Sequence[Path], texts: Sequence[str], *, warm: int = 20) -> list[float]:
    """Median milliseconds that each encoder takes for one text.

    All encode each text in turn, so that whatever else the machine does falls on all of them alike.
    """
    encoders = [open_encoder(folder) for folder in folders]
    taken: list[list[float]] = [[] for _ in encoders]
    for at, text in enumerate(track(texts, description="speed", transient=True)):
        for encoder, its in zip(encoders, taken, strict=True):
            begun = time.perf_counter()
            encoder(text)
            if at >= warm:
                its.append(time.perf_counter() - begun)
    return [round(1e3 * statistics.median(its), 3) for its in taken]


def measure(name: str, folder: Path, base: Base, *, per_meaning: int) -> dict[str, Any]:
    """Figures of one encoder."""
    encoder = open_encoder(folder)
    fitted = few(base.fit, per_meaning)
    inside = [example for example in base.test if not example.intent.startswith(OUT_OF_SCOPE)]
    prototypes, owners = centres(fitted, encode(encoder, [e.text for e in fitted], name))
    vectors = encode(encoder, [example.text for example in inside], name)
    ranks = ranked(vectors @ prototypes.T, owners, inside)
    texts = list(dict.fromkeys(text for pair in base.pairs for text in (pair.a, pair.b)))
    places = {text: at for at, text in enumerate(texts)}
    gate = encode(encoder, texts, name)
    cosines = [float(gate[places[pair.a]] @ gate[places[pair.b]]) for pair in base.pairs]
    apart = separation(base.pairs, cosines, at=())
    figures = {
        "step": name,
        "megabytes": round((folder / "encoder.onnx").stat().st_size / 1e6, 1),
        "pieces": encoder.shape.pieces,
        "recall_at_20": round(sum(rank < NEAREST for rank in ranks) / len(ranks), 4),
        "nearest_intent": round(sum(rank == 0 for rank in ranks) / len(ranks), 4),
        "auc_meanings": round(meanings_auc(vectors, inside), 4),
        "auc_gate": round(apart.auc, 4),
        "gate_hits_without_a_false_one": round(apart.without_wrong, 4),
    }
    return figures | served(folder, inside) if (folder / MANIFEST).is_file() else figures


def served(folder: Path, examples: Sequence[Example]) -> dict[str, Any]:
    """What a model folder's own heads make of held-out examples."""
    model = Model.load(folder, domain=read_manifest(folder).domain)
    readings = [(model.read(example.text), example.intent) for example in examples]
    proposed = sum(intent in dict(reading.candidates) for reading, intent in readings)
    right = sum(reading.intents[0][0] == intent for reading, intent in readings)
    return {"candidates": round(proposed / len(readings), 4), "intent": round(right / len(readings), 4)}


def open_encoder(folder: Path) -> Encoder:
    """The encoder of a folder; one without a manifest says its shape itself."""
    if (folder / MANIFEST).is_file():
        return Encoder(folder, read_manifest(folder).encoder)
    output = onnx.load(str(folder / "encoder.onnx"), load_external_data=False).graph.output[0]
    pieces = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    shape = EncoderShape(
        graph="encoder.onnx",
        tokenizer="tokenizer.json",
        width=output.type.tensor_type.shape.dim[1].dim_value,
        max_tokens=MAX_TOKENS,
        layers=1,
        pieces=pieces,
    )
    return Encoder(folder, shape)


def encode(encoder: Encoder, texts: Sequence[str], name: str) -> Vectors:
    """Unit vectors, shape (texts, width)."""
    return np.concatenate([encoder(text)[0] for text in track(texts, description=name, transient=True)])


def few(examples: Sequence[Example], most: int) -> list[Example]:
    """The first examples of each meaning of the domain."""
    counts: dict[object, int] = defaultdict(int)
    kept = []
    for example in examples:
        counts[meaning(example)] += 1
        if counts[meaning(example)] <= most and not example.intent.startswith(OUT_OF_SCOPE):
            kept.append(example)
    return kept


def meaning(example: Example) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What an example asks."""
    return example.intent, tuple(sorted(example.slots.items()))


def centres(examples: Sequence[Example], vectors: Vectors) -> tuple[Vectors, list[str]]:
    """One unit vector a meaning, and the intent of each."""
    rows: dict[tuple[str, object], list[int]] = defaultdict(list)
    for at, example in enumerate(examples):
        rows[meaning(example)].append(at)
    means = np.stack([vectors[found].mean(0) for found in rows.values()])
    return means / np.linalg.norm(means, axis=1, keepdims=True), [intent for intent, _ in rows]


def ranked(cosines: Vectors, owners: Sequence[str], examples: Sequence[Example]) -> list[int]:
    """How many intents are nearer to each example than its own; a large number where its own has no prototype."""
    names = sorted(set(owners))
    columns = [[at for at, owner in enumerate(owners) if owner == name] for name in names]
    best = np.stack([cosines[:, found].max(1) for found in columns], axis=1)
    place = {name: at for at, name in enumerate(names)}
    return [
        int((row > row[place[example.intent]]).sum()) if example.intent in place else len(names)
        for row, example in zip(best, examples, strict=True)
    ]


def meanings_auc(vectors: Vectors, examples: Sequence[Example]) -> float:
    """Chance that two wordings of one meaning are nearer than two meanings of one intent."""
    intents = np.unique([example.intent for example in examples], return_inverse=True)[1]
    meanings = np.unique([repr(meaning(example)) for example in examples], return_inverse=True)[1]
    first, second = np.triu_indices(len(examples), 1)
    near = intents[first] == intents[second]
    first, second = first[near], second[near]
    cosines = np.einsum("ij,ij->i", vectors[first], vectors[second])
    same = meanings[first] == meanings[second]
    return ranked_above(sorted(cosines[same].tolist()), sorted(cosines[~same].tolist()))


def export_steps(room: Path) -> list[tuple[str, Path]]:
    """Export what can be had without training; the weights that were tuned are taken from `training/work`."""
    import torch
    from safetensors.torch import load_file

    from slotcache.learning import corpus
    from training import base, vocabulary
    from training.export import export
    from training.network import Encoder as Network
    from training.network import Shape, from_base

    source = base.unpack(room / "base")
    plain = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    layers = range(6)
    whole = from_base(source, range(len(plain["model"]["vocab"])), layers)
    trimmed, order = vocabulary.trim(source / "tokenizer.json", [u.text for u in corpus.load().utterances])
    cut = from_base(source, order, layers)
    made = [
        ("base, full precision", room / "whole", whole, {**plain, "padding": None}, False),
        ("vocabulary trimmed", room / "cut", cut, trimmed, False),
        ("and 8 bits", room / "cut8", cut, trimmed, True),
    ]
    for checkpoint in sorted(WORK.glob("*/teacher-*.safetensors")):
        tokenizer = json.loads((checkpoint.parent / "encoder" / "tokenizer.json").read_text(encoding="utf-8"))
        tuned = Network(Shape(len(tokenizer["model"]["vocab"]), tuple(layers)))
        state = load_file(str(checkpoint))
        prefix = next(name for name in state if name.endswith("encoder.pieces.weight")).removesuffix("pieces.weight")
        tuned.load_state_dict({n.removeprefix(prefix): v for n, v in state.items() if n.startswith(prefix)})
        made.append(("trimmed, fine-tuned", room / checkpoint.parent.name, tuned, tokenizer, False))
        made.append(("fine-tuned, 8 bits", room / f"{checkpoint.parent.name}8", tuned, tokenizer, True))
    if len(made) == 3:
        print(f"no fine-tuned weights in {WORK}; `make train` leaves them there")
    for name, folder, network, tokenizer, int8 in made:
        print(f"exporting {name}", flush=True)
        with torch.no_grad():
            export(network, tokenizer, folder, max_tokens=MAX_TOKENS, int8=int8)
    return [(name, folder) for name, folder, *_ in made]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The figures as a table for the documents."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [" | ".join(names), " | ".join("---" for _ in names)]
    lines += [" | ".join(str(row.get(name, "")) for name in names) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    main()
