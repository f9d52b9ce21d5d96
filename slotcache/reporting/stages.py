"""What every stage saw in a question, in a line each: the short form of `slotcache explain`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from slotcache.errors import EXPLANATIONS
from slotcache.parsing.lexicon import Span
from slotcache.parsing.parser import Trace
from slotcache.parsing.reading import Reading
from slotcache.parsing.types import Parse
from slotcache.records.redact import readable


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage and what it saw."""

    name: str
    saw: str


class Tracer(Protocol):
    """Whatever reads an utterance and tells what every stage saw."""

    def trace(self, text: str) -> tuple[Parse, Trace]:
        """The reading and what every stage saw."""


def stages(tracer: Tracer, text: str) -> tuple[Stage, ...]:
    """What every stage saw in a question; stages that saw nothing are left out."""
    parse, trace = tracer.trace(readable(text))
    found = [
        Stage("Words", " ".join(token.norm for token in trace.tokens)),
        Stage("Spelling repaired", _listed(f"{was} → {now}" for was, now in trace.repairs.items())),
        Stage("Personal data", _listed(dict.fromkeys(piece.kind for piece in trace.personal))),
        Stage("Quantities", _listed(f"{quantity.type} {quantity.value}" for quantity in trace.quantities)),
        Stage("Phrases", _listed(_span(span, trace) for span in trace.cover if not span.is_filler)),
        Stage("Passed over", _listed(_words(span, trace) for span in trace.cover if span.is_filler)),
        Stage("Readings", "; ".join(_reading(reading) for reading in trace.readings[:4])),
    ]
    if trace.learned is not None:
        likely = _listed(f"{intent} {chance:.0%}" for intent, chance in trace.learned.intents[:3])
        found.append(Stage("Learned reader", likely))
    if trace.account is not None:
        protected = (f"{name}: {', '.join(words)}" for name, words in trace.account.protected.items())
        found += [Stage("Protected words", "; ".join(protected)), Stage("Left over", _listed(parse.residue))]
    found.append(Stage("Decision", _decision(parse)))
    return tuple(stage for stage in found if stage.saw)


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _words(span: Span, trace: Trace) -> str:
    return " ".join(token.norm for token in trace.tokens[span.start : span.end])


def _span(span: Span, trace: Trace) -> str:
    names = dict.fromkeys(f"{s.name}={s.value}" if s.value else s.name or s.kind for s in span.senses)
    return f"“{_words(span, trace)}” is {' or '.join(names)}"


def _reading(reading: Reading) -> str:
    slots = ", ".join(f"{name}={value}" for name, value in sorted(reading.slots.items()))
    return f"{reading.intent}({slots}){_why(reading.abstain, reading.detail)}"


def _why(abstain: object, detail: Sequence[str]) -> str:
    if abstain is None:
        return " stands"
    return f" fails: {abstain}" + (f" ({', '.join(detail)})" if detail else "")


def _decision(parse: Parse) -> str:
    if parse.abstain is not None:
        return f"{parse.abstain.value}: {EXPLANATIONS[parse.abstain]}"
    return f"{parse.key}, owner {parse.owner}, confidence {parse.confidence:.2f}"
