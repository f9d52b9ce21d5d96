"""What analysts do, as acts that are only ever added: a label, a pair, a proposal, an answer, and taking one back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from slotcache.address import digest
from slotcache.learning.examples import OUT_OF_SCOPE
from slotcache.learning.labels import signature

_DIGEST_BYTES: Final = 8


class Kind(StrEnum):
    """What an act says."""

    LABEL = "label"
    PERSONAL = "personal"
    LEAVE = "leave"
    PAIR = "pair"
    PROPOSE = "propose"
    ACCEPT = "accept"
    APPROVE = "approve"
    REPORT = "report"
    CLEAR = "clear"
    UNDO = "undo"


LEADS: Final = frozenset({Kind.ACCEPT, Kind.APPROVE, Kind.REPORT, Kind.CLEAR})
"""Acts that only people who lead may take back: undoing a report ends its quarantine."""

SETTLES: Final = frozenset({Kind.LABEL, Kind.PERSONAL, Kind.LEAVE})
"""Acts after which a question needs nobody's attention any more."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that one person did.

    Attributes:
        id: Unique among all machines; the same act handed in twice is kept once.
        at: When, in seconds since the epoch.
        author: Who.
        kind: What it says.
        subject: What it is about: a question, a pair, a proposal or a key (see `question_id` and its like).
        body: What was said: `text`, `intent` and `slots` of a label, `a`, `b` and `same` of a pair, and so on.
        undoes: Id of the act that it takes back; empty for every other kind than `undo`.
        number: Position in the file; 0 before it is kept.
    """

    id: str
    at: float
    author: str
    kind: Kind
    subject: str
    body: Mapping[str, Any] = field(default_factory=dict)
    undoes: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        """The question it is about; empty when it is about none."""
        return str(self.body.get("text", ""))

    def says_the_same_as(self, other: Act) -> bool:
        """Whether two acts mean the same, whoever said it and when."""
        return (self.kind, self.subject, _meaning(self)) == (other.kind, other.subject, _meaning(other))


def standing(acts: Iterable[Act]) -> list[Act]:
    """The acts on one subject that were not taken back, oldest first."""
    listed = list(acts)
    gone = {act.undoes for act in listed if act.kind is Kind.UNDO}
    cleared = max((act.number for act in listed if act.kind is Kind.UNDO and not act.undoes), default=0)
    return [act for act in listed if act.kind is not Kind.UNDO and act.id not in gone and act.number >= cleared]


def question_id(text: str) -> str:
    """The subject of a question; spellings that differ in case, marks and spaces are one.

    >>> question_id("Can I cancel?") == question_id("can i  cancel")
    True
    """
    return f"q-{digest('question', signature(text), size=_DIGEST_BYTES)}"


def pair_id(a: str, b: str) -> str:
    """The subject of a pair, whichever of the two comes first."""
    first, second = sorted((signature(a), signature(b)))
    return f"p-{digest('pair', first, second, size=_DIGEST_BYTES)}"


def patch_id(patch: Mapping[str, Any]) -> str:
    """The subject of a proposed addition to the domain; the same proposal made twice is one."""
    return f"d-{digest('patch', json.dumps(patch, sort_keys=True), size=_DIGEST_BYTES)}"


def key_id(key: str) -> str:
    """The subject of a printed key. A key may hold a customer's words, which must not stand in an address."""
    return f"k-{digest('key', key, size=_DIGEST_BYTES)}"


def rounded(at: float) -> float:
    """A time as acts keep it: to the millisecond, so that it survives being written and read as a date."""
    return round(at, 3)


def written(at: float) -> str:
    """A time as a date in UTC.

    >>> read(written(1_700_000_000.125))
    1700000000.125
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def read(date: str) -> float:
    """A date as seconds since the epoch; one without a zone is in UTC.

    Raises:
        ValueError: the text is no date.
    """
    found = datetime.fromisoformat(date)
    return rounded((found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp())


def told(act: Act) -> str:
    """An act in a few words, for people.

    >>> told(Act("1", 0.0, "kim", Kind.LABEL, "q", {"intent": "renew", "slots": {"medium": "dvd"}}))
    'renew(medium=dvd)'
    """
    body = act.body
    if act.kind is Kind.LABEL:
        if body["intent"] == OUT_OF_SCOPE:
            return "out of scope"
        return f"{body['intent']}({', '.join(f'{name}={value}' for name, value in sorted(body['slots'].items()))})"
    if act.kind is Kind.PAIR:
        return "may share an answer" if body["same"] else "must not share an answer"
    return {
        Kind.PERSONAL: "personal",
        Kind.LEAVE: "rightly without a key",
        Kind.PROPOSE: "proposal for the domain",
        Kind.ACCEPT: "proposal accepted",
        Kind.APPROVE: "answer approved",
        Kind.REPORT: "wrong answer reported",
        Kind.CLEAR: "quarantine cleared",
        Kind.UNDO: "taken back",
    }[act.kind]


def _meaning(act: Act) -> object:
    body = act.body
    if act.kind is Kind.LABEL:
        return body["intent"], tuple(sorted(body["slots"].items()))
    if act.kind is Kind.PAIR:
        return body["same"]
    if act.kind is Kind.PROPOSE:
        return json.dumps(body["patch"], sort_keys=True)
    return None if act.kind in (Kind.PERSONAL, Kind.LEAVE, Kind.ACCEPT) else act.id
