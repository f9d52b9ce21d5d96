"""Labels that may be wrong: said twice in two ways, or contradicted by a reading that is sure of itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.records.record import normal
from slotcache.reporting.judged import Judged, Source, Verdict

SURE: Final = 0.9
"""Confidence (inclusive) from which a reading casts doubt on a label."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A label to look at again.

    Attributes:
        question: Position among the judged questions.
        label: What it says.
        rather: What it may be instead.
        why: `contradicts` another label of the same question, or a `confident` reading.
        confidence: How sure the reading is; 1.0 for a contradiction.
    """

    question: int
    label: str
    rather: str
    why: str
    confidence: float


def suspects(judged: Sequence[Judged]) -> tuple[Suspect, ...]:
    """Doubtful labels, the most doubtful first."""
    found = [*_contradictions(judged), *_confident(judged)]
    first: dict[tuple[str, str], Suspect] = {}
    for suspect in sorted(found, key=lambda s: (s.why != "contradicts", -s.confidence, judged[s.question].text)):
        first.setdefault((normal(judged[suspect.question].text), suspect.label), suspect)
    return tuple(first.values())


def _contradictions(judged: Sequence[Judged]) -> list[Suspect]:
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for at, question in enumerate(judged):
        if question.gold.slots is not None or not question.in_scope:
            labels[normal(question.text)].setdefault(question.gold.name, at)
    return [
        Suspect(at, label, next(other for other in held if other != label), "contradicts", 1.0)
        for held in labels.values()
        if len(held) > 1
        for label, at in held.items()
    ]


def _confident(judged: Sequence[Judged]) -> list[Suspect]:
    return [
        Suspect(at, q.gold.name, q.read.key or q.read.leaning or "", "confident", q.read.confidence)
        for at, q in enumerate(judged)
        if q.verdict is Verdict.WRONG
        and q.read.confidence >= SURE
        # The deterministic reader is always sure; only doubt that was calibrated counts against a label.
        and (q.source is Source.CROSS_VALIDATION or q.read.model)
    ]
