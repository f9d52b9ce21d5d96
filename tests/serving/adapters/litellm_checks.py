"""Checks of the LiteLLM adapter against the real library; `test_litellm.py` runs them in a process of their own."""

from __future__ import annotations

import os
import runpy
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import litellm

    from slotcache.serving.adapters.litellm import SlotcacheCache

from slotcache.address import Scope
from slotcache.cache import SlotCache
from slotcache.parsing.parser import Parser
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock, ScriptedParser
from tests.cache.shells import READINGS
from tests.e2e.servers import endpoint_at
from tests.serving.harness import Endpoint

pytestmark = pytest.mark.filterwarnings("ignore")
EXAMPLES = Path(__file__).parents[3] / "examples"
ONE, OTHER = "can i cancel?", "may i call it off?"
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Endpoint, str]]:
    endpoint = Endpoint()
    with endpoint_at(endpoint) as url:
        yield endpoint, url


@pytest.fixture
def slots() -> Iterator[SlotCache]:
    made = SlotCache(ScriptedParser(READINGS), MemoryStore(), clock=FakeClock())
    yield made
    litellm.cache = None


@pytest.fixture
def endpoint(served: tuple[Endpoint, str]) -> Endpoint:
    made = served[0]
    made.seen.clear()
    made.script = type(made.script)()
    return made


@pytest.fixture
def options(served: tuple[Endpoint, str]) -> dict[str, Any]:
    return {"model": "openai/m", "api_base": served[1], "api_key": "sk-0123456789abcdef", "num_retries": 0}


def request(question: str = ONE, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], **fields}


def settle(slots: SlotCache, entries: int) -> None:
    """Wait until what LiteLLM keeps in the background is kept."""
    deadline = time.monotonic() + 5
    while slots.core.store.counts()["entries"] < entries and time.monotonic() < deadline:
        time.sleep(0.01)


def test_litellm_second_wording_is_answered_without_a_call(
    endpoint: Endpoint, slots: SlotCache, options: dict[str, Any]
) -> None:
    litellm.cache = SlotcacheCache(slots)
    told = []
    for question in (ONE, OTHER):
        told.append(litellm.completion(**options, **request(question)).choices[0].message.content)
        settle(slots, 1)
    assert (told, len(endpoint.seen)) == (["Yes, until it ships."] * 2, 1)


async def test_litellm_async(endpoint: Endpoint, slots: SlotCache, options: dict[str, Any]) -> None:
    import asyncio

    litellm.cache = SlotcacheCache(slots)
    told = []
    for question in (ONE, OTHER):
        told.append((await litellm.acompletion(**options, **request(question))).choices[0].message.content)
        async with asyncio.timeout(5):
            while slots.core.store.counts()["entries"] < 1:
                await asyncio.sleep(0.01)
    assert (told, len(endpoint.seen)) == (["Yes, until it ships."] * 2, 1)


def test_litellm_hit_can_be_streamed(endpoint: Endpoint, slots: SlotCache, options: dict[str, Any]) -> None:
    litellm.cache = SlotcacheCache(slots)
    litellm.completion(**options, **request())
    settle(slots, 1)
    stream = litellm.completion(**options, **request(OTHER, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert (text, len(endpoint.seen)) == ("Yes, until it ships.", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 1.5},
        {"response_format": {"type": "json_object"}},
        {"n": 2},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"an_unknown_parameter": 1},
    ],
)
def test_litellm_unsupported_request_is_not_cached(
    endpoint: Endpoint, slots: SlotCache, options: dict[str, Any], fields: dict[str, Any]
) -> None:
    litellm.cache = SlotcacheCache(slots)
    for _ in range(2):
        litellm.completion(**options, **request(**fields))
    assert (len(endpoint.seen), slots.core.store.counts()["entries"]) == (2, 0)


@pytest.mark.parametrize("other", [{"temperature": 0.1}, {"model": "openai/m2"}, {"max_tokens": 9}])
def test_litellm_what_changes_the_answer_separates(
    endpoint: Endpoint, slots: SlotCache, options: dict[str, Any], other: dict[str, Any]
) -> None:
    litellm.cache = SlotcacheCache(slots)
    litellm.completion(**options, **request())
    settle(slots, 1)
    litellm.completion(**{**options, **request(), **other})
    assert len(endpoint.seen) == 2


@pytest.mark.parametrize("wish", [{"no-cache": True}, {"s-maxage": 0}])
def test_litellm_wish_tightens(endpoint: Endpoint, slots: SlotCache, options: dict[str, Any], wish: Any) -> None:
    litellm.cache = SlotcacheCache(slots)
    litellm.completion(**options, **request())
    settle(slots, 1)
    litellm.completion(**options, **request(cache=wish))
    assert len(endpoint.seen) == 2


def test_litellm_cut_off_answer_is_not_kept(endpoint: Endpoint, slots: SlotCache, options: dict[str, Any]) -> None:
    endpoint.script.finish = "length"
    litellm.cache = SlotcacheCache(slots)
    for _ in range(2):
        litellm.completion(**options, **request())
    assert len(endpoint.seen) == 2


def test_litellm_asker_is_found_out_for_each_request(
    endpoint: Endpoint, slots: SlotCache, options: dict[str, Any]
) -> None:
    asker = ["c1"]
    litellm.cache = SlotcacheCache(slots, scope=lambda: Scope(customer=asker[0]))
    for customer, entries in (("c1", 1), ("c2", 2), ("c1", 2)):
        asker[0] = customer
        litellm.completion(**options, **request("cancel mine"))
        settle(slots, entries)
    assert len(endpoint.seen) == 2


def test_litellm_example_runs_and_hits(
    slots: SlotCache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    after = "cancel_order(timing=post_shipment)"
    parser = ScriptedParser(
        {
            "can i cancel my order after it ships?": after,
            "hey, can i still cancel my order once its been shipped??": after,
            "can i cancel my order before it ships?": "cancel_order(timing=pre_shipment)",
        }
    )
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Parser, "load", lambda: parser)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    runpy.run_path(str(EXAMPLES / "litellm_cache.py"), run_name="__main__")
    assert "{'miss.not_found': 2, 'hit.learned': 1}" in capsys.readouterr().out
