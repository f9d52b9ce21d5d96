"""An event of the cache -> the record of it; pure, and run in the writer's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slotcache.address import Scope, digest
from slotcache.entry import Entry
from slotcache.events import Answered, Event, LookedUp, Outcome, Withdrawn
from slotcache.parsing.types import Parse
from slotcache.records.record import Kind, Record, normal
from slotcache.records.redact import Redacted, Redactor, readable

Read = Callable[[str], Parse]

_DIGEST_BYTES: Final = 10
_FALSE_HIT: Final = "false_hit"


def capture(
    event: Event, *, number: str, redact: Redactor, weight: float = 1.0, read: Read | None = None
) -> Record | None:
    """The record of an event; None when it is not one that is recorded.

    Args:
        event: What the cache told.
        number: The record's id.
        redact: Takes personal data out.
        weight: How many events it stands for.
        read: Reads the redacted text again, to tell whether redaction kept the key.
    """
    if isinstance(event, LookedUp):
        record = _decided(Kind.LOOKUP, event.at, event.outcome, event.parse, event.scope, number, redact, read)
        return replace(
            record,
            seconds=event.seconds,
            weight=weight,
            answer=_answer(event.served),
            near_key=_near_key(event.near, redact),
            near_text=redact(event.near.question).text if event.near is not None else None,
        )
    if isinstance(event, Answered):
        record = _decided(Kind.ANSWER, event.at, event.outcome, event.parse, event.scope, number, redact, read)
        said = event.outcome.answer
        return replace(
            record,
            seconds=event.seconds,
            weight=weight,
            answer=_answer(event.stored),
            not_stored=event.outcome.not_stored,
            agreed=None if event.withheld is None or said is None else event.withheld.answer.strip() == said.strip(),
        )
    if isinstance(event, Withdrawn) and event.reason == _FALSE_HIT:
        return _reported(event, number, redact)
    return None


def _decided(
    kind: Kind,
    at: float,
    outcome: Outcome,
    parse: Parse | None,
    scope: Scope,
    number: str,
    redact: Redactor,
    read: Read | None,
) -> Record:
    record = Record(
        number,
        at,
        kind,
        decision=outcome.decision.value,
        reason=outcome.reason,
        source=outcome.source.value,
        model=outcome.model,
        tenant=scope.tenant,
        locale=scope.locale,
        hit_id=outcome.hit_id,
    )
    return record if parse is None else _with_reading(record, parse, redact(parse.text), read)


def _with_reading(record: Record, parse: Parse, redacted: Redacted, read: Read | None) -> Record:
    plain = normal(redacted.text)
    key = redacted.key(parse.key, plain)
    return replace(
        record,
        text=redacted.text,
        normal=plain,
        key=str(key) if key is not None else None,
        intent=parse.intent,
        slots={name: redacted.references.get(value, value) for name, value in parse.slots.items()},
        owner=parse.owner.value if parse.owner is not None and key is not None else None,
        abstain=parse.abstain.value if parse.abstain is not None else None,
        confidence=round(parse.confidence, 4),
        candidates=tuple((intent, round(score, 4)) for intent, score in parse.candidates),
        residue=tuple(word for word in parse.residue if not (redacted.hides(word) or _is_mark(word))),
        protected={name: tuple(w for w in words if not redacted.hides(w)) for name, words in parse.protected.items()},
        personal=tuple(dict.fromkeys((*parse.personal, *redacted.kinds))),
        fillable=parse.fillable,
        redaction=_kept(redacted, str(key), read) if redacted.kinds and parse.intent is not None else "",
    )


def _is_mark(word: str) -> bool:
    """Whether it is no word that a domain could be taught, such as the @ of an address that was replaced."""
    return not any(c.isalnum() for c in word)


def _kept(redacted: Redacted, key: str, read: Read | None) -> str:
    if read is None:
        return ""
    return "same" if str(read(readable(redacted.text)).key) == key else "changed"


def _reported(event: Withdrawn, number: str, redact: Redactor) -> Record:
    entry = event.entry
    record = Record(number, event.at, Kind.FALSE_HIT, reason=event.reason, hit_id=event.hit_id)
    if entry is None:
        return record
    redacted = redact(entry.question)
    plain = normal(redacted.text)
    return replace(
        record,
        text=redacted.text,
        normal=plain,
        key=str(redacted.key(entry.key, plain)),
        intent=None if entry.key.is_verbatim else entry.key.intent,
        model=entry.parser,
        tenant=entry.address.namespace.tenant,
        locale=entry.address.namespace.locale,
        answer=_answer(entry),
    )


def _near_key(entry: Entry | None, redact: Redactor) -> str | None:
    if entry is None:
        return None
    redacted = redact(entry.question)
    return str(redacted.key(entry.key, normal(redacted.text)))


def _answer(entry: Entry | None) -> str | None:
    return answer_digest(entry.answer) if entry is not None else None


def answer_digest(answer: str) -> str:
    """A digest by which equal answers are known without keeping them."""
    return digest("answer", " ".join(answer.split()), size=_DIGEST_BYTES)
