"""One HTTP request and its response, over the bare ASGI interface.

The proxy is all about bytes that go through untouched and about clients that leave early; both are plainest here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any, Final, TypeVar

from slotcache.serving.upstream import RawHeaders

T = TypeVar("T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_JSON: Final = (b"content-type", b"application/json")
_LAST: Final = (b"connection", b"close")


class ClientGoneError(Exception):
    """The client closed the connection before it had its response."""


class Exchange:
    """A request and the response to it.

    Attributes:
        method: HTTP method.
        path: The path as it was sent, still encoded.
        query: The query as it was sent.
        headers: Names in lower case, and values.
        peer: Address of the client; None when it has none.
        status: Status of the response; 0 before it began.
        over: Whether the response is complete.
    """

    def __init__(
        self,
        scope: Mapping[str, Any],
        receive: Receive,
        send: Send,
        *,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take one request; while `closing` says so, responses tell the client to open another connection next time."""
        self.method: str = scope["method"]
        raw = scope.get("raw_path")
        self.path = raw.partition(b"?")[0].decode("latin-1") if raw else str(scope["path"])
        self.query: bytes = scope.get("query_string", b"")
        self.headers: RawHeaders = scope["headers"]
        client = scope.get("client")
        self.peer: str | None = client[0] if client else None
        self.status = 0
        self.over = False
        self._receive = receive
        self._send = send
        self._closing = closing

    def values(self, name: bytes) -> list[str]:
        """All values of a header."""
        return [value.decode("latin-1") for known, value in self.headers if known == name]

    async def read(self, *, most: int, seconds: float) -> bytes | None:
        """The whole body, or None when it is longer than `most` bytes.

        Raises:
            TimeoutError: it did not arrive within so many seconds.
            ClientGoneError: the client left.
        """
        declared = self.values(b"content-length")
        if declared and declared[0].isdecimal() and int(declared[0][:20]) > most:
            return None
        pieces: list[bytes] = []
        size = 0
        async with asyncio.timeout(seconds):
            while True:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > most:
                    return None
                if not message.get("more_body", False):
                    return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def unless_gone(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something that is given up when the client leaves.

        Raises:
            ClientGoneError: the client left first.
        """
        working, gone = asyncio.ensure_future(work), asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            raise ClientGoneError
        finally:
            for task in (working, gone):
                task.cancel()
            await asyncio.gather(working, gone, return_exceptions=True)

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: RawHeaders) -> None:
        """Begin the response."""
        self.status = status
        if self._closing() and _LAST not in headers:
            headers = [*headers, _LAST]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def piece(self, body: bytes) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def finish(self) -> None:
        """End the response."""
        self.over = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def respond(self, status: int, headers: RawHeaders, body: bytes) -> None:
        """Send a whole response."""
        await self.start(status, [*headers, (b"content-length", str(len(body)).encode())])
        self.over = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def json(self, status: int, body: Any, headers: RawHeaders | None = None) -> None:
        """Send a JSON document."""
        await self.respond(status, [_JSON, *(headers or [])], json.dumps(body).encode())

    async def error(self, status: int, code: str, message: str, headers: RawHeaders | None = None) -> None:
        """Send an error in the form that OpenAI's clients understand."""
        body = {"error": {"message": f"slotcache: {message}", "type": "slotcache_error", "param": None, "code": code}}
        await self.json(status, body, headers)
