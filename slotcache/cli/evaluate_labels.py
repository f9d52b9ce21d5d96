"""`slotcache eval intents`, `scope` and `personal`: labelled questions, and questions that must not be accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.accepted import AcceptedReport
    from slotcache.evaluation.labelled import LabelReport
    from slotcache.parsing.types import Parse

FilesArgument = Annotated[list[Path], typer.Argument(help='JSON lines with "text".')]
_SHOWN = 15


def intents(
    files: FilesArgument,
    label: Annotated[str | None, typer.Option(help="Field that holds the label; found by itself if not given.")] = None,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Count how many labelled questions get a key, and list the keys under which different labels meet.

    Exit status 1 when any do.
    """
    from slotcache.cli.output import progress
    from slotcache.evaluation.labelled import read_labelled, report
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    rows = read_rows(files, needs=("text",))
    parser = Parser.load(domain)
    with progress("reading questions", len(rows), quiet=as_json) as step:
        result = report(read_labelled(rows, lambda text: step(parser.parse(text)), label=label))
    if as_json:
        print(json.dumps(_labels_as_json(result)))
    else:
        _show_labels(result)
    if result.merges:
        raise typer.Exit(1)


def scope(
    files: FilesArgument,
    at_most: Annotated[float, typer.Option(min=0, max=1, help="Share that may be accepted.")] = 0.01,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Count how many out-of-scope questions get an intent key all the same.

    Exit status 1 when their share exceeds --at-most.
    """
    from slotcache.evaluation.accepted import in_scope

    result = _accepted(files, domain, wrong=in_scope, as_json=as_json)
    if result.accepted.rate > at_most:
        raise typer.Exit(1)


def personal(files: FilesArgument, domain: DomainOption = "order_support", as_json: JsonOption = False) -> None:
    """Count how many personal questions get a key that other customers share.

    Exit status 1 when any do.
    """
    from slotcache.evaluation.accepted import shared

    result = _accepted(files, domain, wrong=shared, as_json=as_json)
    if result.wrong:
        raise typer.Exit(1)


def _accepted(files: list[Path], domain: str, *, wrong: Callable[[Parse], bool], as_json: bool) -> AcceptedReport:
    from slotcache.cli.output import progress
    from slotcache.evaluation.accepted import report
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    rows = read_rows(files, needs=("text",))
    parser = Parser.load(domain)
    with progress("reading questions", len(rows), quiet=as_json) as step:
        result = report((str(row["text"]) for row in rows), lambda text: step(parser.parse(text)), wrong=wrong)
    if as_json:
        print(json.dumps(_accepted_as_json(result)))
    else:
        _show_accepted(result)
    return result


def _accepted_as_json(result: AcceptedReport) -> dict[str, object]:
    return {
        "accepted": result.accepted.as_dict(),
        "wrong": [parse.as_dict() for parse in result.wrong],
        "turned_away": dict(result.turned_away),
    }


def _show_accepted(result: AcceptedReport) -> None:
    from slotcache.cli.output import console, counts, show, table

    console.print(f"wrongly accepted, with exact 95 % bounds: {result.accepted}")
    show(counts("the others", result.turned_away))
    if result.wrong:
        wrong = table("question", "key", "owner", title=f"wrongly accepted ({len(result.wrong)})")
        for parse in result.wrong:
            wrong.add_row(parse.text, str(parse.key), str(parse.owner))
        show(wrong)


def _labels_as_json(result: LabelReport) -> dict[str, object]:
    return {
        "covered": result.covered.as_dict(),
        "wrong": result.wrong.as_dict(),
        "keys": result.keys,
        "utterances_per_key": result.utterances_per_key,
        "seen_once": result.seen_once.as_dict(),
        "abstained": dict(result.abstained),
        "coverage": {label: share.as_dict() for label, share in result.coverage},
        "merges": [{"key": m.key, "source": m.source, "texts": dict(m.texts)} for m in result.merges],
    }


def _show_labels(result: LabelReport) -> None:
    from slotcache.cli.output import counts, show, table

    shape = table("", "", title="labelled questions, with exact 95 % bounds")
    shape.add_row("get a key", str(result.covered))
    shape.add_row("under a key of mostly another label", str(result.wrong))
    shape.add_row("distinct keys", f"{result.keys}, {result.utterances_per_key:.1f} questions each")
    shape.add_row("keys seen in one wording only", str(result.seen_once))
    show(shape, counts("questions without a key", result.abstained))
    least = table("label", "get a key", title=f"least covered labels ({_SHOWN} of {len(result.coverage)})")
    for label, share in result.coverage[:_SHOWN]:
        least.add_row(label, f"{share.count} of {share.total}")
    show(least)
    if result.merges:
        met = table("key", "label", "questions", title=f"keys under which labels meet ({len(result.merges)})")
        for merge in result.merges:
            for label, texts in merge.texts:
                met.add_row(merge.key, f"{merge.source} {label}".strip(), f"{len(texts)}: {texts[0]}")
            met.add_section()
        show(met)
