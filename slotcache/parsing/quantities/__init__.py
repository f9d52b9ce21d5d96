"""A closed grammar of quantities in normalised words, with canonical typed values.

"14 days" and "two weeks" are one value, "14 business days" is another, and no two different quantities share one:

    duration   `P14D`, `P14B` (business days), `P6M`, `PT8H`; see `durations`
    money      currency and minor units, `USD5000`; see `money`
    currency   a currency named without an amount, `USD`
    date       `2026-12-25`, `--12-25`, `W5` (friday), `D+1` (tomorrow), `week-1` (last week); see `calendar`
    time       `17:00`, `h5:30` where am or pm is open; see `clock`
    percent    `20`
    measure    `size.10`, `2kg`; see `measures`
    count      `3`
    ordinal    `3`

Two quantities joined are one value: a range `P3D..P5D`, an open range `5..` ("5+"), alternatives `P30D|P60D`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.parsing.quantities import calendar, clock, counts, durations, measures, money
from slotcache.parsing.quantities.numbers import Found

DOLLAR: Final = "USD"
"""The currency of a bare dollar sign, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity over the tokens `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int
    type: str
    value: str


def find_quantities(words: Sequence[str], *, dollar: str = DOLLAR) -> list[Quantity]:
    """Find the quantities in normalised words (see `slotcache.parsing.normalise`).

    What lies within a longer quantity is not reported: in "3 to 5 days" there is neither a 3 nor a "5 days". Quantities
    over the same words may differ in type ("the 5th" is an ordinal and a date).

    Args:
        words: Normalised words of one utterance.
        dollar: Currency of a bare `$`, "dollars" and "cents", an ISO code.

    Returns:
        Quantities by position.
    """
    found: list[Quantity] = []
    reached = 0
    for at, text in enumerate(words):
        digit = text[0].isdigit()
        if not digit and text not in _ANY_START:
            continue
        here: list[Quantity] = []
        for kind, starts, read in _READERS:
            if (digit and kind != "currency") or text in starts:
                value = read(words, at, dollar)
                if value is not None:
                    here.append(Quantity(at, value[1], kind, value[0]))
        farthest = max((quantity.end for quantity in here), default=0)
        if farthest > reached:
            found += [quantity for quantity in here if quantity.end == farthest]
            reached = farthest
    return found


_Reader = Callable[[Sequence[str], int, str], Found]


def _without_dollar(read: Callable[[Sequence[str], int], Found]) -> _Reader:
    """A reader that does not care about dollars."""
    return lambda words, at, dollar: read(words, at)


_READERS: Final[tuple[tuple[str, frozenset[str], _Reader], ...]] = (
    ("duration", durations.STARTS, _without_dollar(durations.read_duration)),
    ("money", money.MONEY_STARTS, money.read_money),
    ("currency", money.CURRENCY_STARTS, money.read_currency),
    ("date", calendar.STARTS, _without_dollar(calendar.read_date)),
    ("time", clock.STARTS, _without_dollar(clock.read_time)),
    ("percent", measures.STARTS, _without_dollar(measures.read_percent)),
    ("measure", measures.STARTS, _without_dollar(measures.read_measure)),
    ("ordinal", counts.ORDINAL_STARTS, _without_dollar(counts.read_ordinal)),
    ("count", counts.COUNT_STARTS, _without_dollar(counts.read_count)),
)
_ANY_START: Final = frozenset().union(*(starts for _, starts, _ in _READERS))
