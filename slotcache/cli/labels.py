"""`slotcache labels`: what analysts labelled, out of the review page's file and into it."""

from __future__ import annotations

import json
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from slotcache.cli.options import DomainOption

app = typer.Typer(no_args_is_help=True, help="Labels of the review page, as JSON lines and for Label Studio.")

LabelsArgument = Annotated[Path, typer.Argument(help="The file of labels that the review page uses.")]


class Form(StrEnum):
    """How labels are written."""

    LINES = "jsonl"
    LABEL_STUDIO = "label-studio"


FormOption = Annotated[Form, typer.Option("--form", help="JSON lines, or the JSON of Label Studio.")]


@app.command("export")
def export_labels(
    labels: LabelsArgument,
    out: Annotated[Path | None, typer.Option(help="Where to write; standard output when not given.")] = None,
    form: FormOption = Form.LINES,
) -> None:
    """Write the labels that stand, with author and time.

    JSON lines are what `slotcache retrain --labels` and `labels import` read. Label Studio gets questions and pairs;
    accepted proposals for the domain are no labels there and stay out. `labels interface` prints the settings for it.
    """
    from slotcache.cli.output import errors
    from slotcache.review.exchange import dumped, to_label_studio
    from slotcache.review.labels import exported_rows

    rows = exported_rows(labels)
    tasks = to_label_studio(rows)
    text = dumped(rows) if form is Form.LINES else json.dumps(tasks, indent=1) + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
    if form is Form.LABEL_STUDIO and len(tasks) < len(rows):
        errors.print(f"left out: {len(rows) - len(tasks)} proposals and retractions, which only JSON lines carry")


@app.command("import")
def import_labels(
    labels: LabelsArgument,
    file: Annotated[Path, typer.Argument(help="What `labels export` or Label Studio wrote.")],
    form: FormOption = Form.LINES,
    author: Annotated[str, typer.Option(help="Who said what rows without a labeller say.")] = "import",
) -> None:
    """Add labels from a file: none of it when a line cannot be used. Doing it twice adds nothing.

    Exit status 1 when rows contradict labels that stand; those are listed and left out.
    """
    from slotcache.errors import LabelsError
    from slotcache.learning.labels import read_labels
    from slotcache.review.exchange import from_label_studio, take_in
    from slotcache.review.labels import LabelStore

    if form is Form.LINES:
        rows = read_labels(file)
    else:
        try:
            tasks = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise LabelsError(f"{file}: cannot be read: {error}") from None
        rows = list(from_label_studio(tasks, name=str(file)))
    store = LabelStore(labels)
    try:
        done = take_in(store, rows, author=author, now=time.time())
    finally:
        store.close()
    for told in done.contradicting:
        print(f"left out: {told}")
    print(f"{done.added} added, {done.known} known already, {len(done.contradicting)} left out")
    if done.contradicting:
        raise typer.Exit(1)


@app.command("interface")
def interface(domain: DomainOption = "order_support") -> None:
    """Print the labelling interface for Label Studio, with the intents of a domain."""
    from slotcache.domain.loader import load_domain
    from slotcache.review.exchange import labelling_interface

    print(labelling_interface(load_domain(domain).intents), end="")
