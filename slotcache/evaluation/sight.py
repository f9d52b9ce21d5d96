"""What a reading was made of: the parse with what each stage did, small enough to keep for thousands of questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from slotcache.evaluation.causes import Cause, silence
from slotcache.parsing.lexicon import Sense, Span
from slotcache.parsing.parser import Trace
from slotcache.parsing.reading import Reading
from slotcache.parsing.types import Parse

FILLER: Final = "filler"
GRAMMAR: Final = "grammar"


class Tracer(Protocol):
    """Whatever reads an utterance and tells what every stage saw."""

    def trace(self, text: str) -> tuple[Parse, Trace]:
        """The reading and what every stage saw."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One utterance as the stages saw it.

    Attributes:
        parse: The reading.
        cause: What kept it from an intent key; None when it has one.
        words: Each normalised word and what it was taken for: `filler`, `grammar`, a concept or a slot value.
        repairs: Misspelt word -> what spelling repair made of it.
        ignored: Slots whose values were heard and dropped by the reading that stands.
        merged: Whether that reading merged a value into another one.
        intents: The learned reader's intents with their probabilities, best first; empty without one.
        proposed: Intents that the encoder nominated; None without a learned reader.
    """

    parse: Parse
    cause: Cause | None = None
    words: tuple[tuple[str, str], ...] = ()
    repairs: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    merged: bool = False
    intents: tuple[tuple[str, float], ...] = ()
    proposed: frozenset[str] | None = None

    @property
    def keyed(self) -> bool:
        """Whether there is an intent key."""
        return self.parse.key is not None and not self.parse.key.is_verbatim


def look(tracer: Tracer, text: str) -> Sight:
    """Read one utterance and keep what its stages saw."""
    parse, trace = tracer.trace(text)
    reading = _standing(parse, trace)
    learned = trace.learned
    return Sight(
        parse=parse,
        cause=silence(parse, trace),
        words=_words(trace, reading),
        repairs=dict(trace.repairs),
        ignored=reading.ignored if reading else (),
        merged=reading.merged if reading else False,
        intents=tuple(learned.intents[:3]) if learned else (),
        proposed=frozenset(name for name, _ in learned.candidates) if learned else None,
    )


def look_at(tracer: Tracer, texts: Iterable[str], step: Callable[[str], object] = lambda _: None) -> dict[str, Sight]:
    """Read utterances, equal ones once.

    Args:
        tracer: The parser.
        texts: The utterances.
        step: Called with each distinct utterance when it was read.
    """
    seen: dict[str, Sight] = {}
    for text in texts:
        if text not in seen:
            seen[text] = look(tracer, text)
            step(text)
    return seen


def _standing(parse: Parse, trace: Trace) -> Reading | None:
    """The reading behind the key."""
    if parse.intent is None:
        return None
    return next(
        (r for r in trace.readings if r.abstain is None and r.intent == parse.intent and r.slots == parse.slots), None
    )


def _words(trace: Trace, reading: Reading | None) -> tuple[tuple[str, str], ...]:
    taken: dict[int, Span] = {}
    for span in reading.cover if reading else trace.cover:
        taken.update(dict.fromkeys(span.used, span))
    return tuple((token.norm, _role(taken.get(at))) for at, token in enumerate(trace.tokens))


def _role(span: Span | None) -> str:
    if span is None:
        return GRAMMAR
    if span.is_filler:
        return FILLER
    return " or ".join(dict.fromkeys(_printed(sense) for sense in span.senses if sense.kind != "filler"))


def _printed(sense: Sense) -> str:
    return f"{sense.name}={sense.value}" if sense.kind == "slot" else sense.name
