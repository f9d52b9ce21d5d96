"""`slotcache eval scope` and `personal`: questions that must not be accepted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.accepted import AcceptedReport
    from slotcache.evaluation.sight import Sight

FilesArgument = Annotated[list[Path], typer.Argument(help='JSON lines with "text".')]
AtMostOption = Annotated[float, typer.Option(min=0, max=1, help="Share that may be accepted.")]


def scope(
    files: FilesArgument,
    at_most: AtMostOption = 0.01,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Count how many out-of-scope questions get an intent key all the same.

    Each is listed with the stage that let it in. Exit status 1 when their share exceeds --at-most.
    """
    if _run(files, domain, judge_scope, as_json=as_json).accepted.rate > at_most:
        raise typer.Exit(1)


def personal(files: FilesArgument, domain: DomainOption = "order_support", as_json: JsonOption = False) -> None:
    """Count how many personal questions get a key that other customers share.

    Each is listed with its cause. Exit status 1 when any do.
    """
    if _run(files, domain, judge_personal, as_json=as_json).wrong:
        raise typer.Exit(1)


def judge_scope(sights: Sequence[Sight], *, show: bool) -> AcceptedReport:
    """Which out-of-scope questions got an intent key; printed when asked for."""
    from slotcache.evaluation.accepted import in_scope, report
    from slotcache.evaluation.blame import let_in

    return _shown(report(sights, wrong=in_scope, why=let_in), show=show)


def judge_personal(sights: Sequence[Sight], *, show: bool) -> AcceptedReport:
    """Which personal questions got a key that others share; printed when asked for."""
    from slotcache.evaluation.accepted import report, shared
    from slotcache.evaluation.blame import leaked

    return _shown(report(sights, wrong=shared, why=leaked), show=show)


def accepted_json(result: AcceptedReport) -> dict[str, Any]:
    """What was wrongly accepted, for JSON."""
    return {
        "accepted": result.accepted.as_dict(),
        "wrong": [
            {**sight.parse.as_dict(), **cause.as_dict()}
            for sight, cause in zip(result.wrong, result.causes, strict=True)
        ],
        "turned_away": dict(result.turned_away),
    }


def _run(files: list[Path], domain: str, judge: Callable[..., AcceptedReport], *, as_json: bool) -> AcceptedReport:
    from slotcache.cli.evaluate_show import read_all
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    texts = [str(row["text"]) for row in read_rows(files, needs=("text",))]
    seen = read_all(Parser.load(domain), texts, quiet=as_json)
    result = judge([seen[text] for text in texts], show=not as_json)
    if as_json:
        print(json.dumps(accepted_json(result)))
    return result


def _shown(result: AcceptedReport, *, show: bool) -> AcceptedReport:
    from slotcache.cli import output

    if not show:
        return result
    output.console.print(f"wrongly accepted, with exact 95 % bounds: {result.accepted}")
    output.show(output.counts("the others", result.turned_away))
    if result.wrong:
        wrong = output.table(
            "question", "key", "owner", "stage and cause", title=f"wrongly accepted ({len(result.wrong)})"
        )
        for sight, cause in zip(result.wrong, result.causes, strict=True):
            wrong.add_row(sight.parse.text, str(sight.parse.key), str(sight.parse.owner), str(cause))
        output.show(wrong)
    return result
