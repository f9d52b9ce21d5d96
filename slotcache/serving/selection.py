"""What an operator asks to take out of recall: the body of `POST /slotcache/invalidate`, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from slotcache.entry import Selector

LONGEST: Final = 1_000
"""Characters of one value."""

MOST_SLOTS: Final = 50

NAMES: Final = ("key", "intent", "tag", "epoch", "tenant", "customer")
"""Names that take a text."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which answers, and whether only to say so.

    Attributes:
        selector: Which answers.
        dry_run: Whether nothing is to be changed.
    """

    selector: Selector
    dry_run: bool

    @property
    def named(self) -> list[str]:
        """What the selector names, for logs; the values may be somebody's data."""
        return [field.name for field in fields(Selector) if getattr(self.selector, field.name)]


def read_selection(body: Mapping[str, Any]) -> Selection | str:
    """What a request selects, or what is wrong with it.

    A name that is not known is an error, since a selector without it would take more than was meant.

    >>> read_selection({"intent": "cancel_order", "slots": {"timing": "*"}}).selector.intent
    'cancel_order'
    >>> read_selection({"intnet": "cancel_order"})
    "'intnet' is not known; say some of key, intent, slots, tag, epoch, tenant, customer, dry_run"
    """
    known = ("key", "intent", "slots", "tag", "epoch", "tenant", "customer", "dry_run")
    unknown = sorted(set(body) - set(known))
    if unknown:
        return f"{unknown[0][:40]!r} is not known; say some of {', '.join(known)}"
    texts = {name: body.get(name) for name in NAMES}
    wrong = [name for name, value in texts.items() if name in body and not _is_text(value)]
    if wrong:
        return f"'{wrong[0]}' takes a text of 1 to {LONGEST} characters"
    slots = body.get("slots", {})
    if not isinstance(slots, dict) or len(slots) > MOST_SLOTS or not all(map(_is_text, [*slots, *slots.values()])):
        return "'slots' takes an object of slot names and values; '*' stands for any value"
    dry_run = body.get("dry_run", False)
    if not isinstance(dry_run, bool):
        return "'dry_run' is true or false"
    selector = Selector(**texts, slots=tuple(sorted(slots.items())))
    return "say what to invalidate; nothing is named" if selector.empty else Selection(selector, dry_run)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST
