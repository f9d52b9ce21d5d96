"""`slotcache eval traffic`: what traffic shows about hits that were missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from slotcache.evaluation.missed_hits import MissedHits
    from slotcache.evaluation.replay import FalseHit, ReplayReport
    from slotcache.evaluation.traffic import Asked
    from slotcache.evaluation.turns import Turn
    from slotcache.parsing.parser import Parser

_SHOWN = 20
_SQLITE = b"SQLite format 3"


def traffic(
    file: Annotated[
        Path, typer.Argument(help="Labelled questions to replay, or a traffic record.", exists=True, dir_okay=False)
    ],
    labels: Annotated[
        list[Path] | None, typer.Option("--labels", help='For a record: JSON lines with "text" and "key".')
    ] = None,
    to_label: Annotated[
        Path | None, typer.Option("--to-label", help="Write here the pairs that nobody has labelled, for a person.")
    ] = None,
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Pair every keyed miss with the nearest earlier question of its intent and owner, and say what stood between.

    A file of questions (text, and question or answer as the label, customer, time) is replayed through an empty cache.
    A traffic record is taken as it is; it does not say who asked, so that customers' own keys are left out. Exit status
    1 when a replay shows a false hit.
    """
    from slotcache.evaluation.missed_hits import missed_hits
    from slotcache.evaluation.rows import read_rows
    from slotcache.evaluation.traffic import traffic_from
    from slotcache.parsing.parser import Parser

    false_hits: list[FalseHit] = []
    if _is_record(file):
        turns = _recorded(file, labels or [])
    else:
        asked = traffic_from(read_rows([file], needs=("text",)))
        report = replayed(asked, Parser.load(domain), quiet=as_json)
        turns, false_hits = report.turns, report.false_hits
    found = missed_hits(turns)
    if to_label is not None:
        rows = [
            {"a": pair.earlier.text, "b": pair.turn.text, "tag": f"{pair.cause} {pair.detail}".strip()}
            for pair in found.unlabelled
        ]
        to_label.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if as_json:
        print(json.dumps({**found.as_dict(), "false_hits": [asdict(hit) for hit in false_hits]}))
    else:
        show_missed(found)
    if false_hits:
        raise typer.Exit(1)


def replayed(asked: list[Asked], parser: Parser, *, quiet: bool) -> ReplayReport:
    """What became of questions sent through an empty cache."""
    from slotcache.cli.models import stand_in
    from slotcache.cli.output import progress
    from slotcache.evaluation.replay import Replay
    from slotcache.stores.memory import MemoryStore

    run = Replay(parser, MemoryStore(), call=stand_in)
    with progress("replaying", len(asked), quiet=quiet) as step:
        for outcome in run.run(asked):
            step(outcome)
    return run.report


def show_missed(found: MissedHits) -> None:
    """Print what keyed misses show."""
    from slotcache.cli.output import show, table

    shape = table("", "", title="missed hits, with exact 95 % bounds")
    shape.add_row("questions with a key that answers may be kept for", str(found.keyed))
    shape.add_row("of them found no answer", str(found.misses))
    shape.add_row("an earlier answer of the same intent and owner would have served", str(found.missed))
    shape.add_row("an answer stood under another intent only", str(found.other_intent))
    shape.add_row("an earlier question is near, but nobody labelled both", str(len(found.unlabelled)))
    shape.add_row("left out: a customer's own, and the source does not say whose", str(found.unnamed))
    show(shape)
    if found.causes:
        causes = table("between them", "", "missed hits", title="what stood between")
        for (cause, detail), count in found.causes:
            causes.add_row(cause, detail, str(count))
        show(causes)
    listed = found.pairs or found.unlabelled
    if listed:
        title = f"missed hits ({min(_SHOWN, len(listed))} of {len(listed)})"
        pairs = table("asked", "nearest earlier question", "between them", "key", title=title)
        for pair in listed[:_SHOWN]:
            pairs.add_row(pair.turn.text, pair.earlier.text, f"{pair.cause} {pair.detail}", str(pair.turn.key))
        show(pairs)


def _is_record(file: Path) -> bool:
    """Whether a file is a traffic record, which is a SQLite file, rather than lines of questions."""
    with file.open("rb") as opened:
        return opened.read(len(_SQLITE)) == _SQLITE


def _recorded(file: Path, labels: list[Path]) -> list[Turn]:
    from slotcache.evaluation.turns import turns_of
    from slotcache.records.files import read_records

    return turns_of(read_records(file), _truths(labels))


def _truths(labels: list[Path]) -> Callable[[str], str]:
    """What tells the answer of a text, from files of labelled questions; empty for texts without a label."""
    from slotcache.evaluation.rows import read_rows
    from slotcache.records.record import normal
    from slotcache.reporting.labels import labelled_from

    known = {normal(item.text): item.gold.name for item in labelled_from(read_rows(labels))}
    return lambda text: known.get(normal(text), "")
