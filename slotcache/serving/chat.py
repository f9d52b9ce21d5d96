"""Answers chat completions from the cache, or hands them on to the endpoint and learns from the reply."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.errors import Bypass, ConfigurationError, NotStored, Unsupported
from slotcache.events import Decision, Outcome
from slotcache.policy import PLAIN
from slotcache.serving.addressing import Addresses
from slotcache.serving.config import Settings
from slotcache.serving.directives import read_directives
from slotcache.serving.exchange import Exchange
from slotcache.serving.identity import Identity
from slotcache.serving.logs import header_key, loggable_key
from slotcache.serving.metrics import Metrics
from slotcache.serving.relay import Relay
from slotcache.serving.replay import completion_bytes, stream_bytes
from slotcache.serving.replies import FREE, Prices
from slotcache.serving.requests import Asked, parse_body
from slotcache.serving.upstream import RawHeaders

_MILLION: Final = 1_000_000


class Chat:
    """The chat completions of one proxy."""

    def __init__(
        self,
        settings: Settings,
        cache: AsyncSlotCache,
        relay: Relay,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._cache = cache
        self._relay = relay
        self._metrics = metrics
        self._clock = clock
        self._timer = timer
        self._addresses = Addresses(settings.chat, public=settings.rules.public)
        self._epoch = settings.policy_epoch
        self._prices = {
            model: Prices(price.input / _MILLION, price.output / _MILLION) for model, price in settings.prices.items()
        }

    async def answer(self, exchange: Exchange, body: bytes, who: Identity) -> dict[str, object]:
        """Answer one request; gives what the log should say about it."""
        started = self._timer()
        asked = self._read(body) if who.known else Unsupported.UNKNOWN_CALLER
        scope = self._scope(asked, who, exchange.query) if isinstance(asked, Asked) else None
        wishes = [*exchange.values(b"cache-control"), *exchange.values(b"pragma")]
        directives = read_directives(wishes) if wishes else PLAIN
        self._metrics.observe("read", self._timer() - started)
        if isinstance(asked, Asked) and scope is None:
            asked = Unsupported.UNKNOWN_SHAPE
        if not isinstance(asked, Asked) or scope is None:
            assert isinstance(asked, Unsupported)
            return await self._unsupported(exchange, body, asked, only_if_cached=directives.only_if_cached)

        async def relay(outcome: Outcome) -> Answer:
            said = await self._relay.send(
                exchange, body, _headers(outcome), prices=self._prices.get(asked.model, FREE), chat=True
            )
            if said.text:
                self._addresses.note_said(asked, scope, self._cache.core, said.text)
            return await self._kept(said, asked, scope)

        outcome = await self._cache.get_or_relay(asked.question, relay, scope, directives=directives)
        if exchange.status == 0:
            await self._replay(exchange, asked, outcome)
            if outcome.answer is not None:
                self._addresses.note_said(asked, scope, self._cache.core, outcome.answer)
        return _told(outcome, asked)

    def _read(self, body: bytes) -> Asked | Unsupported:
        parsed = parse_body(body)
        if parsed is None:
            return Unsupported.UNKNOWN_SHAPE
        return self._addresses.read(parsed)

    def _scope(self, asked: Asked, who: Identity, query: bytes) -> Scope | None:
        """The scope of a request; None when an identifier in it is none."""
        try:
            base = Scope(
                tenant=who.tenant,
                customer=who.customer,
                locale=who.locale,
                prompt_version=who.prompt_version,
                policy_epoch=self._epoch,
            )
            return self._addresses.scope(asked, base, [("query", query.decode("latin-1"))] if query else ())
        except ConfigurationError:
            return None

    async def _unsupported(
        self, exchange: Exchange, body: bytes, why: Unsupported, *, only_if_cached: bool
    ) -> dict[str, object]:
        self._metrics.unsupported.labels(why.value).inc()
        headers = unsupported_headers(why)
        if only_if_cached:
            await _not_cached(exchange, headers)
        else:
            await self._relay.send(exchange, body, headers, chat=True)
        return {
            "outcome": Decision.BYPASS.value,
            "reason": Bypass.REQUEST_UNSUPPORTED.value,
            "detail": why.value,
        }

    async def _kept(self, said: Answer, asked: Asked, scope: Scope) -> Answer:
        """The answer with what forbids to keep it."""
        if said.not_kept is not None:
            return said
        why = await asyncio.to_thread(self._why_not_kept, asked, scope)
        return said if why is None else _forbidden(said, why)

    def _why_not_kept(self, asked: Asked, scope: Scope) -> NotStored | None:
        try:
            return self._addresses.why_not_kept(asked, scope, self._cache.core)
        except Exception as error:  # a parser that fails must not cost the customer the answer that is there
            self._cache.core.trouble("parser", error)
            return NotStored.NOT_FILLABLE

    async def _replay(self, exchange: Exchange, asked: Asked, outcome: Outcome) -> None:
        headers = _headers(outcome)
        if outcome.answer is None:
            await _not_cached(exchange, headers)
            return
        reply_id, created = f"chatcmpl-{outcome.hit_id}", int(self._clock())
        if asked.stream:
            made = stream_bytes(
                outcome.answer, reply_id=reply_id, model=asked.model, created=created, usage=asked.usage
            )
            await exchange.respond(200, [*_EVENTS, *headers], made)
        else:
            made = completion_bytes(outcome.answer, reply_id=reply_id, model=asked.model, created=created)
            await exchange.respond(200, [_JSON, *headers], made)


_JSON: Final = (b"content-type", b"application/json")
_EVENTS: Final = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


def unsupported_headers(why: Unsupported) -> RawHeaders:
    """What the response to a request says that no stored answer can serve."""
    return [
        (b"x-slotcache-outcome", b"bypass"),
        (b"x-slotcache-reason", b"request_unsupported"),
        (b"x-slotcache-detail", why.value.encode()),
    ]


def _headers(outcome: Outcome) -> RawHeaders:
    headers = [
        (b"x-slotcache-outcome", outcome.decision.value.encode()),
        (b"x-slotcache-reason", outcome.reason.encode()),
    ]
    if outcome.key is not None:
        headers.append((b"x-slotcache-key", header_key(outcome.key).encode()))
    if outcome.abstain is not None:
        headers.append((b"x-slotcache-detail", outcome.abstain.value.encode()))
    if outcome.age is not None:
        headers.append((b"x-slotcache-age", str(int(outcome.age)).encode()))
    if outcome.hit_id is not None:
        headers.append((b"x-slotcache-id", outcome.hit_id.encode()))
    if outcome.coalesced:
        headers.append((b"x-slotcache-coalesced", b"1"))
    return headers


def _told(outcome: Outcome, asked: Asked) -> dict[str, object]:
    """What the log and the span should say."""
    return {
        "outcome": outcome.decision.value,
        "reason": outcome.reason,
        "key": loggable_key(outcome.key),
        "abstain": outcome.abstain.value if outcome.abstain is not None else None,
        "not_stored": outcome.not_stored,
        "coalesced": outcome.coalesced or None,
        "hit_id": outcome.hit_id,
        "text": asked.question,
    }


async def _not_cached(exchange: Exchange, headers: RawHeaders) -> None:
    await exchange.error(504, "not_cached", "nothing is cached for this request, and only-if-cached was asked", headers)


def _forbidden(said: Answer, why: NotStored) -> Answer:
    return replace(said, not_kept=why)
