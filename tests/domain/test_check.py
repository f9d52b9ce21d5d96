from __future__ import annotations

from typing import Any

import pytest

from slotcache.domain.check import Kind, check
from slotcache.domain.loader import load_domain
from slotcache.domain.schema import Domain


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.lower().split())


def _domain(**changes: Any) -> Domain:
    data: dict[str, Any] = {
        "name": "shop",
        "concepts": {"open": ["open"]},
        "slots": {"day": {"values": {"weekday": ["on weekdays"], "weekend": ["at weekends"]}}},
        "intents": {"hours": {"frames": ["open"], "slots": {"day": None}}},
    }
    return Domain.model_validate(data | changes)


def test_check_sound_domain_has_no_findings() -> None:
    assert check(_domain(), _words) == []


@pytest.mark.parametrize(
    ("changes", "kind", "path"),
    [
        pytest.param(
            {"slots": {"day": {"values": {"weekday": ["ON days"], "weekend": ["on  days"]}}}},
            Kind.SAID_ALIKE,
            ("slots", "day", "values", "weekend"),
            id="two values said alike",
        ),
        pytest.param(
            {"slots": {"day": {"values": {"weekday": [], "weekend": ["at weekends"]}}}},
            Kind.UNSAYABLE,
            ("slots", "day", "values", "weekday"),
            id="value without phrases",
        ),
        pytest.param(
            {"intents": {"hours": {"frames": ["open"], "slots": {"day": {"values": ["weekday"]}}}}},
            Kind.UNREACHABLE_VALUE,
            ("slots", "day", "values", "weekend"),
            id="value no intent accepts",
        ),
        pytest.param(
            {"intents": {"hours": {"frames": ["open"]}}}, Kind.UNUSED_SLOT, ("slots", "day"), id="slot no intent names"
        ),
        pytest.param(
            {"concepts": {"open": ["open"], "shut": ["shut"]}},
            Kind.UNUSED_CONCEPT,
            ("concepts", "shut"),
            id="concept nothing refers to",
        ),
        pytest.param(
            {"concepts": {"open": ["open"], "shut": []}},
            Kind.UNSAYABLE,
            ("concepts", "shut"),
            id="concept without phrases",
        ),
        pytest.param(
            {"protected": {"negation": ["not"]}, "concepts": {"open": ["is not? open"]}},
            Kind.OPTIONAL_NEGATION,
            ("concepts", "open"),
            id="with a negation and without it",
        ),
        pytest.param(
            {"concepts": {"open": ["open", "a||b"]}}, Kind.BAD_PATTERN, ("concepts", "open"), id="malformed phrase"
        ),
        pytest.param(
            {
                "intents": {
                    "hours": {"frames": ["open day=*"], "slots": {"day": None}},
                    "other": {"frames": ["day=* open -> day=weekend"], "slots": {"day": None}},
                }
            },
            Kind.SAME_FRAME,
            ("intents", "other", "frames"),
            id="two intents with one frame",
        ),
    ],
)
def test_check_finds(changes: dict[str, Any], kind: Kind, path: tuple[str, ...]) -> None:
    assert [(finding.kind, finding.path) for finding in check(_domain(**changes), _words)] == [(kind, path)]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {
                "slots": {"day": {"values": {"weekday": [], "weekend": ["at weekends"]}}},
                "intents": {"hours": {"frames": ["open -> day=weekday"], "slots": {"day": None}}},
            },
            id="implied by a frame",
        ),
        pytest.param(
            {
                "slots": {"day": {"values": {"weekday": [], "weekend": ["at weekends"]}}},
                "intents": {"hours": {"frames": ["open"], "slots": {"day": {"default": "weekday"}}}},
            },
            id="default",
        ),
        pytest.param({"intents": {"hours": {"frames": ["open"], "ignore": ["day"]}}}, id="ignored slot"),
        pytest.param({"intents": {"hours": {"frames": ["open day=weekend"]}}}, id="slot that evokes"),
        pytest.param(
            {"protected": {"negation": ["not"]}, "concepts": {"open": ["is it open or not?"]}}, id="either answer"
        ),
        pytest.param({"concepts": {"open": ["open {door}"], "door": ["door"]}}, id="concept within a phrase"),
    ],
)
def test_check_accepts(changes: dict[str, Any]) -> None:
    assert check(_domain(**changes), _words) == []


def test_check_no_phrase_of_the_shipped_domain_says_the_same_with_a_negation_and_without_it() -> None:
    kinds = [finding.kind for finding in check(load_domain("order_support"), _words)]
    assert Kind.OPTIONAL_NEGATION not in kinds


def test_check_unused_parts_of_the_base_are_fine() -> None:
    base = _domain(intents={})
    assert check(_domain(intents={"hours": {"frames": ["open"]}}), _words, base=base) == []


def test_check_intent_without_examples() -> None:
    assert [finding.path for finding in check(_domain(), _words, examples=[])] == [("intents", "hours")]
