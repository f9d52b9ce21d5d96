"""`slotcache explain`: what every stage saw in one utterance, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.errors import EXPLANATIONS
from slotcache.key import Key

if TYPE_CHECKING:
    from rich.table import Table

    from slotcache.parsing.lexicon import Sense
    from slotcache.parsing.parser import Trace
    from slotcache.parsing.types import Parse

_SHOWN = 5
"""Readings, intents and slot values of the learned reader that are shown; `--json` holds all."""


def explain(
    utterance: Annotated[str, typer.Argument(help="The question, in quotes.")],
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Show what every stage saw in a question and what it decided; --json prints all of it."""
    from slotcache.parsing.parser import Parser

    parse, trace = Parser.load(domain).trace(utterance)
    if as_json:
        stages = {field.name: plain(getattr(trace, field.name)) for field in fields(trace) if field.name != "text"}
        print(json.dumps({"parse": parse.as_dict(), "fillable": parse.fillable, "stages": stages}))
        return
    from slotcache.cli.output import show

    show(
        _rows("Normalised", _normalised(trace)),
        _rows("Phrases chosen to explain it", _phrases(trace)),
        _rows("Readings by code", _readings(trace)),
        _rows("Learned reader", _learned(trace)),
        _rows("Guard", _guarded(trace)),
        _rows("Decision", _decision(parse)),
    )


def plain(value: Any) -> Any:
    """A value of the trace as JSON data: records become mappings, sets become sorted lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _rows(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    from slotcache.cli.output import table

    made = table("", "", title=title)
    for name, told in rows:
        made.add_row(name, told)
    return made


def _normalised(trace: Trace) -> Iterator[tuple[str, str]]:
    if trace.hygiene is not None:
        yield "unreadable", trace.hygiene.value
        return
    yield "words", " ".join(token.norm for token in trace.tokens)
    for word, mended in trace.repairs.items():
        yield "repaired", f"{word} -> {mended}"
    for quantity in trace.quantities:
        yield "quantity", f"{_words(trace, range(quantity.start, quantity.end))}: {quantity.type} {quantity.value}"
    for found in trace.personal:
        yield "personal", f"{found.kind} at {found.start} to {found.end}"


def _phrases(trace: Trace) -> Iterator[tuple[str, str]]:
    # The phrases of the reading that stands or came nearest; the lexicon's own choice where no intent was evoked.
    cover = trace.readings[0].cover if trace.readings and trace.readings[0].cover else trace.cover
    for span in cover:
        if span.used:
            senses = dict.fromkeys(_sense(sense) for sense in span.senses)
            yield _words(trace, sorted(span.used)), ", ".join(senses)


def _readings(trace: Trace) -> Iterator[tuple[str, str]]:
    for reading in trace.readings[:_SHOWN]:
        key = str(Key.of(reading.intent, reading.slots))
        left = f" {', '.join(reading.detail)}" if reading.detail else ""
        yield key, "stands" if reading.abstain is None else f"{reading.abstain.value}:{left or ' -'}"
    if len(trace.readings) > _SHOWN:
        yield f"and {len(trace.readings) - _SHOWN} more", ""
    if not trace.readings:
        yield "none", "no frame of any intent is complete"


def _learned(trace: Trace) -> Iterator[tuple[str, str]]:
    from slotcache.parsing.agreement import ABSENT

    learned = trace.learned
    if learned is None:
        yield "silent", "no model for this domain, or an earlier stage decided"
        return
    yield "proposed", ", ".join(f"{name} {cosine:.2f}" for name, cosine in learned.candidates[:_SHOWN])
    yield "intent", ", ".join(f"{name} {chance:.2%}" for name, chance in learned.intents[:_SHOWN])
    heard = [(slot, *best) for slot in learned.slots if (best := learned.slots.best(slot)) and best[0] != ABSENT]
    if heard:
        yield "slots", ", ".join(f"{slot}={value} {chance:.1%}" for slot, value, chance in heard[:_SHOWN])
    if learned.truncated:
        yield "cut", "the text is longer than it reads"


def _guarded(trace: Trace) -> Iterator[tuple[str, str]]:
    account = trace.account
    if account is None:
        yield "not reached", ""
        return
    yield "nobody accounts for", ", ".join(account.residue) or "-"
    for kind, words in account.protected.items():
        yield f"protected: {kind}", ", ".join(words)


def _decision(parse: Parse) -> Iterator[tuple[str, str]]:
    yield "key", str(parse.key) if parse.key else "none"
    yield "owner", parse.owner.value if parse.owner and parse.key else "-"
    if parse.abstain is not None:
        yield "abstain", f"{parse.abstain.value}: {EXPLANATIONS[parse.abstain]}"
    yield "left over", ", ".join(parse.residue) or "-"
    yield "may fill", "yes" if parse.fillable else "no: its answer is served to its asker alone"
    yield "confidence", f"{parse.confidence:.2f}"


def _words(trace: Trace, places: Iterable[int]) -> str:
    return " ".join(trace.tokens[at].norm for at in places)


def _sense(sense: Sense) -> str:
    return f"{sense.name}={sense.value}" if sense.kind == "slot" else (sense.name or sense.kind)
