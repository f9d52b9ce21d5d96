"""Lengths of time.

    P14D    days; weeks and fortnights are days         P14B    business days
    P14C    days said to be calendar days               P100N   nights
    P6M     months; years are months                    PT8H    hours; PT90M minutes, PT90S seconds

Units that can differ stay apart: 24 hours are not a day (an answer may count days from midnight), a month is not thirty
days, and business days are not days.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slotcache.parsing.quantities.numbers import OR, Found, Numbers, fraction, join, numbers, pair, plain, word

_SPELLINGS: Final = {
    "S": (1, "seconds sec secs"),
    "T": (1, "minute minutes min mins"),
    "H": (60, "hour hours hr hrs h"),
    "D": (1, "day days d"),
    "W": (7, "week weeks wk wks"),
    "F": (14, "fortnight fortnights"),
    "M": (1, "month months mth mths mo mos"),
    "Y": (12, "year years yr yrs"),
    "N": (1, "night nights"),
}
_FAMILIES: Final = {"S": "S", "T": "T", "H": "T", "D": "D", "W": "D", "F": "D", "M": "M", "Y": "M", "N": "N"}
"""Unit -> family whose lengths add up: seconds, minutes, days, months, nights."""

_UNITS: Final = {
    spelling: (_FAMILIES[unit], factor) for unit, (factor, text) in _SPELLINGS.items() for spelling in text.split()
}
_MARKED_DAYS: Final = {"business": "B", "working": "B", "work": "B", "bank": "B", "calendar": "C", "consecutive": "C"}
_RATED: Final = "once twice times time much many often every dollars pounds euros rupees bucks quid $ £ € ₹"
_RATES: Final = frozenset(_RATED.split())
"""Words before "a day" that make it a rate."""

_LAPSED: Final = frozenset({"ago", "late", "later", "after", "before", "back", "early", "earlier", "old"})


STARTS: Final = frozenset({"a", "an", "one", "half", "quarter", "couple", "dozen", "from", "between"})
"""Words that a length of time can start with, besides digits."""


def read_duration(words: Sequence[str], at: int) -> Found:
    """Read a length of time, or two of them joined."""
    return pair(words, at, lambda position: _length(words, position))


def _length(words: Sequence[str], at: int) -> Found:
    single = _one(words, at)
    if single is not None:
        return single
    amount = numbers(words, at)
    if amount is None:
        return None
    unit = _unit(words, amount.end)
    # "30 second order" is an order; "a second" is any moment.
    if unit is None and amount.values[0] != 1 and word(words, amount.end) == "second":
        unit = ("S", 1, amount.end + 1)
    if unit is None:
        return None
    family, factor, end = unit
    if len(amount.values) == 1 and not amount.joint:
        total, end = _added(words, amount.values[0] * factor, family, end)
        amount = Numbers((total / factor,), "", end)
    value = amount.printed(lambda size: _printed(size * factor, family))
    return (value, end) if value else None


def _one(words: Sequence[str], at: int) -> Found:
    """Lengths said without a number: "half an hour", "a week", "a day or 2", "an hour and a half"."""
    first, following = word(words, at), word(words, at + 1)
    share = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}.get(first) or fraction(first)
    if share is not None:
        if list(words[at + 1 : at + 3]) in (["of", "an"], ["of", "a"]):
            unit = _unit(words, at + 3)
        else:
            unit = _unit(words, at + 1 + (following in ("a", "an")))
        if unit is None or (first == "quarter" and unit[:2] != ("T", 60)):
            return None
        value = _printed(share * unit[1], unit[0])
        return (value, unit[2]) if value else None
    if first not in ("a", "an") or (first == "a" and following in ("d", "h", "min", "mo")):
        return None
    unit = _unit(words, at + 1)
    if unit is None or _is_rate(words, at, unit[2]):
        return None
    family, factor, end = unit
    if word(words, end) == "or" and (more := numbers(words, end + 1)) and len(more.values) == 1 and not more.joint:
        texts = [_printed(Decimal(factor), family), _printed(more.values[0] * factor, family)]
        if None not in texts and _unit(words, more.end) is None:
            return join([text for text in texts if text], OR), more.end
    total, end = _added(words, Decimal(factor), family, end)
    value = _printed(total, family)
    return (value, end) if value else None


def _is_rate(words: Sequence[str], at: int, end: int) -> bool:
    """Whether "a week" says how often: "twice a week", "£ 5 a week", "7 days a week"."""
    before = word(words, at - 1)
    per_thing = word(words, at - 2)[:1].isdigit() and word(words, end) not in _LAPSED
    return before in _RATES or before[:1].isdigit() or per_thing


def _unit(words: Sequence[str], at: int) -> tuple[str, int, int] | None:
    """Family, size within it, and the position after the unit at a position."""
    mark = _MARKED_DAYS.get(word(words, at))
    if mark is not None:
        family, factor = _UNITS.get(word(words, at + 1), ("", 0))
        return (mark, 1, at + 2) if family == "D" and factor == 1 else None
    known = _UNITS.get(word(words, at))
    return None if known is None else (*known, at + 1)


def _added(words: Sequence[str], total: Decimal, family: str, end: int) -> tuple[Decimal, int]:
    """Adds what follows in the same family: "1 hour 30 minutes", "a week and 2 days", "an hour and a half"."""
    unit = _UNITS.get(word(words, end - 1))
    if unit and list(words[end : end + 3]) == ["and", "a", "half"] and not _unit(words, end + 3):
        return total + Decimal(unit[1]) / 2, end + 3
    start = end + (word(words, end) == "and")
    more = numbers(words, start)
    if more is None or len(more.values) > 1 or more.joint:
        return total, end
    smaller = _unit(words, more.end)
    if smaller is None or unit is None or smaller[0] != family or smaller[1] >= unit[1]:
        return total, end
    return total + more.values[0] * smaller[1], smaller[2]


def _printed(size: Decimal, family: str) -> str | None:
    """One spelling a length. Sizes are in the smallest unit of their family."""
    if size <= 0:
        return None
    if family == "S":
        return _printed(size / 60, "T") if size % 60 == 0 else f"PT{plain(size)}S"
    if family == "T":
        return f"PT{plain(size / 60)}H" if size % 60 == 0 else f"PT{plain(size)}M"
    return f"P{plain(size)}{family}"
