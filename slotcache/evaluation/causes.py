"""Which stage an error comes from, and what there.

Every abstention, missed paraphrase and false hit is put down to one stage of the parser and one cause, so that a list
of errors says where to look. `docs/accuracy.md` explains the causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from slotcache.errors import Abstain
from slotcache.parsing.agreement import ABSENT, OUT_OF_SCOPE
from slotcache.parsing.english import english_words
from slotcache.parsing.parser import Trace
from slotcache.parsing.types import Parse


class Stage(StrEnum):
    """Where in the flow from utterance to answer something happened."""

    NORMALISE = "normalise"
    SPELLING = "spelling"
    PROPOSE = "propose"
    CLASSIFY = "classify"
    FILL = "fill"
    GUARD = "guard"
    AGREEMENT = "agreement"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Cause:
    """What made an error.

    Attributes:
        stage: The stage.
        name: What happened there, as a short name that errors of one kind share.
        detail: The words, slots or intents at fault.
    """

    stage: Stage
    name: str
    detail: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {"stage": self.stage.value, "cause": self.name, "detail": list(self.detail)}

    def __str__(self) -> str:
        told = f": {', '.join(self.detail)}" if self.detail else ""
        return f"{self.stage} {self.name}{told}"


_STAGES: Final[Mapping[Abstain, Stage]] = {
    Abstain.EMPTY: Stage.NORMALISE,
    Abstain.TOO_LONG: Stage.NORMALISE,
    Abstain.UNREADABLE: Stage.NORMALISE,
    Abstain.OTHER_LANGUAGE: Stage.NORMALISE,
    Abstain.FOLLOW_UP: Stage.GUARD,
    Abstain.SEVERAL_QUESTIONS: Stage.GUARD,
    Abstain.PERSONAL: Stage.OWNER,
    Abstain.CONFLICT: Stage.FILL,
    Abstain.INCOMPLETE: Stage.FILL,
    Abstain.LOW_CONFIDENCE: Stage.CLASSIFY,
    Abstain.INTENT_OFF: Stage.OWNER,
}


def silence(parse: Parse, trace: Trace) -> Cause | None:
    """What kept an utterance from an intent key; None when it has one.

    Args:
        parse: The reading.
        trace: What every stage saw.
    """
    abstain = parse.abstain
    if abstain is None:
        return None
    if abstain is Abstain.OUT_OF_SCOPE:
        return _out_of_scope(parse, trace)
    if abstain is Abstain.RESIDUE:
        return _residue(parse, trace)
    if abstain is Abstain.PROTECTED:
        detail = trace.readings[0].detail if trace.readings else ()
        return Cause(Stage.GUARD, f"protected {_classes(detail, parse)}", detail)
    if abstain is Abstain.AMBIGUOUS:
        standing = sorted({r.intent for r in trace.readings if r.abstain is None})
        if len(standing) > 1:
            return Cause(Stage.CLASSIFY, "ambiguous intent", tuple(standing))
        return Cause(Stage.FILL, "ambiguous values", tuple(standing))
    if abstain is Abstain.READERS_DISAGREE:
        return _disagreement(trace)
    return Cause(_STAGES[abstain], abstain.value.replace("_", " "), _detail(parse, trace))


def class_of(word: str, parse: Parse) -> str:
    """The protected class of a word of an utterance; numbers that phrases name are of the class `number`."""
    return next((name for name, words in parse.protected.items() if word in words), "number")


def _out_of_scope(parse: Parse, trace: Trace) -> Cause:
    standing = [reading for reading in trace.readings if reading.abstain is None]
    if standing:
        return Cause(Stage.AGREEMENT, "out of scope against a reading", (standing[0].intent,))
    if trace.learned is not None and trace.learned.intents[0][0] == OUT_OF_SCOPE:
        return Cause(Stage.CLASSIFY, "out of scope", _left_over(parse, trace))
    meant = [span for span in trace.cover if not span.is_filler]
    phrases = tuple(" ".join(trace.tokens[at].norm for at in sorted(span.used)) for span in meant)
    return Cause(Stage.FILL, "no frame", phrases)


def _residue(parse: Parse, trace: Trace) -> Cause:
    left = _left_over(parse, trace)
    unknown = tuple(word for word in left if word.isalpha() and word not in english_words())
    if unknown:
        return Cause(Stage.SPELLING, "unknown word", unknown)
    if left:
        return Cause(Stage.GUARD, "residue", left)
    # Every word has a phrase somewhere in the domain, but the nearest intent has no place for it.
    return Cause(Stage.FILL, "unplaced phrase", parse.residue)


def _left_over(parse: Parse, trace: Trace) -> tuple[str, ...]:
    return trace.account.residue if trace.account is not None else parse.residue


def _disagreement(trace: Trace) -> Cause:
    standing = next((reading for reading in trace.readings if reading.abstain is None), None)
    learned = trace.learned
    if standing is None or learned is None:
        return Cause(Stage.AGREEMENT, "readers disagree")
    top, chance = learned.intents[0]
    against = [
        (values[0][1], slot, f"{slot}={standing.slots.get(slot, ABSENT)} against {values[0][0]} {values[0][1]:.0%}")
        for slot, values in learned.slots.items()
        if slot not in standing.ignored and values and values[0][0] not in (ABSENT, standing.slots.get(slot, ABSENT))
    ]
    sure, slot, told = max(against, default=(0.0, "", ""))
    if top != standing.intent and chance >= sure:
        return Cause(Stage.AGREEMENT, "another intent", (f"{standing.intent} against {top} {chance:.0%}",))
    return Cause(Stage.AGREEMENT, f"another value of {slot}" if slot else "readers disagree", (told,) if told else ())


def _classes(words: Iterable[str], parse: Parse) -> str:
    return " + ".join(sorted({class_of(word, parse) for word in words}))


def _detail(parse: Parse, trace: Trace) -> tuple[str, ...]:
    if parse.abstain is Abstain.PERSONAL:
        return parse.personal
    if parse.abstain in (Abstain.CONFLICT, Abstain.INCOMPLETE) and trace.readings:
        return trace.readings[0].detail
    return ()
