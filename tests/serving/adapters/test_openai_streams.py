"""Streams of the `openai` adapter that ask the same at the same time share one call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.events import Outcome
from slotcache.serving.adapters.openai import wrap
from slotcache.stores.memory import MemoryStore
from slotcache.testing import ScriptedParser
from tests.cache.shells import READINGS
from tests.e2e.servers import endpoint_at
from tests.serving.harness import Endpoint

ONE, OTHER = "can i cancel?", "may i call it off?"
ANSWER = "Yes, until it ships."


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Endpoint, str]]:
    endpoint = Endpoint()
    with endpoint_at(endpoint) as url:
        yield endpoint, url


@pytest.fixture
def endpoint(served: tuple[Endpoint, str]) -> Endpoint:
    made = served[0]
    made.seen.clear()
    made.script = type(made.script)(delay=0.1)
    return made


@pytest.fixture
def cache() -> SlotCache:
    return SlotCache(ScriptedParser(READINGS), MemoryStore())


@pytest.fixture
def real(served: tuple[Endpoint, str]) -> Iterator[OpenAI]:
    with OpenAI(api_key="sk-0123456789abcdef", base_url=served[1], max_retries=0) as made:
        yield made


@pytest.fixture
async def real_async(served: tuple[Endpoint, str]) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key="sk-0123456789abcdef", base_url=served[1], max_retries=0) as made:
        yield made


def request(question: str = ONE, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": question}], "stream": True, **fields}


def joined(chunks: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def joined_async(stream: Any) -> str:
    return joined([chunk async for chunk in stream])


def test_openai_streams_of_several_threads_share_a_call(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    told: list[Outcome] = []
    client = wrap(real, cache, tell=told.append)
    with ThreadPoolExecutor(5) as pool:
        texts = list(pool.map(lambda _: joined(client.chat.completions.create(**request())), range(5)))
    assert (texts, len(endpoint.seen), sum(outcome.coalesced for outcome in told)) == ([ANSWER] * 5, 1, 4)


def test_openai_stream_and_whole_share_a_call(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    client = wrap(real, cache)
    stream = client.chat.completions.create(**request())
    whole = client.chat.completions.create(**request(OTHER, stream=False))
    assert (whole.choices[0].message.content, joined(stream), len(endpoint.seen)) == (ANSWER, ANSWER, 1)


def test_openai_streams_that_nobody_reads_yet_keep_nobody_waiting(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache
) -> None:
    client = wrap(real, cache)
    streams = [client.chat.completions.create(**request(question)) for question in (ONE, OTHER)]
    assert ([joined(stream) for stream in reversed(streams)], len(endpoint.seen)) == ([ANSWER] * 2, 1)


async def test_openai_async_streams_share_a_call(endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache) -> None:
    client = wrap(real_async, AsyncSlotCache.over(cache))
    streams = await asyncio.gather(*(client.chat.completions.create(**request()) for _ in range(5)))
    texts = [await joined_async(stream) for stream in streams]
    assert (texts, len(endpoint.seen), cache.stats()["coalesced"]) == ([ANSWER] * 5, 1, 4)


async def test_openai_async_stream_that_is_left_early_frees_the_key(
    endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache
) -> None:
    endpoint.script.pause = 0.1
    client = wrap(real_async, AsyncSlotCache.over(cache))
    async with await client.chat.completions.create(**request()) as stream:
        await anext(stream)
    endpoint.script.pause = 0.0
    assert await joined_async(await client.chat.completions.create(**request())) == ANSWER
    assert (len(endpoint.seen), cache.stats()["stored"]) == (2, 1)


async def test_openai_async_caller_who_is_cancelled_frees_the_key(
    endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache
) -> None:
    endpoint.script.hang = True
    client = wrap(real_async, AsyncSlotCache.over(cache))
    asking = asyncio.create_task(client.chat.completions.create(**request()))
    while not endpoint.seen:
        await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    endpoint.script.hang = False
    assert await joined_async(await client.chat.completions.create(**request())) == ANSWER


def test_openai_stream_error_of_the_endpoint_is_raised_at_once(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache
) -> None:
    endpoint.script.status = 429
    with pytest.raises(openai.RateLimitError):
        wrap(real, cache).chat.completions.create(**request())


async def test_openai_async_stream_error_of_the_endpoint_is_raised_at_once(
    endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache
) -> None:
    endpoint.script.status = 429
    with pytest.raises(openai.RateLimitError):
        await wrap(real_async, AsyncSlotCache.over(cache)).chat.completions.create(**request())


def test_openai_stream_that_breaks_off_breaks_off_here_too(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    endpoint.script.cut = True
    stream = wrap(real, cache).chat.completions.create(**request())
    with pytest.raises((httpx.HTTPError, openai.APIError)):
        joined(stream)
    assert not cache.get(ONE, Scope(model="m")).hit


async def test_openai_async_stream_that_breaks_off_breaks_off_here_too(
    endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache
) -> None:
    endpoint.script.cut = True
    stream = await wrap(real_async, AsyncSlotCache.over(cache)).chat.completions.create(**request())
    with pytest.raises((httpx.HTTPError, openai.APIError)):
        await joined_async(stream)
    assert not cache.get(ONE, Scope(model="m")).hit
