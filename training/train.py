"""Makes the shipped model from the base weights and the training text, in one resumable, seeded command.

    python -m training --out models/2025.1

Stages: vocabulary, teacher (all layers), student (the layers kept), ONNX export, heads, figures. Finished stages
are kept in the work folder under a digest of what they were made from, and are not run again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tokenizers import Tokenizer

from slotcache.domain.loader import load_domain
from slotcache.domain.schema import Domain
from slotcache.learning.facets import with_exact_facets
from slotcache.learning.heads import Settings, fit
from slotcache.learning.model_writer import assemble
from slotcache.model_files import Manifest
from slotcache.parsing.encoder import Encoder as ServedEncoder
from training import base, data, measure, targets, vocabulary
from training.export import export
from training.finetune import Schedule, Text, tune
from training.network import Encoder, Probe, from_base

WORK: Final = Path(__file__).parent / "work"
ALL_LAYERS: Final = tuple(range(6))


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides the encoder's weights, beside the data."""

    layers: tuple[int, ...]
    teacher: Schedule
    student: Schedule
    seed: int


DEFAULT: Final = Recipe(
    layers=ALL_LAYERS,
    teacher=Schedule(epochs=7, rate=8e-5),
    student=Schedule(epochs=12, rate=1e-4, teach=5.0),
    seed=1,
)


def run(
    out: Path,
    recipe: Recipe,
    *,
    work: Path,
    domain: str | Domain,
    bf16: bool,
    corpus: data.Corpus | None = None,
) -> Manifest:
    """Run all stages that are not done and return the manifest of the new model.

    Args:
        out: Folder of the new model; its name is the version.
        recipe: What decides the encoder's weights, beside the data.
        work: Folder of finished stages.
        domain: The domain that the labels belong to, or its name or path.
        bf16: Whether to multiply in bfloat16.
        corpus: The training text; what ships when None.
    """
    corpus = data.load() if corpus is None else corpus
    known = domain if isinstance(domain, Domain) else load_domain(domain)
    data.check(corpus, known)
    numbers = targets.number(corpus.utterances)
    digest = _digest(corpus)
    stage = work / digest[:12]
    stage.mkdir(parents=True, exist_ok=True)
    print(f"{len(corpus.utterances)} utterances {corpus.counts}, {numbers.sizes['meaning']} meanings")
    print(f"finished stages are kept in {stage}", flush=True)
    source = base.unpack(work / "base")
    tokenizer, order = vocabulary.trim(source / "tokenizer.json", [u.text for u in corpus.utterances])
    encoder = _encoder(recipe, corpus, numbers, source, tokenizer, order, stage, bf16=bf16)
    shape = export(encoder, tokenizer, stage / "encoder", max_tokens=vocabulary.MAX_TOKENS)
    served = ServedEncoder(stage / "encoder", shape)
    by_group = not corpus.labelled
    fitted, kept, tested = (
        with_exact_facets(data.examples(corpus.of(split), by_group=by_group), known)
        for split in (data.FIT, data.CALIBRATION, data.TEST)
    )
    settings = Settings(slots=None if by_group else _closed_slots(known))
    heads = fit(fitted, kept, served.many, settings=settings, report=lambda step: print(f"heads: {step}", flush=True))
    return assemble(
        stage / "encoder",
        out,
        shape,
        heads,
        version=out.name,
        domain=known.name,
        provenance=_provenance(recipe, corpus, digest),
        measure=lambda folder: measure.measure(folder, tested),
    )


def _encoder(
    recipe: Recipe,
    corpus: data.Corpus,
    numbers: targets.Targets,
    source: Path,
    tokenizer: dict[str, Any],
    order: list[int],
    stage: Path,
    *,
    bf16: bool,
) -> Encoder:
    rows = np.array([row for row, u in enumerate(corpus.utterances) if u.split == data.FIT])
    text = Text([corpus.utterances[row].text for row in rows], numbers.rows(rows))
    reader = Tokenizer.from_str(json.dumps(tokenizer))
    torch.manual_seed(recipe.seed)
    teacher = Probe(from_base(source, order, ALL_LAYERS), numbers.sizes)
    checkpoint = stage / f"teacher-{_digest([asdict(recipe.teacher), recipe.seed])[:8]}.safetensors"
    tune(teacher, reader, text, recipe.teacher, checkpoint, seed=recipe.seed, bf16=bf16)
    if recipe.layers == ALL_LAYERS:
        return teacher.encoder
    student = Probe(teacher.encoder.thinned(recipe.layers), numbers.sizes)
    student.adopt(teacher)
    tune(
        student,
        reader,
        text,
        recipe.student,
        stage / f"student-{_digest(asdict(recipe))[:8]}.safetensors",
        seed=recipe.seed,
        bf16=bf16,
        teacher=teacher.encoder.eval(),
    )
    return student.encoder


def _closed_slots(domain: Domain) -> frozenset[str]:
    """Slots whose values can be learned from examples: listed ones that not every key may carry."""
    return frozenset(n for n, slot in domain.slots.items() if slot.type == "closed" and not slot.everywhere)


def _provenance(recipe: Recipe, corpus: data.Corpus, digest: str) -> dict[str, Any]:
    return {
        "base": {"name": "all-MiniLM-L6-v2", "licence": "Apache-2.0", "sha256": base.SHA256},
        "recipe": asdict(recipe),
        "training_text": {"sha256": digest, "counts": corpus.counts, "unlabelled_groups": len(corpus.unlabelled)},
        "made_with": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
    }


def _digest(content: object) -> str:
    text = json.dumps(content, default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, data.Corpus):
        return [asdict(u) for u in value.utterances]
    raise TypeError(f"{type(value).__name__} has no digest")


def bf16_is_faster() -> bool:
    """Whether this machine multiplies bfloat16 faster than float32."""
    first = torch.randn(2048, 384)
    second = torch.randn(384, 1536)
    taken = []
    for kind in (torch.float32, torch.bfloat16):
        left, right = first.to(kind), second.to(kind)
        left @ right
        start = time.perf_counter()
        for _ in range(10):
            left @ right
        taken.append(time.perf_counter() - start)
    return taken[1] < taken[0]


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the new model; its name is the version")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of finished stages")
    parser.add_argument(
        "--domain", default="order_support", help="name or path of the domain that the labels belong to"
    )
    parser.add_argument(
        "--layers", default=",".join(map(str, DEFAULT.layers)), help="layers of the base encoder to keep"
    )
    parser.add_argument("--teacher-epochs", type=int, default=DEFAULT.teacher.epochs)
    parser.add_argument("--student-epochs", type=int, default=DEFAULT.student.epochs)
    parser.add_argument("--seed", type=int, default=DEFAULT.seed)
    parser.add_argument("--precision", choices=("auto", "bf16", "fp32"), default="auto", help="auto takes the faster")
    options = parser.parse_args(arguments)
    recipe = Recipe(
        layers=tuple(int(layer) for layer in options.layers.split(",")),
        teacher=_with_epochs(DEFAULT.teacher, options.teacher_epochs),
        student=_with_epochs(DEFAULT.student, options.student_epochs),
        seed=options.seed,
    )
    bf16 = bf16_is_faster() if options.precision == "auto" else options.precision == "bf16"
    manifest = run(options.out, recipe, work=options.work, domain=options.domain, bf16=bf16)
    print(json.dumps(manifest.metrics, indent=1))


def _with_epochs(schedule: Schedule, epochs: int) -> Schedule:
    return Schedule(**{**asdict(schedule), "epochs": epochs})


if __name__ == "__main__":
    main()
