"""Labelled utterances as the learned reader is trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OUT_OF_SCOPE: Final = "out_of_scope"
"""Intent of text that no intent of the domain answers. `out_of_scope/<kind>` are classes of their own in training that
add up to it when read."""

ABSENT: Final = "-"
"""Value of a slot that an utterance does not speak of."""


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled utterance.

    Attributes:
        text: The utterance as typed.
        intent: Name of its intent.
        slots: Slot values by slot name; a slot not named here is absent.
        group: What it must not be separated from when data is split; empty when it stands alone.
    """

    text: str
    intent: str
    slots: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
