"""A cache without a parser reads the shipped domain and follows promotions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.errors import ModelError
from slotcache.events import Trouble
from slotcache.stores.memory import MemoryStore
from slotcache.testing import Recorder, ScriptedParser

Failed = Callable[[Exception], None]


@pytest.mark.parametrize("kind", [SlotCache, AsyncSlotCache])
def test_cache_without_a_parser_follows_promotions_of_the_shipped_domain(
    kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Failed] = []
    parser, seen = ScriptedParser({}), Recorder()

    def watching(*, failed: Failed) -> ScriptedParser:
        told.append(failed)
        return parser

    monkeypatch.setattr("slotcache.parsing.watch.watching", watching)
    cache = kind(store=MemoryStore(), observers=(seen,))
    told[0](ModelError("damaged"))
    assert cache.core.parser is parser
    assert [event.where for event in seen.of(Trouble)] == ["model"]
