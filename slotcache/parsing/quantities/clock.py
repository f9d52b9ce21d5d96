"""Times of day: `17:00`, or `h5:30` where nobody said which half of the day it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from slotcache.parsing.quantities.numbers import RANGE, Found, pair, word

_CLOCK: Final = re.compile(r"(\d{1,2})[:.](\d{2})\Z")
_NAMED: Final = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_PAST: Final = {"half": 30, "quarter": 15}

STARTS: Final = frozenset({*_NAMED, *_PAST, "from", "between"})
"""Words that a time of day can start with, besides digits."""


def read_time(words: Sequence[str], at: int) -> Found:
    """Read a time of day, or two of them joined ("9 am to 5 pm")."""
    return _shared_half(words, at) or pair(words, at, lambda position: _time(words, position))


def _time(words: Sequence[str], at: int) -> Found:
    first, following = word(words, at), word(words, at + 1)
    if first in _NAMED:
        return _NAMED[first], at + 1
    if first in _PAST and following in ("past", "to"):
        return _around(words, at)
    if first.isdecimal() and len(first) <= 2 and following.isdecimal() and word(words, at + 2) in ("am", "pm"):
        return _halved(int(first), int(following), word(words, at + 2), at + 3) if len(following) == 2 else None
    match = _CLOCK.match(first)
    if match is None and not (first.isdecimal() and len(first) <= 2):
        return None
    hour, minute = (int(match[1]), int(match[2])) if match else (int(first), 0)
    # "Am" is also a verb: "... 5 am i".
    if following in ("am", "pm") and not (following == "am" and word(words, at + 2) == "i"):
        return _halved(hour, minute, following, at + 2)
    if following == "oclock":
        half = word(words, at + 2)
        return _halved(hour, minute, half, at + 3) if half in ("am", "pm") else _open(hour, minute, first, at + 2)
    return _open(hour, minute, first, at + 1) if match and ":" in first else None


def _shared_half(words: Sequence[str], at: int) -> Found:
    """Two hours with one am or pm behind them: "2 to 4 pm", "between 9 and 11 am"."""
    opener = word(words, at)
    start = at + (opener in ("between", "from"))
    first, link, second, half = (word(words, start + step) for step in range(4))
    if half not in ("am", "pm") or link != ("and" if opener == "between" else "to"):
        return None
    if not (first.isdecimal() and second.isdecimal() and 1 <= int(first) < int(second) < 12):
        return None
    ends = [_halved(int(hour), 0, half, 0) for hour in (first, second)]
    return RANGE.join(end[0] for end in ends if end), start + 4


def _around(words: Sequence[str], at: int) -> Found:
    """ "half past 5", "quarter to 6 pm"."""
    hour = word(words, at + 2)
    if not (hour.isdecimal() and 1 <= int(hour) <= 12):
        return None
    minute = _PAST[word(words, at)]
    if word(words, at + 1) == "to":
        if minute == 30:
            return None
        number, minute = (int(hour) - 1 or 12), 60 - minute
    else:
        number = int(hour)
    half = word(words, at + 3)
    return _halved(number, minute, half, at + 4) if half in ("am", "pm") else _open(number, minute, hour, at + 3)


def _halved(hour: int, minute: int, half: str, end: int) -> Found:
    if not 1 <= hour <= 12 or minute > 59:
        return None
    return f"{hour % 12 + (12 if half == 'pm' else 0):02d}:{minute:02d}", end


def _open(hour: int, minute: int, typed: str, end: int) -> Found:
    """A time without am or pm. Only 13 to 23, 0 and a leading zero tell the half of the day."""
    if hour > 23 or minute > 59:
        return None
    clear = hour > 12 or hour == 0 or typed.startswith("0")
    return (f"{hour:02d}:{minute:02d}" if clear else f"h{hour}:{minute:02d}"), end
