"""`slotcache retrain`: new labels in; the next model is promoted, or refused with the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.cli.training import RootOption, StagesShown, exit_code, guarded, show_result

if TYPE_CHECKING:
    from slotcache.learning.retrain import Job, Result

_EPILOG = """
Exit status: 0 promoted, or nothing new, or (with --dry-run) would be promoted; 2 a wrong option or a domain that cannot
be used; 3 refused by the gate; 4 labels that cannot be used, each named with its line and fix; 6 another run is going
on. A run that was stopped goes on where it was when started again with the same inputs.
"""


def retrain(
    labels: Annotated[
        list[Path] | None, typer.Option("--labels", "-l", help="Labelled rows, JSON lines (see docs/retraining.md).")
    ] = None,
    review: Annotated[Path | None, typer.Option(help="The review page's store, whose labels are taken.")] = None,
    patch: Annotated[
        list[Path] | None, typer.Option(help="Accepted additions to the domain (synonyms, fillers), YAML or JSON.")
    ] = None,
    domain: DomainOption = "order_support",
    store: Annotated[
        str | None, typer.Option(help="A store to re-key along with the switch, so that hits go on.")
    ] = None,
    out: RootOption = None,
    encoder_from: Annotated[
        Path | None, typer.Option(help="Model folder whose encoder is kept; the model in use when absent.")
    ] = None,
    encoder: Annotated[
        bool, typer.Option("--encoder", help="Train the encoder anew as well: hours, from a checkout, with torch.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Fixes everything random.")] = 1,
    latency_ms: Annotated[
        float, typer.Option(min=0.1, help="95 % of the questions must be read within this time.")
    ] = 50.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Train and judge, and change nothing for readers.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Add labels, retrain the heads, recalibrate, judge beside the model in use, and promote or refuse."""
    from slotcache.cli.rekey import around_switch
    from slotcache.domain.loader import load_domain
    from slotcache.domain.patches import read_patch
    from slotcache.learning import places
    from slotcache.learning.gate import Bounds
    from slotcache.learning.labels import read_labels
    from slotcache.learning.retrain import Ended, Job, run
    from slotcache.model_files import promotion_root
    from slotcache.parsing.parser import Parser

    loaded = load_domain(domain)
    root = out if out is not None else promotion_root()
    with guarded(root):
        rows = [row for path in labels or [] for row in read_labels(path)]
        if review is not None:
            rows += _reviewed(review)
        base = places.base_for(domain, loaded, seed=seed)
        kept = _new_encoder(root, domain, seed) if encoder else places.encoder_for(loaded.name, root, encoder_from)
        job = Job(
            loaded,
            base,
            kept,
            places.champion_for(loaded.name, root),
            root,
            bounds=Bounds(latency=latency_ms / 1e3),
            seed=seed,
        )
        patches = [read_patch(path) for path in patch or []]
        with StagesShown(quiet=as_json) as stages, around_switch(store, root, loaded.name, stages) as hooks:
            result = run(job, rows, patches=patches, dry_run=dry_run, hooks=hooks)
            if result.ended is Ended.NOTHING_NEW and not dry_run and store is not None:
                # A run that was stopped after the switch left answers of the former generation behind.
                parser = Parser.load(domain, model=root)
                hooks.before_switch(parser)
                hooks.after_switch(parser)
    _tell(result, job, as_json=as_json)
    raise typer.Exit(exit_code(result))


def _tell(result: Result, job: Job, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**result.as_dict(), "unfit_base_examples": len(job.base.unfit)}))
    else:
        show_result(result, unfit=job.base.unfit)


def _reviewed(store: Path) -> list[tuple[str, dict[str, object]]]:
    """Rows of the review page's store, as its export writes them."""
    from slotcache.review.labels import exported_rows

    return [(f"{store}:{at}", dict(row)) for at, row in enumerate(exported_rows(store), 1)]


def _new_encoder(root: Path, domain: str, seed: int) -> Path:
    """An encoder trained anew by the recipe of the checkout, which needs torch."""
    import importlib
    from dataclasses import replace

    from slotcache.errors import ConfigurationError
    from slotcache.learning.promotion import WORK

    try:
        recipe = importlib.import_module("training.train")
    except ImportError as error:
        raise ConfigurationError(
            f"--encoder needs {error.name}: run it in a checkout with `pip install '.[training]'`, "
            "or leave it out to keep the encoder"
        ) from None
    folder = root / WORK / "encoder"
    recipe.run(
        folder, replace(recipe.DEFAULT, seed=seed), work=root / WORK / "encoder-stages", domain=domain, bf16=False
    )
    return folder


retrain.__doc__ = "\n\n".join([retrain.__doc__ or "", " ".join(_EPILOG.split())])
