"""`slotcache eval intents`: labelled questions, which of them get a key, and which of those keys are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.judged import JudgedQuestions
    from slotcache.evaluation.labelled import LabelReport, Question
    from slotcache.evaluation.sight import Sight
    from slotcache.parsing.parser import Parser

_SHOWN = 15


def intents(
    files: Annotated[list[Path], typer.Argument(help='JSON lines with "text" and a label.')],
    label: Annotated[str | None, typer.Option(help="Field that holds the label; found by itself if not given.")] = None,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Count how many labelled questions get a key, why the others do not, and list the keys that are wrong.

    A label that is a key of the domain says which key is right (null: none is). Of other labels, a key is wrong where
    it brings two of one source together, for all but the more frequent one. Exit status 1 when any key is wrong.
    """
    from slotcache.cli.evaluate_show import read_all
    from slotcache.evaluation.labelled import read_labelled
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    rows = read_rows(files, needs=("text",))
    parser = Parser.load(domain)
    seen = read_all(parser, (str(row["text"]) for row in rows), quiet=as_json)
    questions = read_labelled(rows, lambda text: seen[text].parse, label=label)
    told, failed = judge_labels(parser, questions, seen, show=not as_json)
    if as_json:
        print(json.dumps(told))
    if failed:
        raise typer.Exit(1)


def judge_labels(
    parser: Parser, questions: list[Question], seen: dict[str, Sight], *, show: bool
) -> tuple[dict[str, Any], bool]:
    """Judge labelled questions and print what they show.

    Args:
        parser: The parser that read them.
        questions: The questions.
        seen: Every text as the stages saw it.
        show: Whether to print.

    Returns:
        Everything for JSON, and whether any key is wrong.
    """
    from slotcache.evaluation.judged import judge_questions
    from slotcache.evaluation.labelled import report

    result = report(questions)
    judged = judge_questions(questions, seen, intents=parser.domain.intents)
    if show:
        _show(result, judged)
    return _as_json(result, judged), bool(judged.errors)


def _as_json(result: LabelReport, judged: JudgedQuestions) -> dict[str, Any]:
    from slotcache.cli.evaluate_show import curve_json

    return {
        "covered": judged.covered.as_dict(),
        "wrong": judged.wrong.as_dict(),
        "labels_are_keys": judged.by_key,
        "keys": result.spread.as_dict(),
        "abstained": dict(result.abstained),
        "abstained_by_cause": [found.as_dict() for found in judged.causes],
        "residue": dict(judged.residue),
        "wrong_keys": [error.as_dict() for error in judged.errors],
        "coverage": {label: share.as_dict() for label, share in result.coverage},
        "coverage_risk": curve_json(judged.confident, total=judged.covered.total),
        "merges": [{"key": m.key, "source": m.source, "texts": dict(m.texts)} for m in result.merges],
    }


def _show(result: LabelReport, judged: JudgedQuestions) -> None:
    from slotcache.cli.evaluate_show import causes_table, curve_table, spread_rows
    from slotcache.cli.output import show, table

    shape = table("", "", title="labelled questions, with exact 95 % bounds")
    shape.add_row("get a key", str(judged.covered))
    shape.add_row("wrong key" if judged.by_key else "under a key of mostly another label", str(judged.wrong))
    for row in spread_rows(result.spread):
        shape.add_row(*row)
    show(shape, curve_table(judged.confident, total=judged.covered.total, of="the questions"))
    if judged.causes:
        show(causes_table(judged.causes, title="questions without a key, by stage and cause"))
    least = table("label", "get a key", title=f"least covered labels ({_SHOWN} of {len(result.coverage)})")
    for label, share in result.coverage[:_SHOWN]:
        least.add_row(label, f"{share.count} of {share.total}")
    show(least)
    if judged.errors:
        wrong = table("question", "label", "key", "stage and cause", title=f"wrong keys ({len(judged.errors)})")
        for error in judged.errors:
            wrong.add_row(
                error.question.parse.text, error.question.label, str(error.question.parse.key), str(error.cause)
            )
        show(wrong)
    if result.merges and not judged.by_key:
        met = table("key", "label", "questions", title=f"keys under which labels meet ({len(result.merges)})")
        for merge in result.merges:
            for label, texts in merge.texts:
                met.add_row(merge.key, f"{merge.source} {label}".strip(), f"{len(texts)}: {texts[0]}")
            met.add_section()
        show(met)
