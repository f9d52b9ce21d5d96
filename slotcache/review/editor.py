"""The form in which an analyst corrects intent and slots, made from the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slotcache.domain.keys import wrong_with
from slotcache.domain.schema import Domain, IntentSlot, Slot
from slotcache.key import Key
from slotcache.learning.labels import label_problems
from slotcache.parsing.parser import Trace
from slotcache.parsing.types import Owner

_FORMS = {
    "duration": "P3D, PT2H",
    "money": "1999:EUR",
    "date": "2026-01-31",
    "count": "2",
    "percent": "20",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One slot in the form.

    Attributes:
        name: The slot.
        about: What it means.
        options: Values to choose from; empty where one types.
        form: What is typed, by example.
        value: What stands in it; empty for nothing said.
        usual: Whether the intent lists it; the others stand apart.
    """

    name: str
    about: str
    options: tuple[str, ...]
    form: str
    value: str
    usual: bool


def fields(domain: Domain, intent: str, said: Mapping[str, str]) -> list[Field]:
    """The slots of an intent, those that it lists first, with what was said so far.

    Args:
        domain: The domain.
        intent: One of its intents.
        said: Slot values by slot name.
    """
    uses = domain.intents[intent].slots
    others = [name for name, slot in domain.slots.items() if (slot.everywhere or slot.protects) and name not in uses]
    listed = [*uses, *others, *(name for name in said if name in domain.slots and name not in (*uses, *others))]
    made = []
    for name in listed:
        slot, use = domain.slots[name], uses.get(name) or IntentSlot()
        value = said.get(name, use.default or "")
        options = _options(slot, use, value) if slot.type == "closed" else ()
        form = _FORMS.get(slot.type, "as in a printed key")
        made.append(Field(name, slot.about, options, form, value, name in uses or bool(value)))
    return made


def _options(slot: Slot, use: IntentSlot, value: str) -> tuple[str, ...]:
    """Values that may stand in a key of the intent."""
    admitted = {*use.values, *use.only, *use.merge.values(), *([use.default] if use.default else []), value}
    return tuple(
        name
        for name in slot.values
        if use.merge.get(name, name) == name and (not (use.values or use.only) or name in admitted)
    )


def reading_as(trace: Trace, intent: str) -> dict[str, str]:
    """Slot values that the text says when it is read as an intent; empty when it cannot be."""
    return next((dict(reading.slots) for reading in trace.readings if reading.intent == intent), {})


def problems(domain: Domain, intent: str, slots: Mapping[str, str]) -> list[str]:
    """Why a label cannot be kept, each with its fix; empty when it can."""
    found = label_problems(intent, slots, domain)
    if found or intent not in domain.intents or domain.intents[intent].owner is Owner.NEVER:
        return found
    wrong = wrong_with(domain, Key.of(intent, slots))
    return [wrong] if wrong else []
