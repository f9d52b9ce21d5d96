"""Two readers, one key: what stands when the deterministic and the learned reader have both spoken.

The learned reader never writes a slot value. It confirms what the deterministic reader read, picks between two readings
that explain every word equally well, names the intent where no frame did but its vocabulary explains every word, or
refuses; a refusal is an abstention with its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

from slotcache.domain.schema import Intent
from slotcache.errors import Abstain
from slotcache.parsing.learned import LearnedReading
from slotcache.parsing.reading import Reading

OUT_OF_SCOPE: Final = "out_of_scope"
ABSENT: Final = "-"


@dataclass(frozen=True, slots=True)
class Bars:
    """Calibrated bars of one model, chosen by risk control on data kept for it.

    Attributes:
        veto: Probability that the question has any other intent from which that overrules a deterministic reading. What
            the others share between them tells a misreading sooner than how sure the likeliest of them is.
        scope: Probability from which `out_of_scope` does.
        slot_veto: Probability from which another value of a slot does. That the key should hold no value of the slot is
            no objection: heads miss values that they saw seldom, and code does not invent them.
        choose: Probability from which the learned reader may pick one of two equally complete readings.
        alone: Probability from which it may name the intent when no frame evoked one; every word must still be
            explained by that intent's vocabulary, and every slot head must agree with the values that code read.
    """

    veto: float = 0.9
    scope: float = 0.9
    slot_veto: float = 0.97
    choose: float = 0.9
    alone: float = 0.97

    @classmethod
    def of(cls, manifest: Mapping[str, float]) -> Bars:
        """The bars of a manifest; those that this version no longer heeds are passed over."""
        return cls(**{field.name: manifest[field.name] for field in fields(cls) if field.name in manifest})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reading that stands, or why none does."""

    reading: Reading | None
    abstain: Abstain | None
    confidence: float


def settle(
    standing: Sequence[Reading],
    learned: LearnedReading,
    bars: Bars,
    *,
    known: Collection[str],
    closed: Collection[str],
    intents: Mapping[str, Intent] = MappingProxyType({}),
) -> Verdict:
    """Decide between the deterministic readings that explain every word, given what the learned reader saw.

    Args:
        standing: Complete readings that are equally specific; at least one.
        learned: The learned reading of the same utterance.
        bars: The model's bars.
        known: Intents that the model was trained on; on others it is silent.
        closed: Slots whose values it was trained on.
        intents: The domain's intents, which say what values mean the same to them.
    """
    chances = dict(learned.intents)
    top, top_chance = learned.intents[0]
    choice = max(standing, key=lambda reading: chances.get(reading.intent, 0.0))
    chance = chances.get(choice.intent, 0.0)
    if len({reading.intent for reading in standing}) > 1:
        if chance < bars.choose:
            return Verdict(None, Abstain.AMBIGUOUS, chance)
    elif len(standing) > 1:
        return Verdict(None, Abstain.AMBIGUOUS, chance)
    if choice.intent not in known:
        return Verdict(choice, None, 1.0 - (top_chance if top == OUT_OF_SCOPE else 0.0))
    if top == OUT_OF_SCOPE and top_chance >= bars.scope:
        return Verdict(None, Abstain.OUT_OF_SCOPE, chance)
    if 1.0 - chance >= bars.veto:
        return Verdict(None, Abstain.READERS_DISAGREE, chance)
    if any(certainty >= bars.slot_veto for _, _, certainty in objections(choice, learned, closed, intents)):
        return Verdict(None, Abstain.READERS_DISAGREE, chance)
    return Verdict(choice, None, chance)


def objections(
    reading: Reading, learned: LearnedReading, closed: Collection[str], intents: Mapping[str, Intent]
) -> Iterator[tuple[str, str, float]]:
    """Slots of which the learned reader heard another value, with that value and how sure it is of it.

    A value that means the same to the intent is not another one, and that it heard none is no objection.
    """
    intent = intents.get(reading.intent)
    for slot in closed:
        best = learned.slots.best(slot)
        if best is None or slot in reading.ignored:
            continue
        value, certainty = best
        use = intent.slots.get(slot) if intent else None
        meant = use.merge.get(value, value) if use else value
        if meant not in (ABSENT, reading.slots.get(slot, ABSENT)):
            yield slot, value, certainty


def confirms(reading: Reading, learned: LearnedReading, bars: Bars, *, closed: Collection[str]) -> float | None:
    """Confidence in a reading whose intent only the learned reader named; None when it is not certain of all of it."""
    top, chance = learned.intents[0]
    if top != reading.intent or chance < bars.alone or learned.truncated:
        return None
    for slot in closed:
        best = learned.slots.best(slot)
        if best is not None and best[0] != reading.slots.get(slot, ABSENT):
            return None
    return chance
