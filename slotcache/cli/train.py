"""`slotcache train`: the first model of a business of one's own, or the next one after its files changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.training import RootOption, StagesShown, exit_code, guarded, show_result


def train(
    folder: Annotated[
        Path, typer.Argument(help="Folder with domain.yaml, examples.jsonl and, if you have, gate.jsonl.")
    ],
    out: RootOption = None,
    store: Annotated[str | None, typer.Option(help="A store to re-key along with the switch.")] = None,
    encoder_from: Annotated[
        Path | None, typer.Option(help="Model folder whose encoder is kept; the shipped one when absent.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes everything random.")] = 1,
    latency_ms: Annotated[
        float, typer.Option(min=0.1, help="95 % of the questions must be read within this time.")
    ] = 50.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Train and judge, and change nothing for readers.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Train, calibrate and gate a domain on its own examples, with the encoder that ships.

    Exit status as of `slotcache retrain`.
    """
    from slotcache.cli.rekey import around_switch
    from slotcache.domain.loader import load_domain
    from slotcache.learning import places
    from slotcache.learning.gate import Bounds
    from slotcache.learning.retrain import Job, run
    from slotcache.model_files import promotion_root

    loaded = load_domain(folder)
    root = out if out is not None else promotion_root()
    with guarded(root):
        job = Job(
            loaded,
            places.base_for(folder, loaded, seed=seed),
            places.encoder_for(loaded.name, root, encoder_from),
            places.champion_for(loaded.name, root),
            root,
            bounds=Bounds(latency=latency_ms / 1e3),
            seed=seed,
        )
        with StagesShown(quiet=as_json) as stages, around_switch(store, root, loaded.name, stages) as hooks:
            result = run(job, dry_run=dry_run, hooks=hooks)
    if as_json:
        print(json.dumps(result.as_dict()))
    else:
        show_result(result, unfit=job.base.unfit)
    raise typer.Exit(exit_code(result))
