"""Whether a printed key is one that questions to a domain can get."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from slotcache.domain.schema import Domain, Intent, IntentSlot, Slot
from slotcache.key import Key
from slotcache.parsing.types import Owner


def wrong_with(domain: Domain, key: Key) -> str:
    """What is wrong with a key in a domain; empty when some question may get it.

    An answer under a key that no question gets would never be served, and nobody would notice.
    """
    if key.is_verbatim:
        return ""
    intent = domain.intents.get(key.intent)
    if intent is None:
        return f"the domain has no intent {key.intent!r}{_meant(key.intent, domain.intents)}"
    if intent.owner is Owner.NEVER:
        return f"{key.intent} asks for live state, which has no answer to keep"
    said = key.as_dict()
    for name, value in said.items():
        slot = domain.slots.get(name)
        if slot is None:
            return f"the domain has no slot {name!r}{_meant(name, domain.slots)}"
        problem = _value(key.intent, intent, name, value, slot, facet=name == domain.facet)
        if problem:
            return problem
    return next(filter(None, (_absent(key.intent, name, use, said) for name, use in intent.slots.items())), "")


def _value(intent_name: str, intent: Intent, name: str, value: str, slot: Slot, *, facet: bool) -> str:
    if slot.type != "closed":
        return ""
    if value not in slot.values:
        return f"slot {name!r} has no value {value!r}{_meant(value, slot.values)}"
    use = intent.slots.get(name) or IntentSlot()
    if use.merge.get(value, value) != value:
        return f"questions of {intent_name} that say {name}={value} get {name}={use.merge[value]}"
    kept = {*use.merge.values(), *([use.default] if use.default else [])}
    if use.only and value not in {*use.only, *kept}:
        return f"{intent_name} drops {name}={value}"
    if use.values and not facet and value not in {*use.values, *kept}:
        return f"{intent_name} does not take {name}={value}"
    return ""


def _absent(intent_name: str, name: str, use: IntentSlot | None, said: dict[str, str]) -> str:
    if use is None or name in said:
        return ""
    if use.default is not None:
        return f"questions of {intent_name} that leave {name!r} out get {name}={use.default}"
    return f"{intent_name} needs the slot {name!r}" if use.required else ""


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
