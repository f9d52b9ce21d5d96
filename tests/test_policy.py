from __future__ import annotations

from typing import Any

import pytest

from slotcache.errors import ConfigurationError
from slotcache.policy import Directives, Policy


@pytest.mark.parametrize(
    "wrong",
    [
        {"ttl": 0},
        {"ttl": float("inf")},
        {"ttl": float("nan")},
        {"customer_ttl": -1},
        {"approved_ttl": 0},
        {"ttl_by_intent": {"a": 0}},
        {"live_ttl": {"a": -5}},
        {"undeclared_prompts": 0},
        {"lease": 0},
        {"wait": 0},
        {"max_waiters": -1},
        {"store_failures": 0},
        {"store_pause": 0},
    ],
    ids=str,
)
def test_policy_refuses_nonsense_and_names_it(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Policy(**wrong)


@pytest.mark.parametrize("wrong", [{"max_age": -1}, {"max_age": float("nan")}, {"ttl": 0}], ids=str)
def test_directives_refuse_nonsense(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        Directives(**wrong)
