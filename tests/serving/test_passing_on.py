"""What is handed on as it is: other paths, unsupported requests, and what the proxy turns away itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from slotcache.serving.config import Upstream
from slotcache.serving.tokens import hash_token
from slotcache.serving.upstream import UpstreamClient, kept_headers
from tests.serving.harness import CHAT, Bot, Endpoint, outcome
from tests.serving.test_requests import UNSUPPORTED

Make = Callable[..., Bot]


@pytest.mark.parametrize(
    ("method", "path", "arrives"),
    [
        ("POST", "/v1/responses", "/v1/responses"),
        ("POST", "/v1/embeddings", "/v1/embeddings"),
        ("GET", "/v1/models", "/v1/models"),
        ("GET", "/v1/models/a%2Fb", "/v1/models/a/b"),
        ("DELETE", "/v1/files/1", "/v1/files/1"),
        ("GET", "/v1/chat/completions", "/v1/chat/completions"),
        ("POST", "/elsewhere", "/v1/elsewhere"),
    ],
)
async def test_passing_on_other_path(bot: Bot, method: str, path: str, arrives: str) -> None:
    bot.endpoint.script.status, bot.endpoint.script.body = 201, b'{"a":  1}'
    async with bot.client() as client:
        response = await client.request(method, f"{path}?b=%20c&d", content=b"\x00raw")
    (seen,) = bot.endpoint.seen
    assert (seen.method, seen.path, seen.query, seen.body) == (method, arrives, b"b=%20c&d", b"\x00raw")
    assert (response.status_code, response.content) == (201, b'{"a":  1}')
    assert response.headers["x-slotcache-detail"] == "other_path"


@pytest.mark.parametrize(("body", "why"), UNSUPPORTED)
async def test_passing_on_unsupported_request_is_a_counted_bypass(bot: Bot, body: Any, why: str) -> None:
    raw = json.dumps(body).encode()
    async with bot.client() as client:
        responses = [await client.post(CHAT, content=raw) for _ in range(2)]
    assert [outcome(response) for response in responses] == [("bypass", "request_unsupported")] * 2
    assert [seen.body for seen in bot.endpoint.seen] == [raw, raw]
    assert bot.proxy.metrics.unsupported.labels(why)._value.get() == 2


@pytest.mark.parametrize("raw", [b"", b"nonsense", b"[]", b"\xff\xfe", b'{"model": "m"}', b"[" * 50_000])
async def test_passing_on_what_is_no_request_lets_the_endpoint_say_so(bot: Bot, raw: bytes) -> None:
    bot.endpoint.script.status = 400
    async with bot.client() as client:
        response = await client.post(CHAT, content=raw)
    assert (response.status_code, bot.endpoint.seen[0].body) == (400, raw)


async def test_passing_on_unknown_caller_bypasses(make_bot: Make) -> None:
    callers = [{"name": "a", "tenant": "t", "key": hash_token("k" * 20)}]
    bot = make_bot({"callers": callers})
    await bot.ask(key="k" * 20)
    assert (await bot.ask()).headers["x-slotcache-detail"] == "unknown_caller"


async def test_passing_on_unknown_caller_is_turned_away_where_wanted(make_bot: Make) -> None:
    bot = make_bot({"unknown_callers": "reject"})
    response = await bot.ask()
    assert (response.status_code, response.json()["error"]["code"], bot.endpoint.seen) == (401, "unknown_caller", [])


async def pieces(*sizes: int) -> AsyncIterator[bytes]:
    for size in sizes:
        yield b"x" * size


@pytest.mark.parametrize("content", [b"x" * 1_001, pieces(600, 600)], ids=["declared", "streamed"])
async def test_passing_on_body_that_is_too_large_is_turned_away(make_bot: Make, content: Any) -> None:
    bot = make_bot({"limits": {"body": 1_000}})
    async with bot.client() as client:
        response = await client.post(CHAT, content=content)
    assert (response.status_code, bot.endpoint.seen) == (413, [])


async def test_passing_on_body_as_large_as_allowed(make_bot: Make) -> None:
    bot = make_bot({"limits": {"body": 1_000}})
    async with bot.client() as client:
        await client.post("/v1/files", content=pieces(600, 400))
    assert len(bot.endpoint.seen[0].body) == 1_000


async def test_passing_on_nothing_beyond_the_concurrency(make_bot: Make) -> None:
    bot = make_bot({"limits": {"concurrency": 1}})
    bot.proxy._running = 1
    response = await bot.ask()
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/%252e%252e/admin", "/v1/..%5cadmin"])
async def test_passing_on_path_that_leads_out_of_the_endpoint_is_refused(path: str) -> None:
    client = UpstreamClient(Upstream(url="http://endpoint/v1"))
    assert client.url(path, b"") is None
    await client.aclose()


@pytest.mark.parametrize(
    ("base", "path", "query", "url"),
    [
        ("http://e/v1", "/v1/models", b"", "http://e/v1/models"),
        ("http://e/v1/", "/v1", b"", "http://e/v1"),
        ("http://e/openai/deployments/x", "/v1/chat/completions", b"api-version=1", None),
        ("http://e", "/v1x/models", b"", "http://e/v1x/models"),
        ("http://e/v1", "//evil.example/x", b"", "http://e/v1//evil.example/x"),
        ("http://e/v1", "/@evil.example/", b"", "http://e/v1/@evil.example/"),
    ],
)
async def test_passing_on_goes_below_the_base_url(base: str, path: str, query: bytes, url: str | None) -> None:
    client = UpstreamClient(Upstream(url=base))
    wanted = url or "http://e/openai/deployments/x/chat/completions?api-version=1"
    assert str(client.url(path, query)) == wanted
    await client.aclose()


def test_passing_on_headers_of_one_connection_stay_behind() -> None:
    headers = [
        (b"connection", b"close, X-Hop"),
        (b"x-hop", b"1"),
        (b"transfer-encoding", b"chunked"),
        (b"x-slotcache-outcome", b"forged"),
        (b"cookie", b"a"),
        (b"cookie", b"b"),
    ]
    assert kept_headers(headers) == [(b"cookie", b"a"), (b"cookie", b"b")]


async def test_passing_on_forged_outcome_of_the_endpoint_does_not_stand(make_bot: Make) -> None:
    bot = make_bot(endpoint=Endpoint(headers=[(b"X-Slotcache-Outcome", b"hit"), (b"X-Slotcache-Id", b"x")]))
    response = await bot.ask()
    assert (outcome(response)[0], "x-slotcache-id" in response.headers) == ("miss", False)


class Down(httpx.AsyncBaseTransport):
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (httpx.ConnectError("refused"), 502),
        (httpx.RemoteProtocolError("nonsense"), 502),
        (httpx.ConnectTimeout("slow"), 504),
        (httpx.ReadTimeout("hung"), 504),
        (httpx.PoolTimeout("busy"), 504),
    ],
)
@pytest.mark.parametrize("path", [CHAT, "/v1/models"])
async def test_passing_on_endpoint_without_a_reply_is_an_error_the_client_understands(
    bot: Bot, error: Exception, status: int, path: str
) -> None:
    bot.proxy._upstream._client._transport = Down(error)
    async with bot.client() as client:
        response = await client.post(
            path, json={"model": "m", "messages": [{"role": "user", "content": "can i cancel?"}]}
        )
    assert (response.status_code, response.json()["error"]["code"]) == (status, "upstream_unreachable")
    assert bot.proxy.metrics.failures.labels(type(error).__name__)._value.get() == 1
