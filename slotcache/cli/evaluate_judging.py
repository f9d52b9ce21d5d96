"""`slotcache eval sample` and `judged`: whether printed keys are right, by somebody who sees nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.judging import Judgement


def sample(
    files: Annotated[list[Path], typer.Argument(help='JSON lines with "text".')],
    n: Annotated[int, typer.Option("--n", min=1, help="How many questions to draw.")] = 600,
    seed: Annotated[int, typer.Option(help="The same seed draws the same questions.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", help="File to write; standard output if not given.")] = None,
    domain: DomainOption = "order_support",
) -> None:
    """Draw accepted questions for a blind judge: text and printed key, a JSON line each, and nothing else.

    The judge adds "right": true or false to each line; `slotcache eval judged` counts.
    """
    from slotcache.cli.output import progress
    from slotcache.evaluation import judging
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.parser import Parser

    texts = [str(row["text"]) for row in read_rows(files, needs=("text",))]
    parser = Parser.load(domain)
    with progress("reading questions", len(texts)) as step:
        drawn = judging.sample(texts, lambda text: parser.parse(step(text)), size=n, seed=seed)
    lines = "".join(json.dumps(accepted.as_dict(), ensure_ascii=False) + "\n" for accepted in drawn)
    if out is None:
        sys.stdout.write(lines)
    else:
        out.write_text(lines, encoding="utf-8")
    if len(drawn) < n:
        print(f"slotcache: only {len(drawn)} questions have a key, {n} were wanted", file=sys.stderr)


def judged(
    files: Annotated[list[Path], typer.Argument(help='JSON lines with "text", "key" and "right".')],
    at_most: Annotated[
        float, typer.Option(min=0, max=1, help="Share of wrong keys that the upper bound may reach.")
    ] = 0.01,
    as_json: JsonOption = False,
) -> None:
    """Count the wrong keys that a judge found, with the exact bound of their share.

    Exit status 1 when the upper bound exceeds --at-most.
    """
    from slotcache.evaluation.judging import judgement
    from slotcache.evaluation.rows import read_rows

    found = judgement(read_rows(files, needs=("text", "key")))
    if as_json:
        print(json.dumps(judgement_json(found)))
    else:
        show_judgement(found)
    if found.wrong.high > at_most:
        raise typer.Exit(1)


def judgement_json(found: Judgement) -> dict[str, Any]:
    """What a judge said, for JSON."""
    return {
        "wrong": found.wrong.as_dict(),
        "listed": [accepted.as_dict() for accepted in found.listed],
        "waiting": found.waiting,
    }


def show_judgement(found: Judgement) -> None:
    """Print what a judge said."""
    from slotcache.cli.output import console, show, table

    console.print(f"wrong keys among judged questions, with exact 95 % bounds: {found.wrong}")
    if found.waiting:
        console.print(f"not judged yet: {found.waiting}")
    if found.listed:
        wrong = table("question", "key", title=f"wrong keys ({len(found.listed)})")
        for accepted in found.listed:
            wrong.add_row(accepted.text, accepted.key)
        show(wrong)
