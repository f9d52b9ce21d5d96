"""Events as the cache emits them, without a cache."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slotcache.address import Scope
from slotcache.domain.loader import load_domain
from slotcache.events import Decision, LookedUp, Outcome
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.records.redact import Redactor


@pytest.fixture(scope="session")
def redact() -> Redactor:
    """The redactor of the shipped base."""
    return Redactor(load_domain("english").personal)


@pytest.fixture
def looked_up() -> Callable[..., LookedUp]:
    """Makes an event of a question that was looked up."""

    def make(text: str = "can i renew?", *, at: float = 4e9, near: object = None, **reading: object) -> LookedUp:
        fields: dict[str, object] = {
            "key": Key.of("renew_loan", {"aspect": "how"}),
            "intent": "renew_loan",
            "slots": {"aspect": "how"},
            "owner": Owner.SHARED,
            "confidence": 1.0,
            "model": "m-1",
        }
        parse = Parse(text, **{**fields, **reading})  # type: ignore[arg-type]
        outcome = Outcome(Decision.MISS, "not_found", key=str(parse.key), abstain=parse.abstain, model=parse.model)
        return LookedUp(at, outcome, parse, Scope(tenant="t", customer="c-77"), 0.001, near=near)  # type: ignore[arg-type]

    return make
