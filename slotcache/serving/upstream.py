"""The way to the endpoint: requests go out as they came in, and replies come back as they are.

Bodies are never read into objects and written again, so what the endpoint gets is byte for byte what the bot sent, and
the other way round. Only headers that belong to one connection, and those meant for this proxy, are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

import httpx

from slotcache.serving.config import Upstream

RawHeaders = list[tuple[bytes, bytes]]

_HOP_BY_HOP: Final = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
OWN: Final = b"x-slotcache-"
"""Headers with this prefix are the proxy's."""


class UnreachableError(Exception):
    """The endpoint gave no reply: `status` is what the client is told, `reason` names what happened."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reply:
    """What the endpoint replies; `pieces` are its body, as encoded as it came."""

    status: int
    headers: RawHeaders
    pieces: AsyncIterator[bytes]

    def header(self, name: bytes) -> bytes:
        """A header's value; empty without it."""
        return next((value for known, value in self.headers if known == name), b"")


class UpstreamClient:
    """Asks the endpoint."""

    def __init__(self, settings: Upstream, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Make a client; `transport` replaces the network in tests."""
        self._base = settings.url
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(settings.idle, connect=settings.connect, pool=settings.connect),
            limits=httpx.Limits(
                max_connections=settings.connections, max_keepalive_connections=min(settings.connections, 100)
            ),
            proxy=settings.proxy,
            transport=transport,
            # The environment could name a proxy, or a file with passwords for the endpoint; only the operator does.
            trust_env=False,
            follow_redirects=False,
        )
        # Nothing is added to what the bot said.
        self._client.headers.clear()

    def url(self, path: str, query: bytes) -> httpx.URL | None:
        """Where a request to the proxy goes; None when the path leads out of the endpoint.

        Args:
            path: The path as it was sent, still encoded. `/v1` in front stands for the endpoint's base URL.
            query: The query as it was sent.
        """
        if ".." in unquote(unquote(path)).replace("\\", "/").split("/") or not path.startswith("/"):
            return None
        below = path[3:] if path == "/v1" or path.startswith("/v1/") else path
        try:
            return httpx.URL(self._base + below + (f"?{query.decode('ascii')}" if query else ""))
        except (httpx.InvalidURL, UnicodeDecodeError):
            return None

    @asynccontextmanager
    async def ask(
        self, method: str, url: httpx.URL, headers: RawHeaders, body: bytes | AsyncIterator[bytes]
    ) -> AsyncIterator[Reply]:
        """Send a request and give the reply; leaving the context gives up on what has not arrived.

        Raises:
            UnreachableError: there is no reply, or (while its pieces arrive) it broke off.
        """
        request = self._client.build_request(method, url, headers=headers, content=body)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise _unreachable(error) from None
        try:
            raw = [(name.lower(), value) for name, value in response.headers.raw]
            yield Reply(response.status_code, kept_headers(raw), _pieces(response))
        finally:
            with contextlib.suppress(httpx.HTTPError):
                await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in response.aiter_raw():
            yield piece
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise _unreachable(error) from None


def _unreachable(error: Exception) -> UnreachableError:
    timed_out = isinstance(error, httpx.TimeoutException)
    return UnreachableError(504 if timed_out else 502, type(error).__name__)


def kept_headers(headers: Iterable[tuple[bytes, bytes]], without: Collection[bytes] = ()) -> RawHeaders:
    """Headers (names in lower case) without those of one connection and without some more."""
    given = list(headers)
    named = {token.strip().lower() for name, value in given if name == b"connection" for token in value.split(b",")}
    return [
        (name, value)
        for name, value in given
        if not (name in _HOP_BY_HOP or name in named or name in without or name.startswith(OWN))
    ]
