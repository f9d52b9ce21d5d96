"""Says quantities the ways people say them, to test that all of them read back as one value."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from hypothesis import strategies as st

from slotcache.parsing.cardinals import TENS, UNDER_TWENTY

_ONES = {number: word for word, number in UNDER_TWENTY.items()}
_DECADES = {number: word for word, number in TENS.items() if word != "fourty"}


@dataclass(frozen=True)
class Said:
    """One way to say a quantity.

    Attributes:
        type: Its type.
        value: The canonical value.
        text: The words.
        identity: What is meant, independent of the grammar's own printing.
    """

    type: str
    value: str
    text: str
    identity: tuple[object, ...]


def in_words(number: int) -> str:
    """A number below a million in words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _DECADES[number // 10 * 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")
    size, name = (1_000, "thousand") if number >= 1_000 else (100, "hundred")
    rest = number % size
    link = " and " if rest < 100 else " "
    return f"{in_words(number // size)} {name}" + (link + in_words(rest) if rest else "")


@st.composite
def numbers(draw: st.DrawFn, *, lowest: int = 2, highest: int = 5_000) -> tuple[int, str]:
    """A number and one way to write it."""
    number = draw(st.integers(lowest, highest))
    return number, draw(st.sampled_from([str(number), f"{number:,}", in_words(number), in_words(number).upper()]))


UNITS = {
    "minute": ("T", 1, ("minutes", "minute", "mins", "min")),
    "hour": ("T", 60, ("hours", "hour", "hrs", "hr")),
    "day": ("D", 1, ("days", "day")),
    "week": ("D", 7, ("weeks", "week", "wks")),
    "fortnight": ("D", 14, ("fortnights", "fortnight")),
    "month": ("M", 1, ("months", "month", "mths")),
    "year": ("M", 12, ("years", "year", "yrs")),
    "business day": ("B", 1, ("business days", "working days", "business day", "work days")),
    "calendar day": ("C", 1, ("calendar days",)),
    "night": ("N", 1, ("nights", "night")),
}


def printed(size: Decimal | int, family: str) -> str:
    """The canonical duration of a size in the smallest unit of a family."""
    text = f"{Decimal(size):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if family == "T":
        hours = Decimal(size) / 60
        return f"PT{int(hours)}H" if hours % 1 == 0 else f"PT{text}M"
    return f"P{text}{family}"


@st.composite
def durations(draw: st.DrawFn) -> Said:
    """A length of time, or a range of two."""
    family, factor, names = UNITS[draw(st.sampled_from(sorted(UNITS)))]
    name = draw(st.sampled_from(names))
    low, low_text = draw(numbers(highest=400))
    shape = draw(st.sampled_from(["one", "range", "or", "half", "open"]))
    if shape == "half" and factor != 14:
        half = Decimal(low) + Decimal("0.5")
        text = draw(
            st.sampled_from([f"{low_text} and a half {name}", f"{low}.5 {name}", f"{low}½ {name}", f"{low} 1/2 {name}"])
        )
        return Said("duration", printed(half * factor, family), text, (family, half * factor))
    if shape in ("range", "or"):
        high = draw(st.integers(low + 1, 900))
        if shape == "or":
            value = f"{printed(low * factor, family)}|{printed(high * factor, family)}"
            return Said("duration", value, f"{low_text} or {high} {name}", (family, low * factor, "or", high * factor))
        text = draw(
            st.sampled_from(
                [
                    f"{low_text} to {high} {name}",
                    f"{low}-{high} {name}",
                    f"{low} - {high} {name}",
                    f"{low}–{high} {name}",
                    f"between {low_text} and {in_words(high)} {name}",
                    f"from {low} to {high} {name}",
                    f"{low} {name} to {high} {name}",
                ]
            )
        )
        value = f"{printed(low * factor, family)}..{printed(high * factor, family)}"
        return Said("duration", value, text, (family, low * factor, "to", high * factor))
    if shape == "open":
        return Said("duration", printed(low * factor, family) + "..", f"{low}+ {name}", (family, low * factor, "up"))
    text = draw(st.sampled_from([f"{low_text} {name}", f"{low}{name}".replace(" ", " "), f"{low}-{name}"]))
    return Said("duration", printed(low * factor, family), text, (family, low * factor))


CURRENCIES = {
    "USD": (("$", "US$", "us$"), ("dollars", "bucks", "USD", "us dollars", "US dollars", "American dollars")),
    "GBP": (("£",), ("pounds", "quid", "GBP", "british pounds", "pounds sterling")),
    "EUR": (("€",), ("euros", "EUR", "euro")),
    "INR": (("₹", "Rs ", "Rs."), ("rupees", "INR", "indian rupees")),
    "CAD": (("C$", "CA$"), ("canadian dollars", "CAD")),
    "AUD": (("A$", "AU$"), ("australian dollars", "AUD")),
}


@st.composite
def money(draw: st.DrawFn) -> Said:
    """An amount of money, or a range of two."""
    currency = draw(st.sampled_from(sorted(CURRENCIES)))
    signs, names = CURRENCIES[currency]
    sign, name = draw(st.sampled_from(signs)), draw(st.sampled_from(names))
    whole, text = draw(numbers())
    cents = draw(st.integers(1, 99))
    shape = draw(st.sampled_from(["whole", "cents", "range"]))
    if shape == "cents":
        ways = [f"{sign}{whole}.{cents:02d}", f"{whole}.{cents:02d} {name}", f"{sign}{whole:,}.{cents:02d}"]
        return Said(
            "money", f"{currency}{whole * 100 + cents}", draw(st.sampled_from(ways)), (currency, whole * 100 + cents)
        )
    if shape == "range":
        high = draw(st.integers(whole + 1, 9_999))
        ways = [
            f"{sign}{whole} to {sign}{high}",
            f"{text} to {high} {name}",
            f"between {sign}{whole} and {sign}{high}",
            f"from {sign}{whole} to {sign}{high}",
        ]
        value = f"{currency}{whole * 100}..{currency}{high * 100}"
        return Said("money", value, draw(st.sampled_from(ways)), (currency, whole * 100, high * 100))
    ways = [f"{sign}{whole}", f"{sign}{whole:,}", f"{text} {name}", f"{whole} {name}"]
    return Said("money", f"{currency}{whole * 100}", draw(st.sampled_from(ways)), (currency, whole * 100))


MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905


def ordinal(number: int) -> str:
    """A number with its ordinal ending."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number not in (11, 12, 13) else "th"
    return f"{number}{ending}"


@st.composite
def dates(draw: st.DrawFn) -> Said:
    """A day of the year, with or without the year, or a weekday."""
    if draw(st.booleans()):
        number = draw(st.integers(1, 7))
        way, shift = draw(
            st.sampled_from([("{}", ""), ("next {}", "+1"), ("last {}", "-1"), ("this {}", "+0"), ("{}s", "")])
        )
        return Said("date", f"W{number}{shift}", way.format(WEEKDAYS[number - 1]), ("weekday", number, shift))
    month, day, year = draw(st.integers(1, 12)), draw(st.integers(1, 28)), draw(st.integers(1990, 2049))
    name = draw(st.sampled_from([MONTHS[month - 1], MONTHS[month - 1].upper()]))
    if draw(st.booleans()):
        ways = [f"{ordinal(day)} of {name}", f"{name} {ordinal(day)}", f"{ordinal(day)} {name}"]
        return Said("date", f"--{month:02d}-{day:02d}", draw(st.sampled_from(ways)), (month, day))
    ways = [
        f"{ordinal(day)} of {name} {year}",
        f"{name} {ordinal(day)}, {year}",
        f"{year}-{month:02d}-{day:02d}",
        *([f"{day}/{month}/{year}", f"{month}/{day}/{year}"] if day > 12 else []),
    ]
    return Said("date", f"{year}-{month:02d}-{day:02d}", draw(st.sampled_from(ways)), (year, month, day))


@st.composite
def times(draw: st.DrawFn) -> Said:
    """A time of day."""
    hour, minute = draw(st.integers(0, 23)), draw(st.sampled_from([0, 15, 30, 45, 5]))
    half = "pm" if hour >= 12 else "am"
    short = hour % 12 or 12
    ways = [f"{short}:{minute:02d} {half}", f"{short}:{minute:02d}{half}", f"{short}.{minute:02d} {half}"]
    if minute == 0:
        ways += [f"{short}{half}", f"{short} {half[0]}.{half[1]}.", f"{short} o'clock {half}", f"{short} oclock {half}"]
    if hour > 12 or hour == 0:
        ways.append(f"{hour:02d}:{minute:02d}")
    return Said("time", f"{hour:02d}:{minute:02d}", draw(st.sampled_from(ways)), (hour, minute))


@st.composite
def others(draw: st.DrawFn) -> Said:
    """Percentages, counts, ordinals, sizes and weights."""
    number, text = draw(numbers(highest=900))
    kind = draw(st.sampled_from(["percent", "count", "ordinal", "size", "weight"]))
    if kind == "percent":
        ways = [f"{number}%", f"{text} percent", f"{text} per cent", f"{number} %"]
        return Said("percent", str(number), draw(st.sampled_from(ways)), ("percent", number))
    if kind == "count":
        return Said("count", str(number), draw(st.sampled_from([text, f"{number}x", f"x{number}"])), ("count", number))
    if kind == "ordinal":
        number = number % 90 + 1
        return Said("ordinal", str(number), ordinal(number), ("ordinal", number))
    if kind == "size":
        size = number % 60 + 1
        return Said("measure", f"size.{size}", draw(st.sampled_from([f"size {size}", f"SIZE {size}"])), ("size", size))
    ways = [f"{number} kg", f"{text} kilos", f"{number}kg", f"{number * 1000} grams", f"{number * 1000}g"]
    return Said("measure", f"{number}kg", draw(st.sampled_from(ways)), ("kg", number))


anything = st.one_of(durations(), money(), dates(), times(), others())
