"""`slotcache eval pairs` and `gate`: which pairs of questions would meet in the cache, and which of them must not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.analysis import PairAnalysis
    from slotcache.evaluation.pairs import Pair
    from slotcache.evaluation.sight import Sight
    from slotcache.parsing.parser import Parser

_SHOWN = 20

EveryOption = Annotated[bool, typer.Option("--every", help=f"List every missed pair, not only the first {_SHOWN}.")]
EncoderOption = Annotated[
    bool, typer.Option("--encoder/--no-encoder", help="Compare with a cosine cache on the model's encoder as well.")
]


def pairs(
    files: Annotated[list[Path], typer.Argument(help='JSON lines with "a", "b" and "same".')],
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
    every: EveryOption = False,
    encoder: EncoderOption = True,
) -> None:
    """Count false hits and hits over pairs of questions that one customer asks, and that two customers ask.

    Every error is listed with the stage it comes from; below stand coverage and risk over all bars on the confidence,
    what the guard costs, and cosine caches on the same pairs. Exit status 1 when any pair that must not meet does.
    """
    _run(files, domain, as_json=as_json, shown=_length(every), encoder=encoder)


def gate(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files of pairs; the shipped ones for the shipped domain if none.")
    ] = None,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
    encoder: EncoderOption = True,
) -> None:
    """Judge all pairs of the gate, file by file and together, and what the pairs are made of.

    Exit status 1 on a single false hit.
    """
    from slotcache.evaluation.sets import gate_files

    _run(files or gate_files(), domain, as_json=as_json, shown=0, encoder=encoder)


def _length(every: bool) -> int:
    return 10**9 if every else _SHOWN


def _run(files: list[Path], domain: str, *, as_json: bool, shown: int, encoder: bool) -> None:
    from slotcache.cli.evaluate_show import read_all
    from slotcache.evaluation.analysis import texts_of
    from slotcache.evaluation.pairs import pairs_from
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    given = {path.name: pairs_from(read_rows([path], needs=("a", "b", "same"))) for path in files}
    together = [pair for found in given.values() for pair in found]
    parser = Parser.load(domain)
    seen = read_all(parser, texts_of(together), quiet=as_json, what="reading pairs")
    told, failed = judge_pairs(parser, given, seen, shown=None if as_json else shown, encoder=encoder, quiet=as_json)
    if as_json:
        print(json.dumps(told))
    if failed:
        raise typer.Exit(1)


def judge_pairs(
    parser: Parser,
    given: dict[str, list[Pair]],
    seen: dict[str, Sight],
    *,
    shown: int | None,
    encoder: bool,
    quiet: bool,
) -> tuple[dict[str, Any], bool]:
    """Judge files of pairs, each and together, and print what they show.

    Args:
        parser: The parser that read them.
        given: The pairs by the name of their file.
        seen: Every text as the stages saw it.
        shown: How many missed pairs are listed; None prints nothing at all.
        encoder: Whether to compare with a cosine cache on the model's encoder.
        quiet: Whether to leave out progress bars.

    Returns:
        Everything for JSON, and whether there was a false hit.
    """
    from dataclasses import asdict

    from slotcache.cli.evaluate_show import analysis_json, baselines, composition_json, cosines
    from slotcache.evaluation.analysis import analyse
    from slotcache.evaluation.composition import composition
    from slotcache.evaluation.sets import REGRESSIONS

    together = [pair for found in given.values() for pair in found]
    classes = tuple(parser.domain.protected)
    each = {name: analyse(found, {t: seen[t] for p in found for t in (p.a, p.b)}) for name, found in given.items()}
    whole = analyse(together, {t: seen[t] for p in together for t in (p.a, p.b)}, classes=classes)
    beside = baselines(together, cosines(parser, together, quiet=quiet) if encoder else None)
    sampled = [pair for name, found in given.items() if name != REGRESSIONS for pair in found]
    made = composition(sampled, function_words=parser.domain.function_words)
    if shown is not None:
        _show(each, whole)
        _show_rest(whole, beside, made, shown)
    return {
        **analysis_json(whole),
        "files": {name: _tallies(found) for name, found in each.items()},
        "composition": composition_json(made),
        "baselines": {name: asdict(found) for name, found in beside.items()},
    }, bool(whole.false_hits)


def _tallies(found: PairAnalysis) -> dict[str, object]:
    sides = {"same_customer": found.report.same_customer, "shared": found.report.shared}
    return {
        name: {"false_hits": side.false_hits.as_dict(), "hits": side.hits.as_dict()} for name, side in sides.items()
    }


def _show(each: dict[str, PairAnalysis], whole: PairAnalysis) -> None:
    from slotcache.cli.output import show, table

    shape = table("", "false hits", "hits", title="pairs that one customer asks, with exact 95 % bounds")
    if len(each) > 1:
        for name, found in each.items():
            side = found.report.same_customer
            shape.add_row(name, str(side.false_hits), str(side.hits))
        shape.add_section()
    result = whole.report
    shape.add_row("together", str(result.same_customer.false_hits), str(result.same_customer.hits))
    shape.add_row("two customers", str(result.shared.false_hits), str(result.shared.hits))
    shape.add_row("one customer, nobody wrote an answer", "", str(result.learned))
    show(shape)


def _show_rest(whole: PairAnalysis, beside: Any, made: Any, shown: int) -> None:
    from slotcache.cli.evaluate_show import baselines_table, composition_table, show_analysis, spread_rows
    from slotcache.cli.output import show, table

    keys = table("", "", title="keys")
    for row in spread_rows(whole.spread):
        keys.add_row(*row)
    show(keys, composition_table(made), baselines_table(beside))
    show_analysis(whole, shown=shown)
