"""`slotcache eval all`: every set there is in one run, one summary, one JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.sets import Sets
    from slotcache.evaluation.sight import Sight
    from slotcache.parsing.parser import Parser

_SHIPPED = "order_support"


@dataclass(slots=True)
class _Run:
    """What has been found so far.

    Attributes:
        told: Kind of set -> name of the set -> everything for JSON.
        summary: (set, what was measured, result) in words.
        failures: Why the run fails, in words.
    """

    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    summary: list[tuple[str, str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, kind: str, name: str, told: dict[str, Any], *rows: tuple[str, object]) -> None:
        self.told.setdefault(kind, {})[name] = told
        self.summary += [(f"{kind}: {name}" if name else kind, what, str(result)) for what, result in rows]


def everything(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Further files of JSON lines, or folders of them; a row's fields tell its kind."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write everything that was found here, as JSON.")] = None,
    domain: DomainOption = _SHIPPED,
    encoder: Annotated[
        bool, typer.Option("--encoder/--no-encoder", help="Compare with a cosine cache on the model's encoder as well.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Run every set there is: pairs, labelled, out-of-scope and personal questions, traffic, judged keys.

    For the shipped domain these are the shipped gate, the examples that no head was fitted on and the shipped week;
    files and folders that are named come on top. What is absent is said. Exit status 1 on any false hit or any personal
    question under a shared key.
    """
    from slotcache.cli.evaluate_show import read_all
    from slotcache.evaluation.sets import Sets, sets_in
    from slotcache.parsing.parser import Parser

    parser = Parser.load(domain)
    sets = Sets()
    if parser.domain.name == _SHIPPED:
        _add_shipped(sets, parser)
    sets_in(paths or [], sets)
    seen = read_all(parser, sets.texts(), quiet=as_json)
    run = _Run()
    _pairs(run, parser, sets, seen, encoder=encoder, quiet=as_json)
    _questions(run, parser, sets, seen)
    _traffic(run, parser, sets, quiet=as_json)
    _judged(run, sets)
    told = {
        "domain": parser.domain.name,
        "model": parser.version,
        "absent": list(sets.absent),
        "passed_over": sets.unknown,
        "failures": run.failures,
        "sets": run.told,
    }
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if as_json:
        print(json.dumps(told))
    else:
        _show(run, sets, out)
    if run.failures:
        raise typer.Exit(1)


def _add_shipped(sets: Sets, parser: Parser) -> None:
    """The gate, the held-out examples and the week that ship with slotcache."""
    import slotcache
    from slotcache.evaluation.rows import read_rows
    from slotcache.evaluation.sets import gate_files, sets_in
    from slotcache.learning.base import shipped_base
    from slotcache.learning.calibrate import key_of

    sets_in(gate_files(), sets)
    base = shipped_base(parser.domain)
    for example in base.test:
        kind = example.intent.partition("/")[2]
        if kind:
            sets.add("held-out examples, " + kind.replace("_", " "), [{"text": example.text, "intent": example.intent}])
        else:
            sets.add("held-out examples", [{"text": example.text, "key": key_of(example)}])
    sets.add("base examples", [{"text": text, "personal": True} for text in base.personal])
    week = Path(slotcache.__file__).parent / "demo" / "week.jsonl"
    sets.add("shipped week", read_rows([week]))


def _pairs(run: _Run, parser: Parser, sets: Sets, seen: dict[str, Sight], *, encoder: bool, quiet: bool) -> None:
    from slotcache.cli.evaluate_pairs import judge_pairs
    from slotcache.evaluation.pairs import pairs_from
    from slotcache.evaluation.sets import PAIRS

    given = {name: pairs_from(rows) for name, rows in sets.rows[PAIRS].items()}
    if not given:
        return
    told, failed = judge_pairs(parser, given, seen, shown=None, encoder=encoder, quiet=quiet)
    run.add(PAIRS, "", told)
    for name, sides in (*told["files"].items(), ("together", told)):
        side = sides["same_customer"]
        for what, share in (("false hits", side["false_hits"]), ("hits", side["hits"])):
            run.summary.append((f"{PAIRS}: {name}", what, _printed(share)))
    made = told["composition"]
    run.summary.append((f"{PAIRS}: together", "words speak for the label", _printed(made["telling"])))
    run.summary.append((f"{PAIRS}: together", "hold a crowded sentence frame", _printed(made["framed"])))
    if failed:
        run.failures.append(f"{len(told['false_hits'])} false hits among the pairs")


def _questions(run: _Run, parser: Parser, sets: Sets, seen: dict[str, Sight]) -> None:
    from slotcache.cli.evaluate_accepted import accepted_json, judge_personal, judge_scope
    from slotcache.cli.evaluate_labels import judge_labels
    from slotcache.evaluation.labelled import read_labelled
    from slotcache.evaluation.sets import LABELLED, OUTSIDE, PERSONAL

    for name, rows in sets.rows[LABELLED].items():
        told, _ = judge_labels(parser, read_labelled(_keyed(rows), lambda t: seen[t].parse), seen, show=False)
        what = "wrong keys" if told["labels_are_keys"] else "under a key of mostly another label"
        shown = (("get a key", _printed(told["covered"])), (what, _printed(told["wrong"])))
        run.add(LABELLED, name, told, *shown, ("keys seen once", _printed(told["keys"]["seen_once"])))
    for name, rows in sets.rows[OUTSIDE].items():
        outside = judge_scope([seen[str(row["text"])] for row in rows], show=False)
        run.add(OUTSIDE, name, accepted_json(outside), ("accepted", outside.accepted))
    for name, rows in sets.rows[PERSONAL].items():
        personal = judge_personal([seen[str(row["text"])] for row in rows], show=False)
        run.add(PERSONAL, name, accepted_json(personal), ("under a shared key", personal.accepted))
        if personal.wrong:
            run.failures.append(f"{personal.accepted.count} personal questions under a shared key in {name}")


def _keyed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with intent and slots get the key that these print, so that all labels are compared alike."""
    from slotcache.key import Key

    return [
        {**row, "key": str(Key.of(row["intent"], row["slots"]))} if "slots" in row and "key" not in row else row
        for row in rows
    ]


def _traffic(run: _Run, parser: Parser, sets: Sets, *, quiet: bool) -> None:
    from slotcache.cli.evaluate_traffic import replayed
    from slotcache.evaluation.missed_hits import missed_hits
    from slotcache.evaluation.sets import TRAFFIC
    from slotcache.evaluation.traffic import traffic_from

    for name, rows in sets.rows[TRAFFIC].items():
        report = replayed(traffic_from(rows), parser, quiet=quiet)
        found = missed_hits(report.turns)
        told = {**found.as_dict(), "asked": report.asked, "hits": report.hits, "false_hits": len(report.false_hits)}
        results = (("hits", f"{report.hits} of {report.asked}"), ("false hits", len(report.false_hits)))
        run.add(TRAFFIC, name, told, *results, ("missed hits among keyed misses", found.missed))
        if report.false_hits:
            run.failures.append(f"{len(report.false_hits)} false hits in {name}")


def _judged(run: _Run, sets: Sets) -> None:
    from slotcache.cli.evaluate_judging import judgement_json
    from slotcache.evaluation.judging import judgement
    from slotcache.evaluation.sets import JUDGED

    for name, rows in sets.rows[JUDGED].items():
        found = judgement(rows)
        run.add(JUDGED, name, judgement_json(found), ("wrong keys", found.wrong))


def _printed(share: dict[str, Any]) -> str:
    from slotcache.evaluation.bounds import Proportion

    return str(Proportion(share["count"], share["total"], share["low"], share["high"]))


def _show(run: _Run, sets: Sets, out: Path | None) -> None:
    from slotcache.cli.output import console, show, table

    made = table("set", "", "", title="everything there is, with exact 95 % bounds")
    for row in _once(run.summary):
        made.add_row(*row)
    show(made)
    for kind in sets.absent:
        console.print(f"absent: {kind}")
    for name, count in sets.unknown.items():
        console.print(f"passed over: {count} rows of {name} that are of no known kind")
    for failure in run.failures:
        console.print(f"fails: {failure}")
    if out is not None:
        console.print(f"everything that was found, every error among it: {out}")


def _once(rows: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Rows that name their set only where it changes."""
    before = ""
    for name, what, result in rows:
        yield ("" if name == before else name), what, result
        before = name
