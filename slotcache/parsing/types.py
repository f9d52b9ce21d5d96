"""What flows between the stages of parsing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from slotcache.errors import Abstain
from slotcache.key import Key


class Owner(StrEnum):
    """Who may share the answers of a key, from widest to narrowest."""

    SHARED = "shared"
    CUSTOMER = "customer"
    NEVER = "never"

    @classmethod
    def narrowest(cls, *owners: Owner) -> Owner:
        """The narrowest of several owners, so that combining rules never widens a key."""
        order = list(cls)
        return max(owners, key=order.index)


@dataclass(frozen=True, slots=True)
class Parse:
    """The reading of one utterance.

    Attributes:
        text: The utterance as typed.
        key: The exact key, or None when the question is not cacheable. A verbatim key stands beside an abstention.
        intent: The intent read, None when the reading abstained.
        slots: Slot values by slot name, as they stand in the key.
        owner: Who may share the key's answers; None without a key.
        abstain: Why there is no intent key; None when there is one.
        confidence: Calibrated probability in [0, 1] that the reading is right; 0.0 when nothing was read.
        candidates: Proposed intents with their scores in [0, 1], best first.
        residue: Words that nothing accounts for.
        protected: Protected words found, by class.
        fingerprint: Protected words that neither the key carries nor the intent declares irrelevant; part of the
            address, compared again on a hit.
        fillable: Whether a learned answer to this utterance may fill a key that others read.
        personal: Kinds of personal data found in the text.
        canonical: The normalised text without reviewed fillers.
        model: Version of the model that read it; empty when none did.
    """

    text: str
    key: Key | None = None
    intent: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None
    abstain: Abstain | None = None
    confidence: float = 0.0
    candidates: tuple[tuple[str, float], ...] = ()
    residue: tuple[str, ...] = ()
    protected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fingerprint: tuple[str, ...] = ()
    fillable: bool = False
    personal: tuple[str, ...] = ()
    canonical: str = ""
    model: str = ""

    def as_dict(self) -> dict[str, object]:
        """The line that `slotcache parse` prints for this utterance."""
        return {
            "text": self.text,
            "key": str(self.key) if self.key else None,
            "intent": self.intent,
            "slots": dict(self.slots),
            "owner": self.owner.value if self.owner and self.key else None,
            "abstain": self.abstain.value if self.abstain else None,
            "confidence": round(self.confidence, 4),
            "candidates": [[intent, round(score, 4)] for intent, score in self.candidates],
            "residue": list(self.residue),
            "protected": {name: list(words) for name, words in self.protected.items()},
        }
