"""`slotcache report`: what is misread, how often, how harmful, and what to do next."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption
from slotcache.cli.stores import open_store
from slotcache.errors import ConfigurationError

if TYPE_CHECKING:
    from slotcache.parsing.parser import Parser
    from slotcache.reporting.gather import Inputs
    from slotcache.reporting.labels import Labelled
    from slotcache.reporting.report import Report

_DAY = 86_400.0
_FilesOption = Annotated[list[Path] | None, typer.Option(help="JSON lines with text, and key or intent and slots.")]


def report(
    records: Annotated[str | None, typer.Option(help="The traffic record: a SQLite file, or a redis:// URL.")] = None,
    labels: _FilesOption = None,
    reviewed: Annotated[
        list[Path] | None, typer.Option(help="Labels of recorded questions; judged as they were read then.")
    ] = None,
    cross_validate: Annotated[
        list[Path] | None, typer.Option(help="Labelled examples to cross-validate the learned reader on.")
    ] = None,
    folds: Annotated[int, typer.Option(min=3, help="Parts of the cross-validation.")] = 5,
    domain: DomainOption = "order_support",
    model: Annotated[
        Path | None, typer.Option(help="A model folder; looked for where models are kept if none.")
    ] = None,
    before_domain: Annotated[str | None, typer.Option(help="An earlier domain to compare with.")] = None,
    before_model: Annotated[Path | None, typer.Option(help="An earlier model folder to compare with.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="The store, to know which answers are the same and which entries a change touches."),
    ] = None,
    days: Annotated[float | None, typer.Option(min=0, help="Only the last so many days of the record.")] = None,
    out: Annotated[Path | None, typer.Option(help="The HTML file to write.")] = None,
    csv: Annotated[Path | None, typer.Option(help="A folder for CSV files.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Print the report; done anyway when nothing is written.")
    ] = False,
) -> None:
    """Show what is misread, how often and how harmful, as one HTML file, JSON, CSV or on the terminal."""
    from slotcache.cli.output import errors
    from slotcache.parsing.parser import Parser
    from slotcache.reporting.gather import Inputs, make_report

    if not (records or labels or cross_validate):
        raise ConfigurationError("nothing to report on: give --records, --labels or --cross-validate")
    if reviewed and records is None:
        raise ConfigurationError("--reviewed needs --records: it judges questions as they were read then")
    now = time.time()
    with errors.status("loading") as status:
        parser = Parser.load(domain, model=model)
        inputs = Inputs(
            parser,
            labelled=_labelled(labels),
            reviewed=_labelled(reviewed),
            examples=_labelled(cross_validate),
            folds=folds,
            before=_before(before_domain, before_model, domain, model),
            names=(_name(before_domain or domain, before_model), _name(domain, model)),
        )
        inputs = _with_traffic(inputs, records, store, since=0.0 if days is None else now - days * _DAY)
        try:
            made = make_report(inputs, made=now, progress=status.update)
        except ValueError as error:
            raise ConfigurationError(str(error)) from None
    _give(made, out=out, csv=csv, as_json=as_json, terminal=terminal)


def _labelled(files: list[Path] | None) -> list[Labelled]:
    from slotcache.evaluation.rows import read_rows
    from slotcache.reporting.labels import labelled_from

    return labelled_from(read_rows(files or []))


def _before(domain: str | None, model: Path | None, now_domain: str, now_model: Path | None) -> Parser | None:
    from slotcache.parsing.parser import Parser

    if domain is None and model is None:
        return None
    return Parser.load(domain or now_domain, model=model or now_model)


def _name(domain: str, model: Path | None) -> str:
    return f"{domain} {model.name}" if model is not None else domain


def _with_traffic(inputs: Inputs, records: str | None, store: str | None, *, since: float) -> Inputs:
    from dataclasses import replace

    from slotcache.entry import Selector
    from slotcache.records.files import lost, read_records

    if records is not None:
        inputs = replace(inputs, records=read_records(records, since=since), lost=lost(records))
    if store is not None:
        opened = open_store(store)
        inputs = replace(inputs, entries=list(opened.find(Selector())))
        opened.close()
    return inputs


def _give(made: Report, *, out: Path | None, csv: Path | None, as_json: bool, terminal: bool) -> None:
    from slotcache.cli.output import errors
    from slotcache.reporting.csv_files import write_csv

    if out is not None:
        from slotcache.reporting.html import render

        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(render(made), encoding="utf-8")
        errors.print(f"wrote {out}")
    if csv is not None:
        errors.print(f"wrote {len(write_csv(made, csv))} files to {csv}")
    if as_json:
        print(json.dumps(made.as_dict()))
    elif terminal or (out is None and csv is None):
        from slotcache.cli.report_terminal import show_report

        show_report(made)
