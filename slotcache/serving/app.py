"""The proxy as an ASGI application: chat completions through the cache, everything else straight on.

POST /v1/chat/completions       answered from the cache, or by the endpoint
any other path                  handed on and counted
GET  /healthz /readyz /metrics  for the machine that watches
/slotcache/...                  for operators; see `slotcache.serving.operators`
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final

import httpx

from slotcache.aio import AsyncSlotCache
from slotcache.core import ParserLike
from slotcache.errors import Bypass, Unsupported
from slotcache.events import Decision, Event, Observer, Trouble
from slotcache.serving.chat import Chat, unsupported_headers
from slotcache.serving.config import Settings
from slotcache.serving.exchange import ClientGoneError, Exchange, Receive, Send
from slotcache.serving.identity import Identities
from slotcache.serving.logs import intent_of, say
from slotcache.serving.metrics import Metrics
from slotcache.serving.operators import Operators
from slotcache.serving.relay import Relay
from slotcache.serving.tracing import Span, Tracing
from slotcache.serving.upstream import UpstreamClient
from slotcache.stores.base import Store

CHAT_PATHS: Final = frozenset(("/v1/chat/completions", "/chat/completions"))
_RETRY_SECONDS: Final = 30.0
_SWEEP_SECONDS: Final = 60.0


class Proxy:
    """The application. Make one per process; it owns its cache and its connections.

    Attributes:
        metrics: What Prometheus is told.
        cache: The cache behind it.
        draining: Whether it is about to stop, so that `/readyz` says no.
    """

    def __init__(
        self,
        settings: Settings,
        parser: ParserLike,
        store: Store,
        *,
        observers: Iterable[Observer] = (),
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
        transport: httpx.AsyncBaseTransport | None = None,
        metrics: Metrics | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        """Wire a proxy.

        Args:
            settings: The configuration.
            parser: Reads questions; a `ParserHost` where it may be missing.
            store: Where answers live.
            observers: Told of everything that happens in the cache, beside the metrics.
            clock: Seconds since the epoch.
            timer: Seconds of a clock that is never set.
            transport: Replaces the network towards the endpoint, for tests.
            metrics: Counts; made when None.
            tracing: Makes spans; made when None.
        """
        self.metrics = metrics if metrics is not None else Metrics()
        self.draining = False
        self.cache = AsyncSlotCache(
            parser,
            store,
            policy=settings.policy(),
            observers=(self.metrics, _say_trouble, *observers),
            clock=clock,
            timer=timer,
            memory=settings.limits.remembered,
        )
        self._settings = settings
        self._parser = parser
        self._timer = timer
        self._tracing = tracing if tracing is not None else Tracing()
        self._identities = Identities(settings)
        self._upstream = UpstreamClient(settings.upstream, transport=transport)
        self._relay = Relay(
            self._upstream,
            settings.upstream,
            settings.limits,
            self.metrics,
            self._tracing,
            own_headers=self._identities.own_headers,
            timer=timer,
        )
        self._chat = Chat(settings, self.cache, self._relay, self.metrics, clock=clock, timer=timer)
        self._operators = Operators(settings, self.cache, self.metrics, self._identities, lambda: self.draining)
        self._running = 0
        self.metrics.parser_loaded.set_function(lambda: float(self._operators.parser_loaded))

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection of the server, as ASGI has it."""
        if scope["type"] == "http":
            await self._serve(Exchange(scope, receive, send, closing=lambda: self.draining))
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self.running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Do what has to be done beside serving, and let go of everything in the end."""
        tasks = [asyncio.create_task(self._look_after_parser()), asyncio.create_task(self._sweep())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._upstream.aclose()
            await self.cache.aclose()

    def reload(self) -> bool:
        """Use the model files as they are now; whether that worked. It takes a second or two."""
        return self._operators.reload()

    async def _look_after_parser(self) -> None:
        """Try again while there is no parser, so that a repaired model is used without anybody's help."""
        while True:
            await asyncio.sleep(_RETRY_SECONDS)
            if not self._operators.parser_loaded:
                await asyncio.to_thread(self.reload)

    async def _sweep(self) -> None:
        """Take expired answers out of the store now and then, and let the metrics tell what it holds."""
        core = self.cache.core
        while True:
            counts = await asyncio.to_thread(core.reach, core.store.counts)
            if counts is not None:
                self.metrics.holds(counts)
            await asyncio.sleep(_SWEEP_SECONDS)
            await asyncio.to_thread(core.reach, lambda: core.store.sweep(core.clock()))

    async def _serve(self, exchange: Exchange) -> None:
        if self._operators.takes(exchange):
            with contextlib.suppress(ClientGoneError, TimeoutError):
                await self._operators.answer(exchange)
            return
        started = self._timer()
        self._running += 1
        self.metrics.running.inc()
        told: dict[str, object] = {}
        try:
            with self._tracing.server("slotcache request", exchange.headers) as span:
                told = await self._answer_unless_gone(exchange)
                _describe(span, told)
        finally:
            self._running -= 1
            self.metrics.running.dec()
            seconds = self._timer() - started
            self.metrics.observe("hit" if told.get("outcome") == "hit" else "miss", seconds)
            if self._settings.logs.requests:
                if not self._settings.logs.text:
                    told.pop("text", None)
                say("request", told, status=exchange.status or None, ms=round(1000 * seconds, 2))

    async def _answer_unless_gone(self, exchange: Exchange) -> dict[str, object]:
        try:
            return await self._answer(exchange)
        except ClientGoneError:
            self.metrics.gone.inc()
            return {"outcome": "client_gone"}
        except TimeoutError:
            await self._turn_away(exchange, 408, "upload_timeout", "the request did not arrive in time")
            return {"outcome": "refused"}

    async def _answer(self, exchange: Exchange) -> dict[str, object]:
        limits = self._settings.limits
        if self._running > limits.concurrency:
            await self._turn_away(exchange, 503, "busy", "too many requests at the same time")
            return {"outcome": "refused"}
        body = await exchange.read(most=limits.body, seconds=limits.upload)
        if body is None:
            await self._turn_away(exchange, 413, "body_too_large", f"a body may have {limits.body} bytes")
            return {"outcome": "refused"}
        who = self._identities.of(exchange.headers, exchange.peer)
        if who.doubted:
            self.metrics.doubted.inc()
            say("untrusted header", level=logging.WARNING, caller=who.name or None)
        if who.rejected:
            await self._turn_away(exchange, 401, "unknown_caller", "this API key is not known here")
            return {"outcome": "refused"}
        if exchange.method != "POST" or exchange.path not in CHAT_PATHS:
            return await self._straight_on(exchange, body)
        try:
            told = await self._chat.answer(exchange, body, who)
        except (ClientGoneError, asyncio.CancelledError):
            raise
        except Exception as error:  # whatever is wrong here, the bot gets its answer
            self.metrics.trouble.labels("proxy").inc()
            say("internal error", level=logging.ERROR, error=error)
            if exchange.status != 0:
                return {"outcome": "broken"}
            told = await self._straight_on(exchange, body, Unsupported.UNKNOWN_SHAPE)
        return {"caller": who.name or None, **told}

    async def _straight_on(
        self, exchange: Exchange, body: bytes, why: Unsupported = Unsupported.OTHER_PATH
    ) -> dict[str, object]:
        self.metrics.unsupported.labels(why.value).inc()
        await self._relay.send(exchange, body, unsupported_headers(why))
        return {
            "outcome": Decision.BYPASS.value,
            "reason": Bypass.REQUEST_UNSUPPORTED.value,
            "detail": why.value,
        }

    async def _turn_away(self, exchange: Exchange, status: int, code: str, message: str) -> None:
        self.metrics.refused.labels(code).inc()
        if exchange.status == 0:
            headers = [(b"retry-after", b"1")] if status == 503 else []
            await exchange.error(status, code, message, [*headers, (b"connection", b"close")])


def _describe(span: Span, told: Mapping[str, object]) -> None:
    """Note what became of a request, without anything that a customer wrote."""
    for name in ("outcome", "reason", "detail"):
        if told.get(name) is not None:
            span.set_attribute(f"slotcache.{name}", told[name])
    if "key" in told:
        key = told["key"]
        span.set_attribute("slotcache.intent", intent_of(key if isinstance(key, str) else None))


def _say_trouble(event: Event) -> None:
    """Log what the cache noticed and no customer did."""
    if isinstance(event, Trouble):
        say("trouble", level=logging.WARNING, where=event.where, error_type=event.error)
