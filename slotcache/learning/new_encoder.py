"""Trains the encoder as well as the heads, with the recipe of a checkout: on demand, since it takes hours and torch."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from slotcache.domain.schema import Domain
from slotcache.errors import ConfigurationError
from slotcache.learning.corpus import CALIBRATION, FIT, TEST, Corpus, Utterance
from slotcache.learning.examples import Example
from slotcache.learning.promotion import WORK

_RECIPE: Final = "training"
_NEEDED: Final = ("torch", "safetensors", "all_minilm_l6_v2", _RECIPE)
_OUT: Final = "encoder"


def new_encoder(
    root: Path,
    domain: Domain,
    *,
    fit: Iterable[Example],
    calibration: Iterable[Example],
    test: Iterable[Example],
    seed: int,
) -> Path:
    """A model folder with an encoder that was trained anew on the examples; the heads in it are not used.

    Stages that are finished are kept below the folder of versions and are not run again on the same examples.

    Args:
        root: Folder of versions.
        domain: What the examples belong to.
        fit: What it is trained on.
        calibration: What only the heads see.
        test: What it is measured on.
        seed: Fixes everything random.

    Raises:
        ConfigurationError: something is not installed, or nothing could be learned from so little.
    """
    trainer = recipe()
    corpus = Corpus(
        tuple(
            u
            for part, found in ((FIT, fit), (CALIBRATION, calibration), (TEST, test))
            for u in _utterances(part, found)
        )
    )
    folder = root / WORK / _OUT
    shutil.rmtree(folder, ignore_errors=True)
    trainer.run(
        folder,
        replace(trainer.DEFAULT, seed=seed),
        work=root / WORK / f"{_OUT}-stages",
        domain=domain,
        bf16=trainer.bf16_is_faster(),
        corpus=corpus,
    )
    return folder


def recipe() -> Any:
    """The module that trains an encoder.

    Raises:
        ConfigurationError: it, or what it needs, is not there; the message says what to install.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        wanted = [name for name in missing if name != _RECIPE]
        lacks = f"{', '.join(wanted)} installed" if wanted else "the training recipe, which no wheel holds"
        raise ConfigurationError(
            f"--encoder needs {lacks}: run the command in a checkout after `pip install -e '.[training]'`; "
            "without --encoder the encoder is kept and the heads are retrained, in minutes"
        )
    return import_module(f"{_RECIPE}.train")


def _utterances(part: str, examples: Iterable[Example]) -> Iterator[Utterance]:
    for example in examples:
        group = example.group or f"{example.intent}{sorted(example.slots.items())}"
        yield Utterance(example.text, group, "", example.intent, part, example)
