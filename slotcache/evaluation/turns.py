"""One question of traffic with its reading and what came of it, from a replay or from the record of real traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slotcache.errors import NotStored
from slotcache.evaluation.traffic import Asked
from slotcache.events import Decision, Outcome
from slotcache.parsing.types import Owner, Parse
from slotcache.records.record import Kind, Record

UNNAMED: Final = ""
"""Customer of a record, which never says who asked."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of traffic.

    Attributes:
        text: The utterance; from a record, without personal data.
        intent: The intent read; None when the reading abstained.
        key: The printed intent key; None when the reading abstained.
        slots: Slot values by slot name.
        owner: Who may share the answers; None without a key.
        customer: Who asked; empty when unknown.
        protected: Protected words by class.
        fingerprint: Protected words that the key does not carry; None when the source does not say.
        decision: Hit, miss or bypass.
        reason: Stable id of the reason.
        not_stored: Why the model's answer was not kept; None when it was or when the model was not called.
        fields: Further parts of the address, by name.
        truth: What tells whether two questions have one answer; empty when nobody said.
    """

    text: str
    intent: str | None = None
    key: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    customer: str = UNNAMED
    protected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fingerprint: tuple[str, ...] | None = None
    decision: str = ""
    reason: str = ""
    not_stored: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    truth: str = ""

    @property
    def keyed_miss(self) -> bool:
        """Whether an intent key was looked up in vain."""
        return self.key is not None and self.decision == Decision.MISS


def turn_of(asked: Asked, parse: Parse, outcome: Outcome) -> Turn:
    """A replayed question."""
    keyed = parse.key is not None and not parse.key.is_verbatim
    return Turn(
        text=asked.text,
        intent=parse.intent if keyed else None,
        key=str(parse.key) if keyed else None,
        slots=dict(parse.slots) if keyed else {},
        owner=parse.owner.value if keyed and parse.owner else None,
        customer=asked.customer or UNNAMED,
        protected=parse.protected,
        fingerprint=parse.fingerprint,
        decision=outcome.decision.value,
        reason=outcome.reason,
        not_stored=outcome.not_stored,
        truth=asked.truth,
    )


def turns_of(records: Iterable[Record], truth: Callable[[str], str] = lambda _: "") -> list[Turn]:
    """Recorded questions, each with what became of its answer.

    Args:
        records: The traffic, in its order.
        truth: The label of a text; empty when nobody labelled it.
    """
    turns: list[Turn] = []
    asked: dict[tuple[str, str | None], int] = {}
    for record in records:
        if record.kind is Kind.LOOKUP:
            asked[record.normal, record.key] = len(turns)
            turns.append(_recorded(record, truth))
        elif record.kind is Kind.ANSWER and record.not_stored is not None:
            at = asked.get((record.normal, record.key))
            if at is not None:
                turns[at] = replace(turns[at], not_stored=record.not_stored)
    return turns


def _recorded(record: Record, truth: Callable[[str], str]) -> Turn:
    keyed = record.intent is not None
    return Turn(
        text=record.text,
        intent=record.intent,
        key=record.key if keyed else None,
        slots=record.slots if keyed else {},
        owner=record.owner if keyed else None,
        protected=record.protected,
        decision=record.decision,
        reason=record.reason,
        not_stored=None if record.fillable else NotStored.NOT_FILLABLE.value,
        fields={"tenant": record.tenant, "locale": record.locale, "model": record.model},
        truth=truth(record.text),
    )


def may_share(first: Turn, second: Turn) -> bool:
    """Whether the answer to one question may be served for the other, as far as owners go."""
    if first.owner != second.owner or first.owner in (None, Owner.NEVER.value):
        return False
    return first.owner == Owner.SHARED.value or (first.customer == second.customer != UNNAMED)
