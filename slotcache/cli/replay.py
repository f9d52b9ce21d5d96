"""`slotcache replay`: a file of questions through the cache, and what it saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.table import Table

    from slotcache.evaluation.cosine import CosineResult
    from slotcache.evaluation.replay import ReplayReport
    from slotcache.evaluation.traffic import Asked

THRESHOLDS = (0.80, 0.85, 0.90, 0.92, 0.95, 0.97, 0.99)
_NEXT = """Try next:
  slotcache ask "can i cancel after it ships?"       one question through the cache; ask it again in other words
  slotcache explain "hey can i still cancel??"       what every stage saw in a question
  slotcache replay questions.jsonl                   your own traffic: one {"text": ...} a line
  slotcache eval pairs pairs.jsonl                   which of your pairs would share an answer"""


def replay(
    file: Annotated[Path | None, typer.Argument(help='JSON lines with "text"; see below for what else counts.')] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Replay the shipped week beside a cosine cache.")] = False,
    domain: DomainOption = "order_support",
    endpoint: Annotated[
        bool, typer.Option("--endpoint", help="Let the model that OPENAI_* names answer what the file does not.")
    ] = False,
    call_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that one model call takes, for the time saved.")
    ] = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Send a file of questions through the cache and report what it saved.

    A row may say its customer, time, question (a label) and answer (the right one). With a label or an answer every
    false hit is listed, and the exit status is 1 when there is one.
    """
    from slotcache.cli.models import chosen_model, stand_in
    from slotcache.cli.output import progress
    from slotcache.evaluation.replay import Replay
    from slotcache.evaluation.rows import read_rows
    from slotcache.evaluation.traffic import traffic_from
    from slotcache.parsing.parser import Parser
    from slotcache.stores.memory import MemoryStore

    if demo == (file is not None):
        raise ConfigurationError("name one file of questions, or say --demo")
    path = file or Path(__file__).parent.parent / "demo" / "week.jsonl"
    traffic = traffic_from(read_rows([path], needs=("text",)))
    parser = Parser.load(domain)
    run = Replay(parser, MemoryStore(), call=chosen_model()[1] if endpoint else stand_in)
    with progress("replaying", len(traffic), quiet=as_json) as step:
        for outcome in run.run(traffic):
            step(outcome)
    cosine = _cosine(traffic, parser.domain.name, quiet=as_json) if demo else []
    if as_json:
        print(json.dumps(_as_json(run.report, cosine, call_seconds)))
    else:
        _show(run.report, cosine, call_seconds)
        if demo:
            from slotcache.cli.output import console

            console.print(_NEXT)
    if run.report.false_hits:
        raise typer.Exit(1)


def _cosine(traffic: list[Asked], domain: str, *, quiet: bool) -> list[CosineResult]:
    """The same traffic through a cosine cache with the shipped encoder, at several thresholds."""
    import numpy as np

    from slotcache.cli.encoders import open_encoder
    from slotcache.cli.output import progress
    from slotcache.evaluation.cosine import replay_cosine

    encode = open_encoder(domain)
    if encode is None:
        return []
    with progress("cosine cache", len(traffic), quiet=quiet) as step:
        vectors = np.concatenate([step(encode(asked.text)[0]) for asked in traffic])
    return [replay_cosine(traffic, vectors, threshold) for threshold in THRESHOLDS]


def _as_json(report: ReplayReport, cosine: list[CosineResult], call_seconds: float) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "asked": report.asked,
        "hits": report.hits,
        "outcomes": {f"{decision}.{reason}": count for (decision, reason), count in report.outcomes.items()},
        "abstained": dict(report.abstained),
        "not_stored": dict(report.not_stored),
        "by_kind": {kind: {"asked": asked, "hits": hits} for kind, (asked, hits) in report.by_kind.items()},
        "saved": {
            "calls": report.hits,
            "tokens": round(report.saved_tokens),
            "seconds": report.hits * call_seconds - sum(report.lookup_seconds),
        },
        "labelled": report.labelled,
        "repeats": report.repeats,
        "false_hits": [asdict(hit) for hit in report.false_hits] if report.labelled else None,
        "cosine": [{"threshold": c.threshold, "hits": c.hits, "false_hits": len(c.false_hits)} for c in cosine],
    }


def _show(report: ReplayReport, cosine: list[CosineResult], call_seconds: float) -> None:
    from slotcache.cli.output import counts, show, table

    reasons = table("", "", "questions", title=f"{report.asked} questions")
    for (decision, reason), count in sorted(report.outcomes.items(), key=lambda item: (item[0][0], -item[1])):
        reasons.add_row(decision, reason, str(count))
    show(reasons)
    if report.abstained:
        show(counts("questions without an intent key, by reason", report.abstained.most_common()))
    if report.not_stored:
        show(counts("answers that were not kept", report.not_stored.most_common()))
    if set(report.by_kind) != {""}:
        kinds = table("kind of question", "asked", "hits", title="by kind")
        for kind, (asked, hits) in sorted(report.by_kind.items()):
            kinds.add_row(kind or "-", str(asked), str(hits))
        show(kinds)
    show(_savings(report, call_seconds))
    if report.labelled:
        show(_beside(report, cosine))
        if report.false_hits:
            wrong = table("asked", "answered from", "key", "right", "served", title="every false hit of slotcache")
            for hit in report.false_hits:
                wrong.add_row(hit.asked, hit.filled_by, hit.key, hit.expected, hit.served)
            show(wrong)


def _savings(report: ReplayReport, call_seconds: float) -> Table:
    from slotcache.cli.output import table

    made = table("", "", title="saved")
    share = report.hits / report.asked if report.asked else 0.0
    made.add_row("model calls", f"{report.hits} of {report.asked} ({share:.1%})")
    spent = report.saved_tokens + report.spent_tokens
    made.add_row("tokens", f"{report.saved_tokens:,.0f} of {spent:,.0f}, at four characters a token")
    seconds = report.hits * call_seconds - sum(report.lookup_seconds)
    looked = sum(report.lookup_seconds)
    made.add_row("time", f"{seconds:,.0f} s, at {call_seconds:g} s a call, less {looked:.1f} s of look-ups")
    return made


def _beside(report: ReplayReport, cosine: list[CosineResult]) -> Table:
    """Hits and false hits beside those of a cosine cache."""
    from slotcache.cli.output import table

    title = f"{report.repeats} of {report.labelled} questions had been answered before, in these words or others"
    made = table("", "hits", "right", "false hits", "saved calls", title=title)

    def row(name: str, hits: int, wrong: int) -> None:
        share = f"{hits / report.asked:.1%}" if report.asked else "-"
        made.add_row(name, str(hits), str(hits - wrong), str(wrong), share)

    row("slotcache", report.hits, len(report.false_hits))
    for result in cosine:
        row(f"cosine cache, same encoder, >= {result.threshold:.2f}", result.hits, len(result.false_hits))
    return made
