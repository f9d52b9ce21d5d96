"""What a model is trained and judged on before anybody labels anything: examples, pairs, personal questions."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from slotcache.domain.patches import Patch, patched
from slotcache.domain.schema import Domain
from slotcache.evaluation.pairs import Pair, pairs_from
from slotcache.evaluation.rows import read_rows
from slotcache.learning import corpus
from slotcache.learning.examples import Example
from slotcache.learning.facets import with_exact_facets
from slotcache.learning.labels import accept, label_problems, read_labels
from slotcache.shipped import shipped

EXAMPLES: Final = "examples.jsonl"
"""In the folder of a business: labelled questions."""

GATE: Final = "gate.jsonl"
"""In the folder of a business: pairs that may or must not share an answer, and personal questions. Never trained on."""

_PERSONAL_KIND: Final = "personal_data"
_PARTS: Final = 5


@dataclass(frozen=True, slots=True)
class Base:
    """Everything that stands before new labels.

    Attributes:
        fit: Examples that heads are fitted on.
        calibration: Examples that they are calibrated on.
        test: Examples that neither saw.
        pairs: Pairs of the gate.
        personal: Questions that no two customers may share.
        unfit: Examples that the domain has no intent or value for, in words; they are left out.
    """

    fit: tuple[Example, ...]
    calibration: tuple[Example, ...]
    test: tuple[Example, ...]
    pairs: tuple[Pair, ...] = ()
    personal: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()

    @property
    def examples(self) -> tuple[Example, ...]:
        """All examples."""
        return self.fit + self.calibration + self.test

    @property
    def digest(self) -> str:
        """Digest of all of it, in hexadecimal."""
        return digest_of(asdict(self))


def digest_of(content: object) -> str:
    """SHA-256 over the JSON form of plain data, in hexadecimal."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_plain).encode()).hexdigest()


def shipped_base(domain: Domain) -> Base:
    """The base examples and gate that ship with slotcache."""
    groups = shipped("training/groups")
    found = corpus.load(groups)
    unfit: dict[str, None] = {}
    fit, calibration, test = (
        _fitting(with_exact_facets(corpus.examples(found.of(part)), domain), domain, unfit)
        for part in (corpus.FIT, corpus.CALIBRATION, corpus.TEST)
    )
    outside = groups / f"{corpus.OUT_OF_SCOPE_FILE}.jsonl"
    rows = read_rows([outside], needs=("text", "kind")) if outside.is_file() else []
    return Base(
        fit,
        calibration,
        test,
        pairs=tuple(pairs_from(read_rows(sorted(shipped("training/gate").glob("*.jsonl")), needs=("a", "b", "same")))),
        personal=tuple(str(row["text"]) for row in rows if row["kind"] == _PERSONAL_KIND),
        unfit=tuple(unfit),
    )


def business_base(folder: Path, domain: Domain, *, seed: int = 1) -> Base:
    """The examples and gate of a business of one's own: `examples.jsonl` and, beside it, `gate.jsonl`.

    Raises:
        LabelsError: rows cannot be used; the message names them and their fix.
    """

    def extend(patch: Patch) -> Domain:
        return patched(domain, patch)

    labels = accept(read_labels(folder / EXAMPLES), extend)
    gate = accept(read_labels(folder / GATE), extend) if (folder / GATE).is_file() else None
    fit, calibration, test = split(labels.examples, seed=seed)
    return Base(
        fit,
        calibration,
        test,
        pairs=labels.pairs + (gate.pairs if gate else ()),
        personal=labels.personal + (gate.personal if gate else ()),
        unfit=labels.contradictions + (gate.contradictions if gate else ()),
    )


Part = tuple[Example, ...]


def split(examples: Iterable[Example], *, seed: int) -> tuple[Part, Part, Part]:
    """Examples in three parts (60, 20 and 20 %), drawn by text within each intent, so that no intent is forgotten.

    An intent with a handful of examples is calibrated on some that were fitted as well, rather than not at all.
    """
    by_intent: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_intent[example.intent].append(example)
    fit: Part = ()
    calibration: Part = ()
    test: Part = ()
    for found in by_intent.values():
        found.sort(key=lambda example: zlib.crc32(f"{seed}|{example.text}".encode()))
        kept, held = found[_PARTS - 2 :: _PARTS], found[_PARTS - 1 :: _PARTS]
        fit += tuple(example for example in found if example not in kept and example not in held)
        calibration += tuple(kept or found[-1:])
        test += tuple(held)
    return fit, calibration, test


def _fitting(examples: Sequence[Example], domain: Domain, unfit: dict[str, None]) -> tuple[Example, ...]:
    kept = []
    for example in examples:
        problems = label_problems(example.intent, example.slots, domain)
        if problems:
            unfit[f"{example.group}: {problems[0]}"] = None
        else:
            kept.append(example)
    return tuple(kept)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no digest")
