"""`slotcache report-false-hit`: a wrong answer leaves recall at once and its key goes into quarantine."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.stores import StoreOption


def report_false_hit(
    hit_id: Annotated[str, typer.Argument(metavar="ID", help="The id that the hit carried.")],
    author: Annotated[str, typer.Option(help="Who reports it.")] = "",
    note: Annotated[str, typer.Option(help="What is wrong with it.")] = "",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Report that a served answer does not answer the question.

    The answer is not served again, and the model's answers do not fill its key until somebody approves one or clears
    the quarantine. Exit status 1 when the hit is not known, not even from the history; the report is kept all the same.
    """
    from slotcache.cli.operated import operated

    with operated(store) as cache:
        report = cache.report_false_hit(hit_id, author=author, note=note)
    if as_json:
        print(json.dumps(asdict(report)))
    elif report.key is None:
        print("no such hit is known; the report was recorded")
    else:
        print(f"{'left recall' if report.evicted else 'was not in recall any more'}: {report.key}")
        if report.quarantined:
            print("in quarantine: 'slotcache quarantine clear' or an approved answer lets it be served again")
    if report.key is None:
        raise typer.Exit(1)
