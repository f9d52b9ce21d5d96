"""Hands a request on to the endpoint and the reply back to the client, and reads the answer as it passes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from typing import Final

import httpx

from slotcache.answers import Answer
from slotcache.serving.config import Limits, Upstream
from slotcache.serving.exchange import Exchange
from slotcache.serving.logs import say
from slotcache.serving.metrics import Metrics
from slotcache.serving.replies import FAILED, FREE, INCOMPLETE, Prices, StreamReader, read_completion
from slotcache.serving.tracing import Tracing
from slotcache.serving.upstream import RawHeaders, Reply, UnreachableError, UpstreamClient, kept_headers

_REQUEST_ONLY: Final = frozenset((b"host", b"content-length", b"expect"))
_IDENTITY: Final = (b"", b"identity")


class Relay:
    """The way to the endpoint and back."""

    def __init__(
        self,
        upstream: UpstreamClient,
        settings: Upstream,
        limits: Limits,
        metrics: Metrics,
        tracing: Tracing,
        *,
        own_headers: Collection[bytes] = (),
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Wire a relay; `own_headers` are request headers that are meant for the proxy and go no further."""
        self._upstream = upstream
        self._total = settings.total
        self._limits = limits
        self._metrics = metrics
        self._tracing = tracing
        self._without = _REQUEST_ONLY | frozenset(own_headers)
        self._timer = timer

    async def send(
        self,
        exchange: Exchange,
        body: bytes,
        headers: RawHeaders,
        *,
        chat: bool = False,
        prices: Prices = FREE,
    ) -> Answer:
        """Do all of that for one request; gives the answer that the client read, if it was one.

        The client always gets the reply as it is, or an error in its place. When the reply breaks off, so does the
        response: nobody is told that it was whole.

        Args:
            exchange: The request.
            body: Its body.
            headers: What the response says about the cache.
            chat: Whether the reply is a chat completion.
            prices: What the model costs.

        Raises:
            ClientGoneError: the client left, and the endpoint was told by closing the connection.
        """
        url = self._upstream.url(exchange.path, exchange.query)
        if url is None:
            await exchange.error(404, "no_such_path", "this path leads out of the endpoint", headers)
            return FAILED
        sent = kept_headers(exchange.headers, self._without)
        if chat:
            # What is to be read as it passes must not be compressed; the bot gets it plain, as HTTP allows.
            sent = [pair for pair in sent if pair[0] != b"accept-encoding"] + [(b"accept-encoding", b"identity")]
        started = self._timer()
        try:
            with self._tracing.client("slotcache upstream", sent) as traced:
                async with asyncio.timeout(self._total):
                    said = await exchange.unless_gone(self._pass(exchange, url, traced, body, headers, prices, chat))
        except (UnreachableError, TimeoutError) as error:
            said = await self._failed(exchange, error, headers)
        finally:
            self._metrics.observe("upstream", self._timer() - started)
        if chat:
            self._metrics.spend(said.tokens_in, said.tokens_out, said.cost)
        return said

    async def _pass(
        self,
        exchange: Exchange,
        url: httpx.URL,
        sent: RawHeaders,
        body: bytes,
        headers: RawHeaders,
        prices: Prices,
        chat: bool,
    ) -> Answer:
        started = self._timer()
        async with self._upstream.ask(exchange.method, url, sent, body) as reply:
            self._metrics.observe("upstream_first", self._timer() - started)
            self._metrics.replies.labels(f"{reply.status // 100}xx").inc()
            await exchange.start(reply.status, [*reply.headers, *headers])
            readable = chat and reply.status == 200 and reply.header(b"content-encoding").lower() in _IDENTITY
            said = await (self._read(exchange, reply, prices) if readable else self._copy(exchange, reply))
        await exchange.finish()
        return said

    async def _copy(self, exchange: Exchange, reply: Reply) -> Answer:
        async for piece in reply.pieces:
            await exchange.piece(piece)
        return FAILED

    async def _read(self, exchange: Exchange, reply: Reply, prices: Prices) -> Answer:
        if reply.header(b"content-type").lower().startswith(b"text/event-stream"):
            stream = StreamReader(most=self._limits.answer, prices=prices)
            async for piece in reply.pieces:
                stream.feed(piece)
                await exchange.piece(piece)
            return stream.answer()
        pieces: list[bytes] = []
        size = 0
        # JSON writes a character in up to six bytes, and wraps the text in some more.
        most = 6 * self._limits.answer + 10_000
        async for piece in reply.pieces:
            size += len(piece)
            if size <= most:
                pieces.append(piece)
            await exchange.piece(piece)
        return read_completion(b"".join(pieces), prices) if size <= most else INCOMPLETE

    async def _failed(self, exchange: Exchange, error: UnreachableError | TimeoutError, headers: RawHeaders) -> Answer:
        status, reason = (error.status, error.reason) if isinstance(error, UnreachableError) else (504, "TotalTimeout")
        self._metrics.failures.labels(reason).inc()
        say("upstream failed", level=logging.WARNING, reason=reason, begun=exchange.status != 0)
        if exchange.status == 0:
            told = "the endpoint did not answer in time" if status == 504 else "the endpoint cannot be reached"
            await exchange.error(status, "upstream_unreachable", f"{told} ({reason})", headers)
        return FAILED
