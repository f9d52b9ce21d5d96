"""Amounts of money in minor units (`USD5000` is fifty dollars), and currencies named without an amount.

A sign that several countries share needs a decision: a bare `$`, "dollars" and "cents" mean the currency that the
caller says; £ is sterling, € the euro, ¥ the yen and ₹ the Indian rupee.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from slotcache.parsing.quantities.numbers import RANGE, Found, Numbers, cardinal, join, numbers, pair, plain, word

_DOLLAR: Final = "dollar"
_SIGNS: Final = {
    "$": _DOLLAR, "£": "GBP", "€": "EUR", "¥": "JPY", "₹": "INR", "us$": "USD", "a$": "AUD", "au$": "AUD", "c$": "CAD",
    "ca$": "CAD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "sg$": "SGD",
}  # fmt: skip
_WORDS: Final = {
    spelling: currency
    for currency, spellings in {
        _DOLLAR: "dollar dollars buck bucks",
        "GBP": "pound pounds quid sterling",
        "EUR": "euro euros",
        "INR": "rupee rupees rs",
        "JPY": "yen",
        "CNY": "yuan renminbi rmb",
        "CHF": "francs",
        "AED": "dirham dirhams",
        "MYR": "ringgit",
        "THB": "baht",
        "PLN": "zloty",
        "ZAR": "rand",
    }.items()
    for spelling in spellings.split()
}
_CODE_WORDS: Final = (
    "usd eur gbp inr jpy cad aud nzd chf cny sgd hkd aed zar sek nok dkk pln mxn brl thb myr php idr krw ils"
)
_CODES: Final = frozenset(_CODE_WORDS.split())
_COUNTRIES: Final = {
    "usa": "USD", "us": "USD", "american": "USD", "canadian": "CAD", "australian": "AUD", "aussie": "AUD",
    "zealand": "NZD", "singapore": "SGD", "kong": "HKD",
}  # fmt: skip
CURRENCY_STARTS: Final = frozenset(
    {*_SIGNS, *_WORDS, *_CODES, *_COUNTRIES, "new", "hong", "british", "indian", "swiss", "from", "between"}
)
"""Words that a currency can start with."""

MONEY_STARTS: Final = frozenset({*_SIGNS, *_CODES, "rs", "one", "a", "half", "couple", "dozen", "from", "between"})
"""Words that an amount of money can start with, besides digits."""

_POUNDS: Final = frozenset({"pound", "pounds"})
_WEIGHT: Final = re.compile(r"weigh|heav|lbs?\Z|kgs?\Z|ounce|luggage")
_CENTS: Final = {"cent": _DOLLAR, "cents": _DOLLAR, "pence": "GBP", "penny": "GBP", "p": "GBP", "paise": "INR"}
_WHOLE: Final = frozenset({"JPY", "KRW"})
"""Currencies without minor units."""


def read_money(words: Sequence[str], at: int, dollar: str) -> Found:
    """Read an amount of money, or two of them joined.

    Args:
        words: Normalised words.
        at: Position of the first word.
        dollar: Currency of a bare dollar sign, an ISO code.
    """
    return pair(words, at, lambda position: _amount(words, position, dollar))


def read_currency(words: Sequence[str], at: int, dollar: str) -> Found:
    """Read a currency named without an amount: "in us dollars", "euros", "GBP"."""
    named = _SIGNS.get(word(words, at)), at + 1
    currency, end = named if named[0] else _named(words, at)
    # "A pound of" something is a weight, and "rs" alone may be anything.
    if currency is None or word(words, at) in ("rs", "buck", "quid", "rand") or word(words, at - 1)[:1].isdigit():
        return None
    if word(words, end - 1) in _POUNDS and (by_weight(words) or word(words, end) == "of"):
        return None
    return _resolved(currency, dollar), end


def by_weight(words: Sequence[str]) -> bool:
    """Whether the words speak of weight, so that pounds are no money."""
    return any(_WEIGHT.match(text) for text in words)


def _amount(words: Sequence[str], at: int, dollar: str) -> Found:
    currency = _SIGNS.get(word(words, at)) or (_named(words, at)[0] if _leads(words, at) else None)
    if currency is not None:
        if not word(words, at + 1)[:1].isdigit():
            return None
        return _printed(words, _thousands(words, numbers(words, at + 1)), currency, dollar, after=False)
    amount = _thousands(words, numbers(words, at))
    if amount is None:
        return None
    minor = _CENTS.get(word(words, amount.end))
    if minor is not None:
        value = amount.printed(lambda size: _minor(size / 100, _resolved(minor, dollar)))
        return (value, amount.end + 1) if value else None
    sign = _SIGNS.get(word(words, amount.end))
    if sign is not None and not word(words, amount.end + 1)[:1].isdigit():
        currency, end = sign, amount.end + 1
    else:
        currency, end = _named(words, amount.end)
    if currency is None or (word(words, end - 1) in _POUNDS and by_weight(words)):
        return None
    return _printed(words, Numbers(amount.values, amount.joint, end), currency, dollar, after=True)


def _leads(words: Sequence[str], at: int) -> bool:
    """Whether a word is one that stands before its amount: "rs 500", "usd 20"."""
    return word(words, at) == "rs" or word(words, at) in _CODES


def _named(words: Sequence[str], at: int) -> tuple[str | None, int]:
    """A currency said in words, and the position after it."""
    first, following = word(words, at), word(words, at + 1)
    if first in _CODES:
        return first.upper(), at + 1
    if first in ("new", "hong") and following in _COUNTRIES:
        first, following, at = following, word(words, at + 2), at + 1
    if first in _COUNTRIES and following in ("dollar", "dollars", "$"):
        return _COUNTRIES[first], at + 2
    if first == "british" and following in _POUNDS:
        return "GBP", at + 2
    if first == "indian" and following in ("rupee", "rupees"):
        return "INR", at + 2
    if first == "swiss" and following in ("franc", "francs"):
        return "CHF", at + 2
    if first in _POUNDS and following == "sterling":
        return "GBP", at + 2
    return _WORDS.get(first), at + 1


def _thousands(words: Sequence[str], amount: Numbers | None) -> Numbers | None:
    """ "10 k" is ten thousand, of money only."""
    if amount is None or word(words, amount.end) not in ("k", "grand"):
        return amount
    return Numbers(tuple(value * 1_000 for value in amount.values), amount.joint, amount.end + 1)


def _printed(words: Sequence[str], amount: Numbers | None, currency: str, dollar: str, *, after: bool) -> Found:
    if amount is None:
        return None
    values, end = amount.values, amount.end
    code = _resolved(currency, dollar)
    if after and len(values) == 1 and not amount.joint and values[0] % 1 == 0:
        cents, end = _small_change(words, end, currency)
        values = (values[0] + cents,)
    texts = [_minor(value, code) for value in values]
    if None in texts:
        return None
    joint = amount.joint
    if not joint and word(words, end) == "+":
        joint, end = RANGE, end + 1
    return join([text for text in texts if text], joint), end


def _small_change(words: Sequence[str], end: int, currency: str) -> tuple[Decimal, int]:
    """What follows the whole units: "5 dollars and 50 cents", "5 pounds 50"."""
    start = end + (word(words, end) == "and")
    cents = cardinal(words, start)
    if cents is None or cents.value % 1 or not 0 < cents.value < 100:
        return Decimal(0), end
    unit = _CENTS.get(word(words, cents.end))
    if unit == currency:
        return cents.value / 100, cents.end + 1
    if start == end and cents.end == len(words) and len(word(words, start)) == 2:
        return cents.value / 100, cents.end
    return Decimal(0), end


def _resolved(currency: str, dollar: str) -> str:
    return dollar if currency == _DOLLAR else currency


def _minor(value: Decimal, currency: str) -> str | None:
    """Minor units of an amount; None when it has fractions of them."""
    size = value * (1 if currency in _WHOLE else 100)
    return f"{currency}{plain(size)}" if size % 1 == 0 else None
