"""`slotcache retrain`: new labels in; the next model is promoted, or refused with the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption
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

if TYPE_CHECKING:
    from slotcache.domain.patches import Patch
    from slotcache.learning.retrain import Job

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
    store: RekeyedOption = None,
    out: RootOption = None,
    encoder_from: EncoderFromOption = None,
    encoder: Annotated[
        bool, typer.Option("--encoder", help="Train the encoder anew as well: hours, from a checkout, with torch.")
    ] = False,
    seed: SeedOption = 1,
    latency_ms: LatencyOption = LATENCY_MS,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add labels, retrain the heads, recalibrate, judge beside the model in use, and promote or refuse."""
    from slotcache.cli.rekey import around_switch
    from slotcache.domain.patches import read_patch
    from slotcache.learning.labels import read_labels
    from slotcache.learning.new_encoder import recipe
    from slotcache.learning.retrain import Ended, run
    from slotcache.model_files import promotion_root
    from slotcache.parsing.parser import Parser

    if encoder:
        recipe()
    root = out if out is not None else promotion_root()
    with guarded(root):
        rows = [row for path in labels or [] for row in read_labels(path)]
        if review is not None:
            rows += _reviewed(review)
        patches = [read_patch(path) for path in patch or []]
        job = make_job(domain, root, encoder_from=encoder_from, seed=seed, latency_ms=latency_ms)
        with StagesShown(quiet=as_json) as stages, around_switch(store, root, job.domain.name, stages) as hooks:
            if encoder:
                job = _with_new_encoder(job, rows, patches, stages)
            result = run(job, rows, patches=patches, dry_run=dry_run, hooks=hooks)
            if result.ended is Ended.NOTHING_NEW and not dry_run and store is not None:
                # A run that was stopped after the switch left answers of the former generation behind.
                parser = Parser.load(domain, model=root)
                hooks.before_switch(parser)
                hooks.after_switch(parser)
    tell_and_exit(result, job, as_json=as_json)


def _reviewed(store: Path) -> list[tuple[str, dict[str, object]]]:
    """Rows of the review page's store, as its export writes them."""
    from slotcache.review.labels import exported_rows

    return [(f"{store}:{at}", dict(row)) for at, row in enumerate(exported_rows(store), 1)]


def _with_new_encoder(
    job: Job, rows: Sequence[tuple[str, Mapping[str, Any]]], patches: Sequence[Patch], stages: StagesShown
) -> Job:
    """The same job on an encoder that is trained first, on all that is labelled."""
    from slotcache.learning.new_encoder import new_encoder
    from slotcache.learning.retrain import accepted, parts

    labels, known = accepted(job, rows, patches)
    fit, calibration = parts(job.base, labels)
    stages.stage("training the encoder", 0)
    stages.hide()
    folder = new_encoder(job.root, known, fit=fit, calibration=calibration, test=job.base.test, seed=job.seed)
    return replace(job, encoder=folder)


retrain.__doc__ = "\n\n".join([retrain.__doc__ or "", " ".join(_EPILOG.split())])
