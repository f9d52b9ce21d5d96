"""What stands when the deterministic and the learned reader have both spoken."""

from __future__ import annotations

import numpy as np
import pytest

from slotcache.domain.schema import Intent, IntentSlot
from slotcache.errors import Abstain
from slotcache.parsing.agreement import Bars, settle
from slotcache.parsing.classify import SlotDistributions
from slotcache.parsing.learned import LearnedReading
from slotcache.parsing.reading import Reading

BARS = Bars(veto=0.95, scope=0.9, slot_veto=0.98)


def learned(intent: str, chance: float, **slots: tuple[str, float]) -> LearnedReading:
    """A learned reading with one likeliest intent and one likeliest value for each slot named."""
    places: dict[str, tuple[int, tuple[str, ...]]] = {}
    logits: list[float] = []
    for slot, (value, certainty) in slots.items():
        places[slot] = (len(logits), (value, "another"))
        logits += [float(np.log(certainty)), float(np.log(1 - certainty))]
    rest = "cancel_order" if intent != "cancel_order" else "something_else"
    intents = ((intent, chance), (rest, 1 - chance))
    return LearnedReading((), intents, SlotDistributions(places, np.array(logits, dtype=np.float32)))


def decide(reading: Reading, heard: LearnedReading) -> Abstain | None:
    known = ("cancel_order", "return_item", "something_else")
    return settle([reading], heard, BARS, known=known, closed=("timing", "method")).abstain


@pytest.mark.parametrize(
    ("heard", "abstain"),
    [
        (learned("cancel_order", 0.99), None),
        (learned("return_item", 0.96), Abstain.READERS_DISAGREE),
        (learned("return_item", 0.94), None),
        (learned("out_of_scope", 0.91), Abstain.OUT_OF_SCOPE),
        (learned("out_of_scope", 0.89), None),
    ],
)
def test_settle_another_intent_overrules_from_its_bar_up(heard: LearnedReading, abstain: Abstain | None) -> None:
    assert decide(Reading("cancel_order"), heard) is abstain


@pytest.mark.parametrize(
    ("chance", "value", "certainty", "abstain"),
    [
        (0.99, "post_shipment", 0.99, Abstain.READERS_DISAGREE),
        (0.99, "post_shipment", 0.97, None),
        (0.99, "pre_shipment", 0.99, None),
        (0.99, "-", 0.999, None),
        (0.89, "-", 0.999, None),
    ],
    ids=["another value", "below the bar", "the same", "none, intent sure", "none, intent in doubt"],
)
def test_settle_slot_objection(chance: float, value: str, certainty: float, abstain: Abstain | None) -> None:
    reading = Reading("cancel_order", slots={"timing": "pre_shipment"})
    assert decide(reading, learned("cancel_order", chance, timing=(value, certainty))) is abstain


def test_settle_a_value_that_code_did_not_hear_is_an_objection() -> None:
    heard = learned("cancel_order", 0.99, timing=("post_shipment", 0.99))
    assert decide(Reading("cancel_order"), heard) is Abstain.READERS_DISAGREE


def test_settle_a_value_that_means_the_same_to_the_intent_is_no_objection() -> None:
    same = Intent(frames=["x"], slots={"timing": IntentSlot(merge={"post_shipment": "pre_shipment"})})
    verdict = settle(
        [Reading("cancel_order", slots={"timing": "pre_shipment"})],
        learned("cancel_order", 0.99, timing=("post_shipment", 0.99)),
        BARS,
        known=("cancel_order",),
        closed=("timing",),
        intents={"cancel_order": same},
    )
    assert verdict.abstain is None


def test_bars_of_an_older_manifest_are_read() -> None:
    assert Bars.of({"veto": 0.95, "absent": 0.999}) == Bars(veto=0.95)


def test_settle_two_intents_equally_complete_are_ambiguous_below_the_bar() -> None:
    verdict = settle(
        [Reading("cancel_order"), Reading("return_item")],
        learned("cancel_order", 0.8),
        BARS,
        known=("cancel_order", "return_item"),
        closed=(),
    )
    assert verdict.abstain is Abstain.AMBIGUOUS
