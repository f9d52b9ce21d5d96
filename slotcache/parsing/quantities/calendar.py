"""Dates. What depends on today's date stays symbolic, because the clock is no part of a key.

    2026-12-25   a day        2026-12   a month       2026   a year
    --12-25      a day of any year    --12   a month of any year     ---15   the 15th
    W5           friday; W5+1 next friday, W5-1 last friday, W5+0 this friday
    D+1          tomorrow; D+1-morning tomorrow morning
    week-1       last week; month+0, year+1
    M12-1        last december

All-numeric dates are read only when the day and the month cannot be exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from slotcache.parsing.quantities.counts import ORDINALS
from slotcache.parsing.quantities.numbers import Found, pair, word

_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays mon",
            "tuesday tuesdays tue tues",
            "wednesday wednesdays wed weds",
            "thursday thursdays thu thur thurs",
            "friday fridays fri",
            "saturday saturdays sat",
            "sunday sundays sun",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_DOUBTFUL_WEEKDAYS: Final = frozenset({"mon", "wed", "sat", "sun"})
_DOUBTFUL_MONTHS: Final = frozenset({"may", "march", "mar", "jan", "jun", "sep", "dec", "august"})
_NAMED_DAYS: Final = "black good cyber easter pancake shrove ash giving palm super small prime"
_HOLIDAYS: Final = frozenset(_NAMED_DAYS.split())
"""Words that make a weekday the name of another day: Black Friday, Cyber Monday."""

_PREPOSITIONS: Final = """
in on by since until till before after during from between early mid late this next last every each to through and or of
past coming
"""
_BEFORE_DATE: Final = frozenset(_PREPOSITIONS.split())
_SUBJECTS: Final = (
    "i we you he she it they one be have not need get take also still only just never someone anyone customers"
)
_AFTER_MODAL: Final = frozenset(_SUBJECTS.split())
"""Words behind "may" that make it a verb."""

_DAY_PARTS: Final = frozenset({"morning", "afternoon", "evening", "night"})
_DAYS: Final = {"today": "D+0", "tomorrow": "D+1", "tmrw": "D+1", "tmr": "D+1", "yesterday": "D-1"}
_SHIFTS: Final = {
    **dict.fromkeys(("next",), "+1"),
    **dict.fromkeys(("this", "current", "coming", "upcoming"), "+0"),
    **dict.fromkeys(("last", "past", "previous"), "-1"),
}
_PERIODS: Final = frozenset({"week", "weekend", "month", "quarter", "year"})
_SPELT_DAYS: Final = {name: int(number) for name, number in ORDINALS.items()}
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)\Z")
_YEAR: Final = re.compile(r"(?:19|20)\d\d\Z")
_ISO: Final = re.compile(r"((?:19|20)\d\d)-(\d{1,2})-(\d{1,2})\Z")
_NUMERIC: Final = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-]((?:19|20)\d\d)\Z")
STARTS: Final = frozenset(
    {*_WEEKDAYS, *_MONTHS, *_DAYS, *_SHIFTS, *_SPELT_DAYS, "tonight", "the", "day", "week", "from", "between"}
)
"""Words that a date can start with, besides digits."""

_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_RELATIVE_VALUE: Final = re.compile(r"(?:[a-z]+|D|[WM]\d+)[+-]\d")


def read_date(words: Sequence[str], at: int) -> Found:
    """Read a date, or two of them joined ("monday to friday")."""
    return pair(words, at, lambda position: _date(words, position))


def _date(words: Sequence[str], at: int) -> Found:
    return (
        _relative(words, at) or _numeric(words, at) or _weekday(words, at) or _calendar(words, at) or _year(words, at)
    )


def _relative(words: Sequence[str], at: int) -> Found:
    first, following = word(words, at), word(words, at + 1)
    if first in _DAYS:
        return _with_part(words, _DAYS[first], at + 1)
    if first == "tonight":
        return "D+0-night", at + 1
    if first == "last" and following == "night":
        return "D-1-night", at + 2
    if first == "this" and following in _DAY_PARTS:
        return f"D+0-{following}", at + 2
    start = at + (first == "the")
    if list(words[start : start + 3]) == ["day", "after", "tomorrow"]:
        return "D+2", start + 3
    if list(words[start : start + 3]) == ["day", "before", "yesterday"]:
        return "D-2", start + 3
    # "the last week" is the last seven days to many, "last week" is not.
    if first in _SHIFTS and following in _PERIODS and word(words, at - 1) != "the":
        return f"{following}{_SHIFTS[first]}", at + 2
    if list(words[start : start + 3]) == ["week", "after", "next"]:
        return "week+2", start + 3
    return None


def _with_part(words: Sequence[str], value: str, end: int) -> Found:
    part = word(words, end)
    return (f"{value}-{part}", end + 1) if part in _DAY_PARTS else (value, end)


def _weekday(words: Sequence[str], at: int) -> Found:
    start, shift = at, ""
    while word(words, start) in _SHIFTS and start < at + 2:
        # "this coming friday" is one shift.
        if shift and word(words, start) not in ("coming", "upcoming", "past"):
            return None
        shift = _SHIFTS[word(words, start)] if word(words, start) != "past" or not shift else "-1"
        start += 1
    name = word(words, start)
    number = _WEEKDAYS.get(name)
    if number is None or word(words, start - 1) in _HOLIDAYS:
        return None
    if name in _DOUBTFUL_WEEKDAYS and not (shift or _dated(words, start)):
        return None
    value, end = f"W{number}{shift}", start + 1
    at_day = end + (word(words, end) == "the")
    if not shift and (day := _calendar(words, at_day)) is not None and day[1] > at_day + 1:
        return f"{value}.{day[0]}", day[1]
    if not shift and (ordinal := _ORDINAL.match(word(words, at_day))):
        return f"{value}.---{int(ordinal[1]):02d}", at_day + 1
    return _with_part(words, value, end)


def _dated(words: Sequence[str], at: int) -> bool:
    """Whether the words around a short weekday or month show that it is one ("on sat", "sat and sun")."""
    before, after = word(words, at - 1), word(words, at + 1)
    if before in _BEFORE_DATE or after in _WEEKDAYS or after in _DAY_PARTS or _day(after):
        return True
    return after in ("to", "and", "or", "through") and word(words, at + 2) in _WEEKDAYS


def _calendar(words: Sequence[str], at: int) -> Found:
    first, following = word(words, at), word(words, at + 1)
    if first in _SHIFTS and following in _MONTHS and word(words, at - 1) != "the":
        return f"M{_MONTHS[following]:02d}{_SHIFTS[first]}", at + 2
    if first in _MONTHS:
        return _month_first(words, at)
    day = _day(first) or _SPELT_DAYS.get(first)
    if day is None:
        return None
    month = at + 1 + (following == "of")
    name = word(words, month)
    if name in _MONTHS and day <= _LONGEST_MONTHS[_MONTHS[name] - 1]:
        if name == "may" and not _ordinal(words, at) and not _free_may(words, at, month):
            return None
        if first in _SPELT_DAYS and month == at + 1 and name in _DOUBTFUL_MONTHS:
            return None
        return _with_year(words, f"-{_MONTHS[name]:02d}-{day:02d}", month + 1)
    if _ordinal(words, at) and _ORDINAL.match(first) and word(words, at - 1) == "the" and _prepared(words, at - 2):
        return f"---{day:02d}", at + 1
    return None


def _month_first(words: Sequence[str], at: int) -> Found:
    name, following = word(words, at), word(words, at + 1)
    start = at + 1 + (following == "the")
    day = _day(word(words, start))
    number = _MONTHS[name]
    if day is not None and day <= _LONGEST_MONTHS[number - 1]:
        if name != "may" or _ordinal(words, start) or _free_may(words, at, start):
            return _with_year(words, f"-{number:02d}-{day:02d}", start + 1)
        return None
    if _YEAR.match(following):
        return f"{following}-{number:02d}", at + 2
    if name in _DOUBTFUL_MONTHS:
        before = word(words, at - 1)
        known = before in _BEFORE_DATE - {"and", "or", "to", "it"} and following not in _AFTER_MODAL
        if not known:
            return None
    return f"--{number:02d}", at + 1


def _free_may(words: Sequence[str], start: int, end: int) -> bool:
    """Whether "5 may" or "may 5" is a date and no permission ("may 5 items be returned")."""
    after = word(words, end + 1)
    return _prepared(words, start - 1) and (after in ("", "and", "or", "to") or bool(_YEAR.match(after)))


def _prepared(words: Sequence[str], at: int) -> bool:
    return word(words, at) in ("on", "by", "before", "after", "since", "until", "till", "from", "for", "between")


def _with_year(words: Sequence[str], value: str, end: int) -> Found:
    year = word(words, end)
    return (f"{year}{value}", end + 1) if _YEAR.match(year) else (f"-{value}", end)


def _year(words: Sequence[str], at: int) -> Found:
    if _YEAR.match(word(words, at)) and word(words, at - 1) in ("in", "since", "from", "year", "until", "till"):
        return word(words, at), at + 1
    return None


def _ordinal(words: Sequence[str], at: int) -> bool:
    return bool(_ORDINAL.match(word(words, at))) or word(words, at) in _SPELT_DAYS


def _day(text: str) -> int | None:
    match = _ORDINAL.match(text)
    number = match[1] if match else text
    return int(number) if number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 31 else None


def _numeric(words: Sequence[str], at: int) -> Found:
    """A date in one token: "2026-12-25", or "25/12/2026" when 25 can be no month."""
    text = word(words, at)
    if iso := _ISO.match(text):
        return _checked(iso[1], int(iso[2]), int(iso[3]), at)
    match = _NUMERIC.match(text)
    if match is None:
        return None
    first, second = int(match[1]), int(match[2])
    if first > 12 or first == second:
        return _checked(match[3], second, first, at)
    return _checked(match[3], first, second, at) if second > 12 else None


def _checked(year: str, month: int, day: int, at: int) -> Found:
    if not 1 <= month <= 12 or not 1 <= day <= _LONGEST_MONTHS[month - 1]:
        return None
    return f"{year}-{month:02d}-{day:02d}", at + 1


def is_relative(value: str) -> bool:
    """Whether a date means another day tomorrow: `D+1`, `week-1`, `W5+1`; a bare weekday does not."""
    return _RELATIVE_VALUE.match(value) is not None
