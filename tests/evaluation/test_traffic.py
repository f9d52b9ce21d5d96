from __future__ import annotations

import pytest

from slotcache.errors import ConfigurationError
from slotcache.evaluation.traffic import Asked, traffic_from


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        ({"text": "a"}, Asked("a")),
        ({"text": "a", "customer": "", "question": "q"}, Asked("a", truth="q")),
        ({"text": "a", "question": "q", "answer": "yes"}, Asked("a", truth="yes", answer="yes")),
        (
            {"text": "a", "customer": "c1", "time": "1970-01-01T00:01:00Z", "kind": "policy"},
            Asked("a", customer="c1", at=60.0, kind="policy"),
        ),
    ],
)
def test_traffic_from_rows(row: dict, asked: Asked) -> None:
    assert traffic_from([row]) == [asked]


@pytest.mark.parametrize(
    ("row", "message"), [({"text": 1}, "'text' must be a text"), ({"text": "a", "time": "now"}, "is no time")]
)
def test_traffic_refuses(row: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        traffic_from([row])
