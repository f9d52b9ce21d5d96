"""`slotcache eval pairs`: which pairs of questions would meet in the cache, and which of them must not."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.baselines import Separation
    from slotcache.evaluation.pairs import PairReport

_SHOWN = 20


def pairs(
    files: Annotated[list[Path], typer.Argument(help='JSON lines with "a", "b" and "same".')],
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
    every: Annotated[bool, typer.Option("--every", help="List every missed pair, not only the first 20.")] = False,
) -> None:
    """Count false hits and hits over pairs of questions that one customer asks, and that two customers ask.

    Exit status 1 when any pair that must not meet does.
    """
    from slotcache.cli.encoders import open_encoder
    from slotcache.cli.output import progress
    from slotcache.evaluation.baselines import separation, word_cosine
    from slotcache.evaluation.pairs import judge, pairs_from, report
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    given = pairs_from(read_rows(files, needs=("a", "b", "same")))
    parser = Parser.load(domain)
    with progress("reading pairs", len(given), quiet=as_json) as step:
        outcomes = [step(judge(pair, parser.parse)) for pair in given]
    result = report(outcomes)
    baselines = {"bag of words": separation(given, [word_cosine(pair.a, pair.b) for pair in given])}
    encode = open_encoder(parser.domain.name)
    if encode is not None:
        with progress("encoding pairs", len(given), quiet=as_json) as step:
            cosines = [float((encode(pair.a)[0] @ encode(pair.b)[0].T).item()) for pair in map(step, given)]
        baselines["same encoder"] = separation(given, cosines)
    if as_json:
        print(json.dumps(_as_json(result, baselines)))
    else:
        _show(result, baselines, every=every)
    if result.false_hits:
        raise typer.Exit(1)


def _as_json(result: PairReport, baselines: dict[str, Separation]) -> dict[str, object]:
    sides = {"same_customer": result.same_customer, "shared": result.shared}
    return {
        **{
            name: {"false_hits": side.false_hits.as_dict(), "hits": side.hits.as_dict()} for name, side in sides.items()
        },
        "learned": result.learned.as_dict(),
        "false_hits": [outcome.as_dict() for outcome in result.false_hits],
        "missed": [outcome.as_dict() for outcome in result.missed],
        "missed_by_reason": dict(result.missed_by_reason),
        "baselines": {name: asdict(found) for name, found in baselines.items()},
    }


def _show(result: PairReport, baselines: dict[str, Separation], *, every: bool) -> None:
    from slotcache.cli.output import console, counts, show, table

    shape = table("", "false hits", "hits", title="pairs, with exact 95 % bounds")
    shape.add_row("one customer asks both", str(result.same_customer.false_hits), str(result.same_customer.hits))
    shape.add_row("two customers", str(result.shared.false_hits), str(result.shared.hits))
    shape.add_row("one customer, nobody wrote an answer", "", str(result.learned))
    for name, found in baselines.items():
        shape.add_section()
        for at in found.thresholds:
            shape.add_row(f"cosine cache, {name}, >= {at.at:.2f}", f"{at.wrong:.1%}", f"{at.right:.1%}")
    show(shape)
    for name, found in baselines.items():
        best = f"the best threshold without a wrong pair serves {found.without_wrong:.1%}"
        console.print(f"cosine cache, {name}: AUC {found.auc:.2f}; {best}")
    if result.false_hits:
        wrong = table("a", "b", "key", "shared", title=f"false hits ({len(result.false_hits)})")
        for outcome in result.false_hits:
            wrong.add_row(outcome.pair.a, outcome.pair.b, str(outcome.a.key), "yes" if outcome.shared else "no")
        show(wrong)
    if result.missed:
        show(counts("missed pairs by reason", result.missed_by_reason))
        shown = result.missed if every else result.missed[:_SHOWN]
        missed = table("a", "b", "read a as", "read b as", title=f"missed pairs ({len(shown)} of {len(result.missed)})")
        for outcome in shown:
            readings = (str(p.abstain.value if p.abstain else p.key) for p in (outcome.a, outcome.b))
            missed.add_row(outcome.pair.a, outcome.pair.b, *readings)
        show(missed)
