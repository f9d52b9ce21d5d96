"""Quantities: many spellings of one value read alike, and no two values do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.key import Key
from slotcache.parsing.normalise import Normaliser
from slotcache.parsing.quantities import find_quantities
from tests.parsing.quantities.render import Said, anything

NORMALISER = Normaliser()


def found(text: str, *, dollar: str = "USD") -> list[tuple[str, str, str]]:
    words = NORMALISER.words(text)
    return [
        (quantity.type, quantity.value, " ".join(words[quantity.start : quantity.end]))
        for quantity in find_quantities(words, dollar=dollar)
    ]


def values(text: str, **options: str) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value, _ in found(text, **options)]


@given(anything)
def test_quantities_read_every_spelling_as_the_value_meant(said: Said) -> None:
    assert (said.type, said.value) in values(said.text)


@given(anything, st.sampled_from(["can i return it {}", "is it {} please", "what about {}?", "{} after delivery"]))
def test_quantities_are_found_in_a_sentence(said: Said, sentence: str) -> None:
    assert (said.type, said.value) in values(sentence.format(said.text))


@given(anything, anything)
def test_quantities_never_print_two_meanings_alike(one: Said, other: Said) -> None:
    same = (one.type, one.identity) == (other.type, other.identity)
    shared = set(values(one.text)) & set(values(other.text)) - {("currency", "USD")}
    assert bool(shared) == same


@given(anything)
def test_quantities_leave_no_part_of_a_longer_one(said: Said) -> None:
    spans = [(q.start, q.end) for q in find_quantities(NORMALISER.words(said.text))]
    assert all(not (a[0] <= b[0] and b[1] <= a[1] and a != b) for a in spans for b in spans)


@given(anything)
def test_quantities_stand_in_keys(said: Said) -> None:
    key = Key.of("intent", {"amount": said.value})
    assert Key.parse(str(key)) == key


WORDS = """
a an one 2 3 30 half quarter couple of dozen and to or between from hour hours day days week weeks month second seconds
business $ £ rs dollars pounds usd % percent size x kg may march 5th 25 december friday sat next last this the morning
am pm 10:30 noon past 2026 - + 1/2 first tomorrow in on by k cents item items i be us usa british
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_quantities_read_any_words_in_order_and_within_bounds(words: list[str]) -> None:
    quantities = find_quantities(words)
    assert all(0 <= q.start < q.end <= len(words) and q.value for q in quantities)
    assert [q.start for q in quantities] == sorted(q.start for q in quantities)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("half an hour", "PT30M"),
        ("half hour", "PT30M"),
        ("1/2 hour", "PT30M"),
        ("a quarter of an hour", "PT15M"),
        ("an hour and a half", "PT90M"),
        ("one and a half hours", "PT90M"),
        ("1 hour 30 minutes", "PT90M"),
        ("480 minutes", "PT8H"),
        ("90 seconds", "PT90S"),
        ("60 seconds", "PT1M"),
        ("24 hours", "PT24H"),
        ("one day", "P1D"),
        ("a fortnight", "P14D"),
        ("a couple of weeks", "P14D"),
        ("a week and 2 days", "P9D"),
        ("half a year", "P6M"),
        ("a year and a half", "P18M"),
        ("a year and 6 months", "P18M"),
        ("a dozen days", "P12D"),
        ("half a dozen weeks", "P42D"),
        ("2 years old", "P24M"),
        ("14 business days", "P14B"),
        ("14 calendar days", "P14C"),
        ("100 night trial", "P100N"),
        ("a day or two", "P1D|P2D"),
        ("3 days to 2 weeks", "P3D..P14D"),
        ("7 days a week", "P7D"),
        ("a hundred days", "P100D"),
        ("a week ago", "P7D"),
        ("5 items returned a week ago", "P7D"),
    ],
)
def test_quantities_read_durations(text: str, value: str) -> None:
    assert [v for kind, v in values(text) if kind == "duration"] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "twice a week",
        "how much a month",
        "$5 a month",
        "5 items a day",
        "my second order",
        "wait a second",
        "3 business hours",
        "0 days",
        "first day",
        "half the price",
        "next day delivery",
        "may",
    ],
)
def test_quantities_read_no_duration_into(text: str) -> None:
    assert "duration" not in [kind for kind, _ in values(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$50", "USD5000"),
        ("50 bucks", "USD5000"),
        ("us$50", "USD5000"),
        ("£1,250.50", "GBP125050"),
        ("5 pounds and 50 pence", "GBP550"),
        ("5 dollars 50", "USD550"),
        ("99 cents", "USD99"),
        ("50p", "GBP50"),
        ("rs. 500", "INR50000"),
        ("1,00,000 rupees", "INR10000000"),
        ("500 yen", "JPY500"),
        ("$10k", "USD1000000"),
        ("£20-£50", "GBP2000..GBP5000"),
        ("$20 or $30", "USD2000|USD3000"),
        ("$20-50", "USD2000..USD5000"),
        ("50+ dollars", "USD5000.."),
        ("$50+", "USD5000.."),
        ("10 pounds", "GBP1000"),
        ("hong kong dollars 5", None),
        ("50 hong kong dollars", "HKD5000"),
        ("$1.234", None),
        ("$0.005", None),
        ("5 dollars 50 items", "USD500"),
        ("a dollar", None),
    ],
)
def test_quantities_read_money(text: str, value: str | None) -> None:
    assert [v for kind, v in values(text) if kind == "money"] == ([value] if value else [])


def test_quantities_take_the_bare_dollar_from_the_caller() -> None:
    texts = ["$50", "50 dollars", "99 cents", "us$50", "50 us dollars", "in dollars"]
    assert [values(text, dollar="AUD")[0][1] for text in texts] == [
        "AUD5000",
        "AUD5000",
        "AUD99",
        "USD5000",
        "USD5000",
        "AUD",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("in US dollars", "USD"),
        ("in us dollars", "USD"),
        ("pay in euros", "EUR"),
        ("GBP", "GBP"),
        ("british pounds", "GBP"),
        ("canadian dollars", "CAD"),
        ("do you take $", "USD"),
    ],
)
def test_quantities_read_currencies_named_alone(text: str, value: str) -> None:
    assert values(text) == [("currency", value)]


@pytest.mark.parametrize("text", ["a pound of coffee", "rs", "it weighs many pounds", "let us know", "a buck"])
def test_quantities_read_no_currency_into(text: str) -> None:
    assert "currency" not in [kind for kind, _ in values(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("today", "D+0"),
        ("tonight", "D+0-night"),
        ("this morning", "D+0-morning"),
        ("tomorrow", "D+1"),
        ("tomorrow afternoon", "D+1-afternoon"),
        ("the day after tomorrow", "D+2"),
        ("yesterday", "D-1"),
        ("last night", "D-1-night"),
        ("friday", "W5"),
        ("on fridays", "W5"),
        ("next Friday", "W5+1"),
        ("last fri", "W5-1"),
        ("this coming friday", "W5+0"),
        ("friday morning", "W5-morning"),
        ("monday to friday", "W1..W5"),
        ("mon-fri", "W1..W5"),
        ("on sat", "W6"),
        ("this week", "week+0"),
        ("last week", "week-1"),
        ("next month", "month+1"),
        ("last year", "year-1"),
        ("next weekend", "weekend+1"),
        ("december 2026", "2026-12"),
        ("last december", "M12-1"),
        ("in december", "--12"),
        ("in may", "--05"),
        ("in march", "--03"),
        ("march 5", "--03-05"),
        ("on may 5", "--05-05"),
        ("the fifth of november", "--11-05"),
        ("friday 25 december", "W5.--12-25"),
        ("thurs 14th", "W4.---14"),
        ("on the 15th", "---15"),
        ("in 2024", "2024"),
        ("between december 20 and december 27", "--12-20..--12-27"),
    ],
)
def test_quantities_read_dates(text: str, value: str) -> None:
    assert [v for kind, v in values(text) if kind == "date"] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "Black Friday",
        "cyber monday",
        "it sat on a shelf",
        "sun cream",
        "may i return it",
        "may 5 items be returned",
        "an order of 5 may be returned",
        "we march on",
        "the last week",
        "03/04/2026",
        "99/99/2026",
        "in the second may order",
        "order 2024",
    ],
)
def test_quantities_read_no_date_into(text: str) -> None:
    assert "date" not in [kind for kind, _ in values(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5 pm", "17:00"),
        ("12 am", "00:00"),
        ("12 pm", "12:00"),
        ("5:30", "h5:30"),
        ("05:30", "05:30"),
        ("5:30 am", "05:30"),
        ("10:30", "h10:30"),
        ("10:30 am", "10:30"),
        ("5 o'clock", "h5:00"),
        ("half past 5 pm", "17:30"),
        ("quarter to 6", "h5:45"),
        ("noon", "12:00"),
        ("midnight", "00:00"),
        ("9am-5pm", "09:00..17:00"),
        ("2 to 4 pm", "14:00..16:00"),
        ("between 9 and 11 am", "09:00..11:00"),
    ],
)
def test_quantities_read_times_of_day(text: str, value: str) -> None:
    assert values(text) == [("time", value)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("size 10", "size.10"),
        ("size 10.5", "size.10.5"),
        ("size 10 and a half", "size.10.5"),
        ("size uk 10", "size.uk.10"),
        ("US size 9", "size.us.9"),
        ("size M", "size.m"),
        ("size medium", "size.m"),
        ("xxl", "size.xxl"),
        ("2XL", "size.xxl"),
        ("XXXL", "size.xxxl"),
        ("500g", "0.5kg"),
        ("10 lbs", "10lb"),
        ("a parcel that weighs 10 pounds", "10lb"),
        ("16 oz", "1lb"),
        ("2 metres", "200cm"),
        ("6 ft", "72in"),
        ("2 litres", "2000ml"),
        ("30x40cm", "30x40cm"),
        ("30 by 40 by 20 inches", "30x40x20in"),
        ("2-3 kg", "2kg..3kg"),
    ],
)
def test_quantities_read_sizes_and_measures(text: str, value: str) -> None:
    assert values(text) == [("measure", value)]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("2 items", ["2"]),
        ("one item", ["1"]),
        ("one of my items", ["1"]),
        ("the one i ordered", []),
        ("this one", []),
        ("which one is cheaper", []),
        ("one is broken", []),
        ("no one", []),
        ("a dozen eggs", ["12"]),
        ("two dozen", ["24"]),
        ("half a dozen", ["6"]),
        ("x2", ["2"]),
        ("2x shirts", ["2"]),
        ("5+ items", ["5.."]),
        ("2-3 items", ["2..3"]),
        ("2 or 3 items", ["2|3"]),
        ("from 2 to 3 items", ["2..3"]),
        ("from 3 to 2 items", ["3", "2"]),
        ("twenty-one items", ["21"]),
        ("1.000 items", []),
        ("00108", []),
    ],
)
def test_quantities_count_things_and_not_pronouns(text: str, counts: list[str]) -> None:
    assert [value for kind, value in values(text) if kind == "count"] == counts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("first", "1"),
        ("my second order", "2"),
        ("21st", "21"),
        ("twenty-first", "21"),
        ("the 3rd item", "3"),
        ("twelfth", "12"),
    ],
)
def test_quantities_read_ordinals(text: str, value: str) -> None:
    assert values(text) == [("ordinal", value)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("between 3 and 5 days", ["between 3 and 5 days"]),
        ("from 3 to 5 days", ["from 3 to 5 days"]),
        ("within 14 days of order 2", ["14 days", "2"]),
        ("$ 50 in 3 days", ["$ 50", "3 days"]),
        ("on the 5th", ["5th", "5th"]),
    ],
)
def test_quantities_report_the_longest_reading_only(text: str, spans: list[str]) -> None:
    assert [words for _, _, words in found(text)] == spans
