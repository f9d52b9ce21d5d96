from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.errors import ConfigurationError
from slotcache.events import Outcome
from slotcache.policy import Directives, Policy
from slotcache.serving.adapters.openai import wrap
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock, ScriptedParser
from tests.cache.shells import READINGS
from tests.e2e.servers import endpoint_at, proxy_at
from tests.serving.harness import Endpoint

ONE, OTHER = "can i cancel?", "may i call it off?"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Endpoint, str]]:
    endpoint = Endpoint()
    with endpoint_at(endpoint) as url:
        yield endpoint, url


@pytest.fixture
def endpoint(served: tuple[Endpoint, str]) -> Endpoint:
    made = served[0]
    made.seen.clear()
    made.script = type(made.script)()
    return made


@pytest.fixture
def cache() -> SlotCache:
    return SlotCache(ScriptedParser(READINGS), MemoryStore(), clock=FakeClock())


@pytest.fixture
def real(served: tuple[Endpoint, str]) -> Iterator[OpenAI]:
    with OpenAI(api_key="sk-0123456789abcdef", base_url=served[1], max_retries=0) as made:
        yield made


@pytest.fixture
async def real_async(served: tuple[Endpoint, str]) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key="sk-0123456789abcdef", base_url=served[1], max_retries=0) as made:
        yield made


def request(question: str = ONE, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": question}], **fields}


def joined(stream: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def test_openai_second_wording_is_answered_without_a_call(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    told: list[Outcome] = []
    client = wrap(real, cache, tell=told.append)
    replies = [client.chat.completions.create(**request(question)) for question in (ONE, OTHER)]
    assert [reply.choices[0].message.content for reply in replies] == ["Yes, until it ships."] * 2
    assert ([outcome.decision for outcome in told], len(endpoint.seen)) == (["miss", "hit"], 1)
    assert replies[1].id == f"chatcmpl-{told[1].hit_id}"


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
def test_openai_stream_and_whole_serve_each_other(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache, first: bool, second: bool
) -> None:
    client = wrap(real, cache)
    texts = []
    for stream in (first, second):
        reply = client.chat.completions.create(**request(stream=stream))
        texts.append(joined(reply) if stream else reply.choices[0].message.content)
    assert (texts, len(endpoint.seen)) == (["Yes, until it ships."] * 2, 1)


def test_openai_stream_that_is_left_early_is_not_kept(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    endpoint.script.pause = 0.1
    client = wrap(real, cache)
    with client.chat.completions.create(**request(stream=True)) as stream:
        next(stream)
    assert joined(client.chat.completions.create(**request(OTHER, stream=True))) == "Yes, until it ships."
    assert len(endpoint.seen) == 2


def test_openai_stream_hit_can_be_used_as_a_context(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    client = wrap(real, cache)
    client.chat.completions.create(**request())
    options = {"include_usage": True}
    with client.chat.completions.create(**request(stream=True, stream_options=options)) as stream:
        chunks = list(stream)
    assert (chunks[-1].usage.total_tokens, chunks[-2].choices[0].finish_reason) == (0, "stop")


async def test_openai_async_whole_and_stream(endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache) -> None:
    client = wrap(real_async, AsyncSlotCache.over(cache))
    first = await client.chat.completions.create(**request())
    stream = await client.chat.completions.create(**request(OTHER, stream=True))
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert (text, len(endpoint.seen)) == (first.choices[0].message.content, 1)


async def test_openai_async_stream_fills(endpoint: Endpoint, real_async: AsyncOpenAI, cache: SlotCache) -> None:
    client = wrap(real_async, AsyncSlotCache.over(cache))
    async with await client.chat.completions.create(**request(stream=True)) as stream:
        assert len([chunk async for chunk in stream]) > 3
    assert cache.get(OTHER, Scope(model="m")).answer == "Yes, until it ships."


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"response_format": {"type": "json_object"}},
        {"n": 2},
        {"temperature": 1.5},
        {"extra_body": {"top_secret": 1}},
        {"seed": 1},
    ],
)
def test_openai_unsupported_request_goes_to_the_endpoint(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache, fields: dict[str, Any]
) -> None:
    told: list[Outcome] = []
    client = wrap(real, cache, tell=told.append)
    for _ in range(2):
        client.chat.completions.create(**request(**fields))
    assert (len(endpoint.seen), {outcome.decision for outcome in told}) == (2, {"bypass"})
    assert told[0].reason.startswith("request_unsupported.")


@pytest.mark.parametrize(
    "other",
    [
        {"model": "m2"},
        {"temperature": 0.1},
        {"extra_body": {"top_k": 5}},
        {"extra_query": {"api-version": "1"}},
        {"messages": [{"role": "system", "content": "You are somebody else."}, {"role": "user", "content": ONE}]},
    ],
)
def test_openai_what_changes_the_answer_separates(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache, other: dict[str, Any]
) -> None:
    client = wrap(real, cache)
    client.chat.completions.create(**request())
    client.chat.completions.create(**{**request(), **other})
    assert len(endpoint.seen) == 2


def test_openai_askers_are_told_apart(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    client = wrap(real, cache)
    for customer in ("c1", "c2", "c1"):
        asker = client.with_scope(Scope(tenant="acme", customer=customer))
        asker.chat.completions.create(**request("cancel mine"))
    assert len(endpoint.seen) == 2


def test_openai_asker_can_tighten(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    client = wrap(real, cache).with_scope(Scope(), directives=Directives(no_cache=True))
    for _ in range(2):
        client.chat.completions.create(**request())
    assert len(endpoint.seen) == 2


def test_openai_messages_may_be_the_clients_own_objects_or_an_iterator(
    endpoint: Endpoint, real: OpenAI, cache: SlotCache
) -> None:
    policy = Policy(self_contained_context=True)
    client = wrap(real, SlotCache(cache.core.parser, cache.core.store, policy=policy, clock=FakeClock()))
    first = client.chat.completions.create(**request())
    messages: list[Any] = [{"role": "user", "content": ONE}, first.choices[0].message, {"role": "user", "content": ONE}]
    reply = client.chat.completions.create(model="m", messages=iter(messages))
    assert (reply.choices[0].message.content, len(endpoint.seen)) == ("Yes, until it ships.", 1)


def test_openai_error_of_the_endpoint_is_the_clients_own(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    endpoint.script.status = 429
    client = wrap(real, cache)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**request())
    assert not cache.get(ONE, Scope(model="m")).hit


def test_openai_everything_else_is_the_client(endpoint: Endpoint, real: OpenAI, cache: SlotCache) -> None:
    client = wrap(real, cache)

    class Shape(BaseModel):
        a: int = 0

    endpoint.script.answer = '{"a": 5}'
    parsed = client.chat.completions.parse(**request(), response_format=Shape)
    assert (parsed.choices[0].message.parsed.a, client.api_key) == (5, real.api_key)


def test_openai_client_and_cache_are_of_one_kind(real: OpenAI, cache: SlotCache) -> None:
    with pytest.raises(ConfigurationError, match="AsyncSlotCache"):
        wrap(real, AsyncSlotCache.over(cache))


def test_openai_client_that_points_at_the_proxy_needs_no_adapter(
    endpoint: Endpoint, served: tuple[Endpoint, str]
) -> None:

    with proxy_at(served[1]) as front, OpenAI(api_key="sk-0123456789abcdef", base_url=front.url) as client:
        whole = client.chat.completions.create(**request())
        stream = client.chat.completions.create(**request(OTHER, stream=True, stream_options={"include_usage": True}))
        raw: httpx.Headers = stream.response.headers
        text = joined(stream)
    assert (text, len(endpoint.seen)) == (whole.choices[0].message.content, 1)
    assert raw["x-slotcache-outcome"] == "hit"
