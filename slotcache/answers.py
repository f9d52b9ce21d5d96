"""What a model said, and whether it may be kept: complete, successful, not refused, not a tool call, not personal.

Every check errs on the side of not keeping an answer: that costs a model call, the opposite error a customer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from slotcache.errors import NotStored

FindPersonal = Callable[[str], tuple[str, ...]]
"""Gives the kinds of personal data in a text, in the order of `find_personal`; empty when there is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from the model.

    Attributes:
        text: What the customer reads.
        finish: Why the model stopped; only `stop` is a complete answer.
        tool_call: Whether it asked for a tool.
        refused: Whether the model's own protocol marks a refusal.
        tokens_in: Prompt tokens used.
        tokens_out: Completion tokens used.
        cost: Price of the call, in the operator's currency.
        not_kept: Why it must not be kept whatever it says; None when the text decides.
    """

    text: str
    finish: str = "stop"
    tool_call: bool = False
    refused: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    not_kept: NotStored | None = None


_I = r"\b(?:i|we)(?:\s+am|\s+are|['’]m|['’]re)?\s+"
_REFUSALS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bas an? (?:ai|artificial|language model|virtual assistant)\b",
        _I + r"(?:sorry|afraid)\b[^.!?\n]{0,60}\b(?:i|we)(?:['’]m| am|['’]re| are)?\s+(?:can|could|do|unable|not)\w*",
        _I + r"(?:can(?:no|['’])t|can not|cannot|(?:not |un)able to|won['’]t|will not)\s+(?:be able to\s+)?"
        r"(?:\w+ly\s+)?(?:help|assist|answer|provide|comply|discuss|share|access|find|see|look|do|check|verify|"
        r"confirm|respond|process|fulfil|complete|tell|say|give|continue|retrieve|locate|understand)",
        _I + r"(?:do not|don['’]t|did not|didn['’]t)\s+(?:\w+ly\s+)?(?:have|know|understand|see|catch|get)\b",
        _I + r"(?:not (?:\w+ )?(?:sure|certain|allowed|permitted)|unsure)\b",
        r"\b(?:something went wrong|an? (?:internal )?error (?:has )?occurred|try again later|internal server error)\b",
        r"\b(?:could|can) you (?:please )?(?:clarify|rephrase|provide|share|send|confirm|give|tell)\b",
        r"\b(?:please )?(?:provide|share|send) (?:me|us) (?:with )?(?:your|the)\b",
    )
)
_CUT_OFF = re.compile(r"[,;:(\[{–—-]\s*\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SPACED = r"[ \u00a0.\-/]?"
_NOT_A_STREET = r"(?!(?:days?|hours?|hrs?|weeks?|months?|years?|minutes?|mins?|items?|percent|by|the|a|of|to|in|on)\b)"
# Every repetition is bounded or starts at one place only: a megabyte of anything is read in linear time.
_PERSONAL: Final = (
    ("email", re.compile(r"[\w.+%-]\s?@\s?[\w-]{1,63}\.\w")),
    ("phone", re.compile(rf"(?<![\w.,])(?:\+|00)\d(?:{_SPACED}\(?\d\)?){{7,14}}(?!\d)")),
    ("phone", re.compile(rf"(?<![\w.,])\(?0?\d{{2,4}}\)?{_SPACED}\d{{3,4}}{_SPACED}\d{{3,4}}(?!\d)")),
    ("tracking", re.compile(r"\b(?:1Z[0-9A-Z]{16}|[A-Z]{2}\d{9}[A-Z]{2})\b", re.IGNORECASE)),
    ("order", re.compile(r"(?<!\w)#\s?[A-Z0-9][A-Z0-9-]{2}", re.IGNORECASE)),
    ("order", re.compile(r"(?<![\w.,])(?=[A-Z0-9-]{0,30}\d{4})[A-Z]{1,5}-?\d[A-Z0-9-]{3,40}\b", re.IGNORECASE)),
    ("order", re.compile(r"(?<![\w.,])\d{3,20}(?:-\d{3,20}){1,4}(?!\w)")),
    ("order", re.compile(r"(?<![\w.,])\d{5,}(?![\w%])")),
    (
        "order",
        re.compile(
            r"\b(?:order|tracking|invoice|account|customer|reference|ref|parcel|ticket|case)\s{0,3}"
            r"(?:number|no|nr|num|id|code|#)?\.?\s{0,3}(?:is|was|:|=)?\s{0,3}#?\s?(?=[a-z-]{0,20}\d)[a-z0-9-]{4}",
            re.IGNORECASE,
        ),
    ),
    (
        "address",
        re.compile(
            rf"\b\d{{1,5}}[a-z]?,?\s{{1,3}}(?:{_NOT_A_STREET}[^\W\d]{{1,30}}\.?\s{{1,3}}){{1,3}}"
            r"(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|terrace|crescent|square|court|close)\b",
            re.IGNORECASE,
        ),
    ),
)
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")


def find_personal(text: str) -> tuple[str, ...]:
    """Kinds of personal data in a text: e-mail, phone, order, tracking and card numbers, street addresses.

    >>> find_personal("write to jo@example.com about #4821")
    ('email', 'order')
    >>> find_personal("Returns are free within 30 days.")
    ()
    """
    kinds = dict.fromkeys(kind for kind, pattern in _PERSONAL if pattern.search(text))
    if any(_luhn(found) for found in _CARD.findall(text)):
        kinds["card"] = None
    return tuple(kinds)


def _luhn(number: str) -> bool:
    digits = [int(digit) for digit in number if digit.isdecimal()][::-1]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def without(text: str, public: Iterable[str]) -> str:
    """A text with the operator's own public texts taken out, so that they do not count as anybody's data."""
    for known in public:
        text = text.replace(known, " ")
    return text


def why_not_kept(
    answer: Answer,
    *,
    shared: bool,
    varying: tuple[str, ...] = (),
    public: Iterable[str] = (),
    find_personal: FindPersonal = find_personal,
) -> NotStored | None:
    """Why an answer must not be stored, or None when it may.

    Args:
        answer: What the model said.
        shared: Whether others than the asker would read it.
        varying: What the prompt held about this one request; an answer that repeats it is this customer's.
        public: The operator's own contact data, which is not personal.
        find_personal: Gives the kinds of personal data in a text.
    """
    text = answer.text
    if answer.not_kept is not None:
        return answer.not_kept
    if answer.tool_call:
        return NotStored.TOOL_CALL
    if not text.strip():
        return NotStored.EMPTY_ANSWER
    if answer.refused or any(refusal.search(text) for refusal in _REFUSALS):
        return NotStored.REFUSED_ANSWER
    if answer.finish != "stop" or _CUT_OFF.search(text) or text.count("```") % 2 or _SURROGATE.search(text):
        return NotStored.INCOMPLETE_ANSWER
    if shared and (find_personal(without(text, public)) or any(_repeats(text, value) for value in varying)):
        return NotStored.PERSONAL_ANSWER
    return None


def _repeats(text: str, value: str) -> bool:
    """Whether a text says a value or a word of it that could name somebody.

    Of a short value (a name, a date) every word counts; of a long one those with a capital or a digit. Months that
    are words of their own count only as they are spelt.
    """
    words = [word for word in _WORD.findall(value) if len(word) > 2]
    if len(words) > _SHORT:
        exact, loose = {word for word in words if word != word.lower() or not word.isalpha()}, {value.strip()}
    else:
        exact = {word for word in words if word.lower() in _ALSO_WORDS}
        loose = {value.strip(), *words} - exact - {""}
    said = set(_WORD.findall(text))
    lowered = text.lower()
    return bool(exact & said) or any(_stands_in(word.lower(), lowered) for word in loose)


def _stands_in(phrase: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


_WORD = re.compile(r"\w+")
_SHORT: Final = 4
_ALSO_WORDS: Final = frozenset({"may", "march", "sun", "sat"})
