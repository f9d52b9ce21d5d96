"""The proxy as a bot meets it: real sockets, streams that arrive piece by piece, and an endpoint that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from slotcache.events import Answered
from slotcache.stores.memory import MemoryStore
from slotcache.stores.redis import RedisStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeClock
from tests.cache.test_faults import FlakyStore
from tests.e2e.servers import Front, endpoint_at, proxy_at
from tests.servers import Server
from tests.serving.harness import KEY, Endpoint, outcome, text_of

pytestmark = pytest.mark.e2e
Start = Callable[..., tuple[Front, Endpoint]]


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(
            settings: dict[str, Any] | None = None, *, script: dict[str, Any] | None = None, **options: Any
        ) -> Any:
            endpoint = Endpoint(**(script or {}))
            url = stack.enter_context(endpoint_at(endpoint))
            front = stack.enter_context(proxy_at(url, settings, **options))
            return front, endpoint

        yield begin


def client(front: Front, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=front.url, headers={"Authorization": f"Bearer {KEY}"}, **{"timeout": 20.0, "limits": LIMITS, **options}
    )


LIMITS = httpx.Limits(max_connections=300)


def body(question: str = "can i cancel?", **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": question}], **fields}


def raw_request() -> bytes:
    """A whole request as it goes over the line."""
    asked = json.dumps(body()).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(asked), asked)


async def ask(front: Front, question: str = "can i cancel?", **fields: Any) -> httpx.Response:
    async with client(front) as bot:
        return await bot.post("/chat/completions", json=body(question, **fields))


async def test_proxy_stream_arrives_while_the_model_speaks(start: Start) -> None:
    front, endpoint = start(script={"pause": 0.02})
    loop = asyncio.get_running_loop()
    async with client(front) as bot, bot.stream("POST", "/chat/completions", json=body(stream=True)) as response:
        arrived = [loop.time() async for _ in response.aiter_raw()]
    assert len(arrived) >= 4
    assert outcome(await ask(front, "may i call it off?", stream=True)) == ("hit", "learned")
    assert len(endpoint.seen) == 1


async def test_proxy_client_that_leaves_cancels_the_call_and_frees_the_key(start: Start) -> None:
    front, endpoint = start(script={"hang": True})
    async with client(front, timeout=0.2) as bot:
        with pytest.raises(httpx.ReadTimeout):
            await bot.post("/chat/completions", json=body())
    async with asyncio.timeout(10):
        while endpoint.given_up == 0:
            await asyncio.sleep(0.005)
    await front.until("gone")
    endpoint.script.hang = False
    assert outcome(await ask(front)) == ("miss", "not_found")
    assert outcome(await ask(front)) == ("hit", "learned")


async def test_proxy_client_that_leaves_a_stream_cancels_the_call_and_nothing_is_kept(start: Start) -> None:
    front, endpoint = start(script={"pause": 0.1, "answer": "one two three four five six"})
    async with client(front) as bot, bot.stream("POST", "/chat/completions", json=body(stream=True)) as response:
        async for _ in response.aiter_raw():
            break
    async with asyncio.timeout(10):
        while endpoint.given_up == 0:
            await asyncio.sleep(0.005)
    endpoint.script.pause = 0.0
    assert outcome(await ask(front)) == ("miss", "not_found")


async def test_proxy_two_hundred_callers_on_one_key_make_one_call(start: Start) -> None:
    # Long enough that all of them wait, also on a slow machine; who comes later gets a hit.
    front, endpoint = start(script={"delay": 5.0})
    async with client(front) as bot:
        asked = (bot.post("/chat/completions", json=body(stream=number % 2 == 0)) for number in range(200))
        responses = await asyncio.gather(*asked)
    assert {text_of(response) for response in responses} == {"Yes, until it ships."}
    assert (len(endpoint.seen), front.counted("coalesced", "cancel_order")) == (1, 199)


async def test_proxy_two_hundred_callers_of_a_failing_endpoint_are_all_told(start: Start) -> None:
    front, _ = start(script={"status": 500, "body": b"no"})
    async with client(front) as bot:
        responses = await asyncio.gather(*(bot.post("/chat/completions", json=body()) for _ in range(200)))
    assert {(response.status_code, response.content) for response in responses} == {(500, b"no")}


@pytest.mark.parametrize("stream", [False, True])
async def test_proxy_reply_that_breaks_off_breaks_off_for_the_client_too(start: Start, stream: bool) -> None:
    front, endpoint = start(script={"cut": True})
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(front, stream=stream)
    endpoint.script.cut = False
    assert outcome(await ask(front)) == ("miss", "not_found")
    assert sum(event.outcome.not_stored is not None for event in front.seen.of(Answered)) == 1


async def test_proxy_hung_endpoint_is_given_up(start: Start) -> None:
    front, endpoint = start({"upstream": {"idle": 0.2}}, script={"hang": True})
    response = await ask(front)
    assert (response.status_code, response.json()["error"]["code"]) == (504, "upstream_unreachable")
    endpoint.script.hang = False
    assert (await ask(front)).status_code == 200


async def test_proxy_call_that_takes_too_long_in_all_is_given_up(start: Start) -> None:
    front, _ = start({"upstream": {"total": 0.3}}, script={"pause": 0.05, "answer": "a b c d e f g h i j k l m n"})
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(front, stream=True)
    assert front.counted("failures", "TotalTimeout") == 1


async def test_proxy_dead_endpoint_is_told_and_hits_go_on() -> None:
    endpoint, store = Endpoint(), MemoryStore()
    with endpoint_at(endpoint) as url, proxy_at(url, store=store) as front:
        await ask(front)
    with proxy_at(url, store=store) as front:
        dead, hit = await ask(front, "can i cancel after it ships?"), await ask(front)
    assert (dead.status_code, outcome(hit)) == (502, ("hit", "learned"))


async def test_proxy_slow_upload_is_turned_away(start: Start) -> None:
    front, endpoint = start({"limits": {"upload": 0.2}})

    url = httpx.URL(front.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    told = await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    await writer.wait_closed()
    assert (told.split()[1], endpoint.seen) == (b"408", [])


@pytest.mark.parametrize("sent", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nHos"], ids=["nothing", "half a head"])
async def test_proxy_connection_that_does_not_say_what_it_wants_is_closed(start: Start, sent: bytes) -> None:
    front, _ = start({"limits": {"upload": 0.2}})
    url = httpx.URL(front.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(sent)
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    await writer.wait_closed()
    assert front.counted("refused", "slow_head") == 1


async def test_proxy_half_a_head_after_a_request_is_closed_too_and_slow_models_are_waited_for(start: Start) -> None:
    front, _ = start({"limits": {"upload": 0.2}}, script={"delay": 0.6})
    url = httpx.URL(front.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(raw_request())
    told = await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)
    writer.write(raw_request()[:20])
    await asyncio.wait_for(reader.read(), 10)
    writer.close()
    await writer.wait_closed()
    assert (told.split()[1], front.counted("refused", "slow_head")) == (b"200", 1)


async def test_proxy_request_over_an_open_connection_is_answered_when_the_door_has_closed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slotcache.serving.server._LAST_REQUESTS", 1.5)
    front, _ = start()
    url = httpx.URL(front.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    front.server.should_exit = True
    # A door that closes refuses, or resets what stood in its queue.
    with contextlib.suppress(ConnectionRefusedError, ConnectionResetError):
        while True:
            _, late = await asyncio.open_connection(url.host, url.port)
            late.close()
            await late.wait_closed()
    writer.write(raw_request())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    writer.close()
    await writer.wait_closed()
    assert (head.split()[1], b"connection: close" in head.lower()) == (b"200", True)


async def test_proxy_store_that_goes_away_costs_calls_and_heals(start: Start) -> None:
    store = FlakyStore()
    front, _ = start({"rules": {"store_pause": 0.05}}, store=store)
    await ask(front)
    await front.until("stored", "learned")
    store.down = True
    told = [await ask(front) for _ in range(5)]
    assert {(response.status_code, outcome(response)) for response in told} == {(200, ("bypass", "store_unavailable"))}
    assert front.counted("trouble", "store") >= 1
    store.down = False
    await asyncio.sleep(0.06)
    assert outcome(await ask(front)) == ("hit", "learned")


async def test_proxy_sqlite_file_damaged_under_it_costs_calls(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite3"
    front, _ = start(store=SqliteStore(path))
    await ask(front)
    for file in (path, path.with_name("answers.sqlite3-wal")):
        if file.exists():
            with file.open("r+b") as opened:
                opened.write(b"\xff" * max(4096, file.stat().st_size))
    told = [await ask(front, question) for question in ("can i cancel?", "can i cancel after it ships?") * 3]
    assert {(response.status_code, text_of(response)) for response in told} == {(200, "Yes, until it ships.")}
    # The next process finds the damage at once, moves the file aside and says so.
    again, _ = start(store=SqliteStore(path))
    await again.until("store", "damaged")
    assert [outcome(await ask(again))[0] for _ in range(2)] == ["miss", "hit"]


async def test_proxy_sqlite_file_removed_under_it_costs_one_call_and_heals(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite3"
    front, _ = start(store=SqliteStore(path))
    await ask(front)
    await front.until("stored", "learned")
    for file in tmp_path.iterdir():
        file.unlink()
    told = [outcome(await ask(front))[0] for _ in range(3)]
    assert told == ["bypass", "miss", "hit"]
    assert front.counted("trouble", "store") >= 1
    assert SqliteStore(path).counts()["entries"] == 1


@pytest.mark.server
async def test_proxy_store_server_that_is_killed_costs_calls_and_heals(start: Start) -> None:
    server = Server().start()
    try:
        front, _ = start({"rules": {"store_pause": 0.05}}, store=RedisStore.from_url(server.url))
        await ask(front)
        await front.until("stored", "learned")
        server.kill()
        killed = [await ask(front) for _ in range(4)]
        assert {(response.status_code, outcome(response)) for response in killed} == {
            (200, ("bypass", "store_unavailable"))
        }
        server.start()
        async with asyncio.timeout(20):
            while outcome(await ask(front))[0] != "hit":
                await asyncio.sleep(0.05)
        assert front.counted("trouble", "store") >= 1
    finally:
        server.dispose()


async def test_proxy_clock_that_jumps_serves_nothing_too_old_or_from_the_future(start: Start) -> None:
    clock = FakeClock()
    front, _ = start({"rules": {"ttl": 60}}, clock=clock)
    told = []
    for stored, jump in ((1, 0), (1, 59), (2, 1), (3, -3600)):
        clock.advance(jump)
        told.append(outcome(await ask(front, "may i call it off?")))
        await front.until("stored", "learned", least=stored)
    assert told == [("miss", "not_found"), ("hit", "learned"), ("miss", "expired"), ("miss", "expired")]


async def test_proxy_metrics_and_schema_are_there(start: Start) -> None:
    front, _ = start()
    await ask(front)
    async with httpx.AsyncClient(base_url=front.url.removesuffix("/v1")) as machine:
        texts = [(await machine.get(path)).text for path in ("/metrics", "/slotcache/openapi.json")]
    assert "slotcache_lookups_total{" in texts[0]
    assert json.loads(texts[1])["info"]["title"] == "slotcache proxy"
