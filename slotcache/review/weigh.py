"""How much a question deserves a look: harm x traffic x doubt, worked out from its records; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from slotcache.errors import Abstain
from slotcache.events import Decision
from slotcache.parsing.types import Owner
from slotcache.records.record import Kind, Record
from slotcache.reporting.judged import Answers


class Why(StrEnum):
    """Why somebody should look, the most pressing first."""

    REPORTED = "reported"
    QUARANTINE = "quarantine"
    CONFLICT = "conflict"
    DISAGREE = "disagree"
    NEAR_MISS = "near_miss"
    LOW_MARGIN = "low_margin"
    ABSTAINED = "abstained"
    WAITING = "waiting"
    NONE = "none"


NAMES: Final = {
    Why.REPORTED: "Reported wrong",
    Why.QUARANTINE: "In quarantine",
    Why.CONFLICT: "In conflict",
    Why.DISAGREE: "Readers disagree",
    Why.NEAR_MISS: "Near miss",
    Why.LOW_MARGIN: "Low margin",
    Why.ABSTAINED: "No key",
    Why.WAITING: "Waits for an answer",
    Why.NONE: "No doubt",
}
"""What people call them."""

SURE: Final = 0.9
"""Confidence (inclusive) from which a reading is not in doubt for its own sake."""

NARROW: Final = 0.05
"""Lead of the first candidate over the second (exclusive) below which the two are hard to tell apart."""

_MISS: Final = 0.1
"""Harm of a question without a key: a call of the model, and a second for the customer."""

_SAME_ANSWER: Final = 0.05
"""Harm of a confusion that costs nothing, since both sides have one and the same answer."""

_BY_OWNER: Final = {Owner.SHARED.value: 1.0, Owner.CUSTOMER.value: 0.6, Owner.NEVER.value: 0.05}
_BY_ABSTENTION: Final = {
    Abstain.AMBIGUOUS: 0.9,
    Abstain.LOW_CONFIDENCE: 0.9,
    Abstain.CONFLICT: 0.7,
    Abstain.RESIDUE: 0.6,
    Abstain.PROTECTED: 0.6,
    Abstain.INCOMPLETE: 0.5,
    Abstain.OUT_OF_SCOPE: 0.3,
    Abstain.SEVERAL_QUESTIONS: 0.2,
    Abstain.FOLLOW_UP: 0.1,
}
"""Doubt about an abstention; what is missing here (personal data, unreadable text, another language) needs nobody."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What one record says about the need to look at its question.

    Attributes:
        why: The most pressing reason.
        harm: What a wrong reading would cost, in [0, 1].
        doubt: How likely the reading is wrong, in [0, 1]; 0 where nobody need look.
    """

    why: Why
    harm: float
    doubt: float

    @property
    def product(self) -> float:
        """Harm x doubt."""
        return self.harm * self.doubt


NOTHING: Final = Weight(Why.NONE, 0.0, 0.0)


def weigh(record: Record, answers: Answers) -> Weight:
    """Why a question deserves a look, by one record of it.

    Args:
        record: The record.
        answers: Which answers stand under which keys and, by the bare name, under which intents.
    """
    if record.kind is Kind.FALSE_HIT:
        return Weight(Why.REPORTED, 1.0, 1.0)
    found = [_disagreement(record, answers), _near_miss(record, answers), _margin(record, answers), _abstention(record)]
    return max(found, key=lambda weight: weight.product)


def _disagreement(record: Record, answers: Answers) -> Weight:
    if record.abstain != Abstain.READERS_DISAGREE:
        return NOTHING
    return Weight(Why.DISAGREE, _SAME_ANSWER if _alike(record, answers) else 0.5, 0.9)


def _near_miss(record: Record, answers: Answers) -> Weight:
    """The guard kept an answer back: either it saved a customer, or it is too strict."""
    if record.near_key is None:
        return NOTHING
    same = record.key is not None and record.key != record.near_key and answers.same(record.key, record.near_key)
    return Weight(Why.NEAR_MISS, _SAME_ANSWER if same else 0.5, 0.7)


def _margin(record: Record, answers: Answers) -> Weight:
    if record.intent is None:
        return NOTHING
    doubt = 1.0 - record.confidence if record.confidence < SURE else 0.0
    if len(record.candidates) > 1 and record.candidates[0][1] - record.candidates[1][1] < NARROW:
        doubt = max(doubt, 0.4)
    served = 1.0 if record.decision == Decision.HIT else 0.7
    harm = _SAME_ANSWER if _alike(record, answers) else _BY_OWNER.get(record.owner or "", 0.05) * served
    return Weight(Why.LOW_MARGIN, harm, doubt) if doubt else NOTHING


def _abstention(record: Record) -> Weight:
    if record.abstain is None or record.abstain == Abstain.READERS_DISAGREE:
        return NOTHING
    doubt = next((doubt for reason, doubt in _BY_ABSTENTION.items() if reason == record.abstain), 0.0)
    return Weight(Why.ABSTAINED, _MISS, doubt) if doubt else NOTHING


def _alike(record: Record, answers: Answers) -> bool:
    """Whether the two intents in question are known to have one and the same answer."""
    return len(record.candidates) > 1 and answers.same(record.candidates[0][0], record.candidates[1][0])
