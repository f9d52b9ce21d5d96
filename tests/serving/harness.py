"""An endpoint that does as it is told, and a proxy in front of it, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from slotcache.core import ParserLike
from slotcache.serving.app import Proxy
from slotcache.serving.config import Settings
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock, Recorder, ScriptedParser
from tests.cache.shells import READINGS

KEY = "sk-0123456789abcdef"
CHAT = "/v1/chat/completions"
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(slots=True)
class Seen:
    """A request that reached the endpoint."""

    method: str
    path: str
    query: bytes
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Script:
    """What the endpoint does with the next requests.

    Attributes:
        answer: Text of the answer, or a function of the request's body.
        finish: Reason for which the model stops.
        status: HTTP status; not 200 replies with `body`.
        body: A whole body in place of a completion.
        headers: Further response headers.
        delay: Seconds before the reply.
        pause: Seconds between the chunks of a stream.
        cut: Whether the connection breaks after the first half.
        hang: Whether nothing is ever replied.
        message: Further fields of the message or of one delta.
        done: Whether a stream ends with [DONE].
    """

    answer: str | Callable[[Any], str] = "Yes, until it ships."
    finish: str = "stop"
    status: int = 200
    body: bytes = b'{"error": {"message": "no"}}'
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    delay: float = 0.0
    pause: float = 0.0
    cut: bool = False
    hang: bool = False
    message: dict[str, Any] = field(default_factory=dict)
    done: bool = True


class Endpoint:
    """An OpenAI-like endpoint as an ASGI application.

    Attributes:
        script: What it does.
        seen: What it was asked.
        given_up: How many requests the other side gave up.
    """

    def __init__(self, **script: Any) -> None:
        self.script = Script(**script)
        self.seen: list[Seen] = []
        self.given_up = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for part in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{part}.complete"})
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        self.seen.append(Seen(scope["method"], scope["path"], scope.get("query_string", b""), headers, body))
        working = asyncio.ensure_future(self._reply(scope["path"], body, send))
        leaving = asyncio.ensure_future(self._left(receive))
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            self.given_up += 1
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)

    async def _left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _reply(self, path: str, body: bytes, send: Send) -> None:
        script = self.script
        await asyncio.sleep(3600 if script.hang else script.delay)
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            asked = {}
        stream = isinstance(asked, dict) and asked.get("stream") is True and script.status == 200
        chat = path.endswith("/chat/completions") and script.status == 200
        kind = b"text/event-stream" if stream and chat else b"application/json"
        start = {"type": "http.response.start", "status": script.status}
        pieces = self._pieces(asked, stream=stream) if chat else [script.body]
        headers = [(b"content-type", kind), *script.headers]
        if not stream:
            headers.append((b"content-length", str(len(b"".join(pieces))).encode()))
        await send(start | {"headers": headers})
        if script.cut:
            whole = b"".join(pieces)
            await send({"type": "http.response.body", "body": whole[: len(whole) // 2], "more_body": True})
            return
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if script.pause:
                await asyncio.sleep(script.pause)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _pieces(self, asked: Any, *, stream: bool) -> list[bytes]:
        script = self.script
        text = script.answer(asked) if callable(script.answer) else script.answer
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        head = {"id": "chatcmpl-real", "created": 1, "model": "m-2026"}
        if not stream:
            message = {"role": "assistant", "content": text, **script.message}
            choice = {"index": 0, "message": message, "finish_reason": script.finish}
            whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return [json.dumps(whole).encode()]
        head["object"] = "chat.completion.chunk"
        deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
        deltas += [({"content": word + " "}, None) for word in text.split(" ")[:-1]]
        deltas += [({"content": text.split(" ")[-1], **script.message}, None), ({}, script.finish)]
        made = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]
        if (asked.get("stream_options") or {}).get("include_usage"):
            made.append({**head, "choices": [], "usage": usage})
        lines = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in made]
        return [*lines, b"data: [DONE]\n\n"] if script.done else lines


class Bot:
    """A bot that talks to a proxy, which talks to an endpoint.

    Attributes:
        endpoint: The endpoint.
        proxy: The proxy.
        clock: The cache's clock.
        seen: Events of the cache.
        parser: What reads.
    """

    def __init__(
        self,
        settings: dict[str, Any] | None = None,
        *,
        parser: ParserLike | None = None,
        store: Store | None = None,
        endpoint: Endpoint | None = None,
        peer: str = "10.1.1.1",
        **options: Any,
    ) -> None:
        self.endpoint = endpoint or Endpoint()
        self.clock, self.seen = FakeClock(), Recorder()
        self.parser = parser or ScriptedParser(READINGS)
        self.settings = Settings.model_validate({"upstream": {"url": "http://endpoint/v1"}, **(settings or {})})
        self.proxy = Proxy(
            self.settings,
            self.parser,
            store if store is not None else MemoryStore(),
            observers=(self.seen,),
            clock=self.clock,
            transport=httpx.ASGITransport(self.endpoint),  # type: ignore[arg-type]
            **options,
        )
        self._peer = peer

    def client(self, key: str | None = KEY, *, peer: str | None = None) -> httpx.AsyncClient:
        """An HTTP client of the proxy with an API key."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = httpx.ASGITransport(self.proxy, client=(peer or self._peer, 4711))  # type: ignore[arg-type]
        return httpx.AsyncClient(transport=transport, base_url="http://proxy", headers=headers)

    async def ask(
        self,
        question: str = "can i cancel?",
        *,
        key: str | None = KEY,
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        peer: str | None = None,
        messages: list[dict[str, Any]] | None = None,
        **fields: Any,
    ) -> httpx.Response:
        """Ask a question."""
        body = {"model": "m", "messages": messages or [{"role": "user", "content": question}], **fields}
        async with self.client(key, peer=peer) as client:
            return await client.post(CHAT, json=body, headers=headers)

    async def close(self) -> None:
        """Let go of everything."""
        async with self.proxy.running():
            pass


def outcome(response: httpx.Response) -> tuple[str, str]:
    """Outcome and reason that a response tells."""
    return response.headers["x-slotcache-outcome"], response.headers["x-slotcache-reason"]


def text_of(response: httpx.Response) -> str:
    """The answer in a completion or in a stream of chunks."""
    if response.headers["content-type"].startswith("text/event-stream"):
        lines = [line[6:] for line in response.text.split("\n\n") if line.startswith("data: {")]
        chunks = [json.loads(line) for line in lines]
        return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"])
    return str(response.json()["choices"][0]["message"]["content"])
