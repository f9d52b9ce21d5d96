"""`slotcache train`: the first model of a business of one's own, or the next one after its files changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.training import (
    LATENCY_MS,
    DryRunOption,
    EncoderFromOption,
    LatencyOption,
    RekeyedOption,
    RootOption,
    SeedOption,
    StagesShown,
    guarded,
    make_job,
    tell_and_exit,
)


def train(
    folder: Annotated[
        Path, typer.Argument(help="Folder with domain.yaml, examples.jsonl and, if you have, gate.jsonl.")
    ],
    out: RootOption = None,
    store: RekeyedOption = None,
    encoder_from: EncoderFromOption = None,
    seed: SeedOption = 1,
    latency_ms: LatencyOption = LATENCY_MS,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train, calibrate and gate a domain on its own examples, with the encoder that ships.

    Exit status as of `slotcache retrain`.
    """
    from slotcache.cli.rekey import around_switch
    from slotcache.learning.retrain import run
    from slotcache.model_files import promotion_root

    root = out if out is not None else promotion_root()
    with guarded(root):
        job = make_job(folder, root, encoder_from=encoder_from, seed=seed, latency_ms=latency_ms)
        with StagesShown(quiet=as_json) as stages, around_switch(store, root, job.domain.name, stages) as hooks:
            result = run(job, dry_run=dry_run, hooks=hooks)
    tell_and_exit(result, job, as_json=as_json)
