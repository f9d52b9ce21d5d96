"""A closed grammar of quantities: durations, money, dates, counts, percentages, ordinals, clock times, sizes.

Values are canonical and typed, so that "14 days" and "two weeks" are one value and "14 business days" is another:

    duration   ISO-8601 (`P14D`, `PT8H`); months and years keep their own unit; business days are `P14B`
    money      currency and minor units (`USD5000`); an unnamed currency keeps its sign's default only if unambiguous
    date       ISO-8601 (`2026-12-25`, `--12-25`), weekdays `W6`, or relative (`D+1` is tomorrow)
    percent    `20%` as `20`
    count      plain number
    ordinal    plain number
    time       `17:00`
    measure    number and unit (`size9`, `10kg`)

A range is kept as a range (`P3D..P5D`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity over the tokens `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int
    type: str
    value: str


_UNITS: Final = {
    **dict.fromkeys(("second", "seconds", "sec", "secs"), ("PT", "S", 1)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("PT", "M", 1)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), ("PT", "H", 1)),
    **dict.fromkeys(("day", "days", "d"), ("P", "D", 1)),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), ("P", "D", 7)),
    **dict.fromkeys(("fortnight", "fortnights"), ("P", "D", 14)),
    **dict.fromkeys(("month", "months", "mth", "mths"), ("P", "M", 1)),
    **dict.fromkeys(("year", "years", "yr", "yrs"), ("P", "Y", 1)),
}
_CURRENCY_SIGNS: Final = {"$": "USD", "£": "GBP", "€": "EUR", "¥": "JPY", "₹": "INR"}
_CURRENCY_WORDS: Final = {
    **dict.fromkeys(("dollar", "dollars", "usd", "bucks", "buck"), "USD"),
    **dict.fromkeys(("pound", "pounds", "gbp", "quid"), "GBP"),
    **dict.fromkeys(("euro", "euros", "eur"), "EUR"),
    **dict.fromkeys(("rupee", "rupees", "inr", "rs"), "INR"),
    **dict.fromkeys(("yen", "jpy"), "JPY"),
}
_ZERO_DECIMAL: Final = frozenset({"JPY"})
_WEEKDAYS: Final = {
    name: str(number)
    for number, names in enumerate(
        ("monday mon mondays", "tuesday tue tues tuesdays", "wednesday wed weds wednesdays", "thursday thu thur thurs thursdays",
         "friday fri fridays", "saturday sat saturdays", "sunday sundays"),
        start=1,
    )
    for name in names.split()
}
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"),
        start=1,
    )
    for name in names.split()
}
_RELATIVE: Final = {"today": "D+0", "tonight": "D+0", "tomorrow": "D+1", "tmrw": "D+1", "tmr": "D+1", "yesterday": "D-1"}
_ORDINALS: Final = {
    word: str(number)
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}
_ORDINAL_DIGITS = re.compile(r"(\d+)(?:st|nd|rd|th)\Z")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})\Z")


def find_quantities(words: Sequence[str]) -> list[Quantity]:
    """Find quantities in normalised words (number words are digits by then). They may overlap; longer ones explain more."""
    words = list(words)
    found: list[Quantity] = []
    for at in range(len(words)):
        for reader in (_duration, _money, _date, _percent, _time, _measure, _ordinal, _count):
            quantity = reader(words, at)
            if quantity is not None:
                found.append(quantity)
    return found


def _number(words: Sequence[str], at: int) -> tuple[Decimal, int] | None:
    """A number at a position and the position after it: digits, 'a', 'half a', 'a couple of', 'a dozen', '2 and a half'."""
    if at >= len(words):
        return None
    word = words[at]
    after = words[at + 1 : at + 4]
    if word in ("half",) and after[:1] in (["a"], ["an"]):
        return Decimal("0.5"), at + 2
    if word in ("a", "an", "one"):
        if after[:2] == ["couple", "of"]:
            return Decimal(2), at + 3
        if after[:1] == ["couple"]:
            return Decimal(2), at + 2
        if after[:1] == ["dozen"]:
            return Decimal(12), at + 2
        if after[:1] == ["hundred"]:
            return Decimal(100), at + 2
        return Decimal(1), at + 1
    if word in ("couple", "dozen"):
        return Decimal(2 if word == "couple" else 12), at + (2 if after[:1] == ["of"] else 1)
    if not word[:1].isdigit():
        return None
    try:
        value = Decimal(word.replace(",", ""))
    except InvalidOperation:
        return None
    position = at + 1
    if value % 10 == 0 and 20 <= value <= 90 and len(word) == 2 and after[:1] and re.fullmatch(r"[1-9]", after[0]):
        value += Decimal(after[0])
        position += 1
    if words[position : position + 1] == ["hundred"]:
        value *= 100
        position += 1
    elif words[position : position + 1] in (["thousand"], ["k"]):
        value *= 1000
        position += 1
    if list(words[position : position + 3]) == ["and", "a", "half"]:
        value += Decimal("0.5")
        position += 3
    return value, position


def _plain(value: Decimal) -> str:
    text = format(value.normalize(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _duration(words: Sequence[str], at: int) -> Quantity | None:
    number = _number(words, at)
    if number is None:
        return None
    value, position = number
    upper = None
    if words[position : position + 1] in (["to"], ["or"]) and (second := _number(words, position + 1)):
        upper, position = second
    elif position < len(words) and words[position][:1].isdigit() and (second := _number(words, position)):
        upper, position = second
    business = words[position : position + 1] in (["business"], ["working"], ["work"])
    position += business
    if position >= len(words) or words[position] not in _UNITS:
        return None
    prefix, unit, factor = _UNITS[words[position]]
    if business and unit != "D":
        return None
    values = [_iso(v * factor, prefix, "B" if business else unit) for v in ((value, upper) if upper is not None else (value,))]
    if None in values:
        return None
    return Quantity(at, position + 1, "duration", "..".join(v for v in values if v))


def _iso(value: Decimal, prefix: str, unit: str) -> str | None:
    """One canonical spelling per length: minutes of whole hours are hours, hours of whole days stay hours."""
    if prefix == "PT":
        minutes = value * {"S": Decimal(1) / 60, "M": Decimal(1), "H": Decimal(60)}[unit]
        if minutes % 60 == 0:
            hours = minutes / 60
            return f"P{_plain(hours / 24)}D" if hours % 24 == 0 and hours else f"PT{_plain(hours)}H"
        return f"PT{_plain(minutes)}M" if minutes % 1 == 0 else f"PT{_plain(value)}{unit}"
    if unit == "Y" and (value * 12) % 1 == 0:
        return f"P{_plain(value * 12)}M"
    return f"P{_plain(value)}{unit}"


def _money(words: Sequence[str], at: int) -> Quantity | None:
    if words[at] in _CURRENCY_SIGNS:
        number = _number(words, at + 1)
        if number is None or not words[at + 1][:1].isdigit():
            return None
        return Quantity(at, number[1], "money", _minor(number[0], _CURRENCY_SIGNS[words[at]]))
    number = _number(words, at)
    if number is None or words[at] in ("a", "an"):
        return None
    value, position = number
    unit = words[position] if position < len(words) else ""
    currency = _CURRENCY_WORDS.get(unit) or _CURRENCY_SIGNS.get(unit)
    return Quantity(at, position + 1, "money", _minor(value, currency)) if currency else None


def _minor(value: Decimal, currency: str) -> str:
    return f"{currency}{_plain(value * (1 if currency in _ZERO_DECIMAL else 100))}"


def _date(words: Sequence[str], at: int) -> Quantity | None:
    word = words[at]
    if word in _RELATIVE:
        return Quantity(at, at + 1, "date", _RELATIVE[word])
    if word == "day" and list(words[at : at + 3]) == ["day", "after", "tomorrow"]:
        return Quantity(at, at + 3, "date", "D+2")
    if word in _WEEKDAYS:
        return Quantity(at, at + 1, "date", f"W{_WEEKDAYS[word]}")
    if word in ("next", "this", "last", "coming") and words[at + 1 : at + 2] and words[at + 1] in _WEEKDAYS:
        sign = {"next": "+1", "coming": "+0", "this": "+0", "last": "-1"}[word]
        return Quantity(at, at + 2, "date", f"W{_WEEKDAYS[words[at + 1]]}{sign}")
    return _calendar(words, at)


def _calendar(words: Sequence[str], at: int) -> Quantity | None:
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in _MONTHS and (day := _day(following)):
        return Quantity(at, at + 2, "date", f"--{_MONTHS[word]:02d}-{day:02d}")
    if day := _day(word):
        position = at + 2 if following == "of" else at + 1
        if position < len(words) and words[position] in _MONTHS:
            return Quantity(at, position + 1, "date", f"--{_MONTHS[words[position]]:02d}-{day:02d}")
    if word in _MONTHS and word not in ("may", "march", "mar"):
        return Quantity(at, at + 1, "date", f"--{_MONTHS[word]:02d}")
    if word in ("march", "may") and at and words[at - 1] in ("in", "from", "since", "of", "last", "next", "until", "by"):
        return Quantity(at, at + 1, "date", f"--{_MONTHS[word]:02d}")
    return None


def _day(word: str) -> int | None:
    match = _ORDINAL_DIGITS.match(word)
    text = match.group(1) if match else word
    return int(text) if text.isdigit() and len(text) <= 2 and 1 <= int(text) <= 31 else None


def _percent(words: Sequence[str], at: int) -> Quantity | None:
    number = _number(words, at) if words[at][:1].isdigit() else None
    if number is None:
        return None
    value, position = number
    if words[position : position + 1] in (["%"], ["percent"], ["pct"]):
        return Quantity(at, position + 1, "percent", _plain(value))
    if list(words[position : position + 2]) == ["per", "cent"]:
        return Quantity(at, position + 2, "percent", _plain(value))
    return None


def _time(words: Sequence[str], at: int) -> Quantity | None:
    word = words[at]
    if word in ("noon", "midday"):
        return Quantity(at, at + 1, "time", "12:00")
    if word == "midnight":
        return Quantity(at, at + 1, "time", "00:00")
    clock = _CLOCK.match(word)
    hour, minute = (int(clock.group(1)), int(clock.group(2))) if clock else (int(word) if word.isdigit() else -1, 0)
    if not 0 <= hour <= 23 or minute > 59:
        return None
    suffix = words[at + 1] if at + 1 < len(words) else ""
    if suffix in ("am", "pm") and 1 <= hour <= 12:
        hour = hour % 12 + (12 if suffix == "pm" else 0)
        return Quantity(at, at + 2, "time", f"{hour:02d}:{minute:02d}")
    if clock:
        return Quantity(at, at + 1, "time", f"{hour:02d}:{minute:02d}")
    return None


_MEASURES: Final = {
    **dict.fromkeys(("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("lb", "lbs"), "lb"),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), "cm"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("ml",), "ml"),
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("km",), "km"),
}


def _measure(words: Sequence[str], at: int) -> Quantity | None:
    if words[at] == "size" and words[at + 1 : at + 2] and re.fullmatch(r"\d+(\.\d+)?|xx?s|s|m|l|x{1,3}l|small|medium|large", words[at + 1]):
        return Quantity(at, at + 2, "measure", f"size.{words[at + 1]}")
    number = _number(words, at) if words[at][:1].isdigit() else None
    if number is None:
        return None
    value, position = number
    unit = _MEASURES.get(words[position]) if position < len(words) else None
    return Quantity(at, position + 1, "measure", f"{_plain(value)}{unit}") if unit else None


def _ordinal(words: Sequence[str], at: int) -> Quantity | None:
    word = words[at]
    match = _ORDINAL_DIGITS.match(word)
    value = _ORDINALS.get(word) or (match.group(1) if match else None)
    return Quantity(at, at + 1, "ordinal", value) if value else None


def _count(words: Sequence[str], at: int) -> Quantity | None:
    if words[at] in ("a", "an"):
        return None
    number = _number(words, at)
    if number is None:
        return None
    return Quantity(at, number[1], "count", _plain(number[0]))
