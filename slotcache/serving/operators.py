"""What operators and their machines ask the proxy itself: health, metrics, switches and reports of wrong answers.

GET  /healthz                    is the process alive
GET  /readyz                     should it get requests
GET  /metrics                    Prometheus
GET  /slotcache/openapi.json     the schema of all of this
POST /slotcache/false-hit        {"id": ...}: take a wrong answer out of recall
GET  /slotcache/intents          which intents are switched off
POST /slotcache/intents/{name}   {"state": "off"} or {"state": "on"}
POST /slotcache/invalidate       {"intent": ..., "dry_run": true}: take answers out of recall, or say which
POST /slotcache/reload           use the model files as they are now
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import unquote

from slotcache import upkeep
from slotcache.aio import AsyncSlotCache
from slotcache.entry import Entry
from slotcache.errors import StoreError
from slotcache.serving.config import Settings
from slotcache.serving.exchange import Exchange
from slotcache.serving.identity import Identities, api_key
from slotcache.serving.logs import loggable_key, say
from slotcache.serving.metrics import CONTENT_TYPE, Metrics
from slotcache.serving.openapi import SCHEMA
from slotcache.serving.requests import parse_body
from slotcache.serving.selection import read_selection
from slotcache.serving.tokens import matches

ADMIN_HEADER: Final = b"x-slotcache-admin"
_PREFIX: Final = "/slotcache/"
_INTENTS: Final = "/slotcache/intents/"
_LONGEST_BODY: Final = 10_000
_SECONDS: Final = 10.0
_Handler = Callable[[Exchange], Awaitable[None]]


class Operators:
    """Answers what is not meant for the endpoint."""

    def __init__(
        self,
        settings: Settings,
        cache: AsyncSlotCache,
        metrics: Metrics,
        identities: Identities,
        draining: Callable[[], bool],
    ) -> None:
        self._token = settings.admin.token
        self._guarded_metrics = settings.admin.metrics
        self._cache = cache
        self._metrics = metrics
        self._identities = identities
        self._draining = draining
        self._routes: dict[str, dict[str, _Handler]] = {
            "/healthz": {"GET": self._health},
            "/readyz": {"GET": self._ready},
            "/metrics": {"GET": self._show_metrics},
            "/slotcache/openapi.json": {"GET": self._schema},
            "/slotcache/false-hit": {"POST": self._false_hit},
            "/slotcache/intents": {"GET": self._list_intents},
            "/slotcache/invalidate": {"POST": self._invalidate},
            "/slotcache/reload": {"POST": self._reload},
        }

    @property
    def parser_loaded(self) -> bool:
        """Whether questions can be read."""
        return bool(getattr(self._cache.core.parser, "loaded", True))

    def reload(self) -> bool:
        """Use the model files as they are now; whether that worked. Without a `ParserHost` nothing can be reloaded."""
        again: Callable[[], bool] | None = getattr(self._cache.core.parser, "reload", None)
        return again() if again is not None else False

    def takes(self, exchange: Exchange) -> bool:
        """Whether a request is one of these."""
        return exchange.path in self._routes or exchange.path.startswith(_PREFIX)

    async def answer(self, exchange: Exchange) -> None:
        """Answer a request that `takes` said yes to."""
        methods = self._routes.get(exchange.path)
        if methods is None:
            methods = {"POST": self._switch} if exchange.path.startswith(_INTENTS) else {}
        handler = methods.get("GET" if exchange.method == "HEAD" else exchange.method)
        if handler is not None:
            await handler(exchange)
        elif methods:
            allowed = [(b"allow", ", ".join(methods).encode())]
            await exchange.error(405, "wrong_method", f"this takes {' or '.join(methods)}", allowed)
        else:
            await exchange.error(404, "no_such_path", "there is nothing here; see /slotcache/openapi.json")

    async def _health(self, exchange: Exchange) -> None:
        await exchange.json(200, {"status": "alive"})

    async def _ready(self, exchange: Exchange) -> None:
        # Neither a missing parser nor a store that is away keeps the bot from being answered.
        state = {
            "ready": not self._draining(),
            "parser": "loaded" if self.parser_loaded else "missing",
            "store": "away" if self._cache.core.breaker.open else "reachable",
        }
        await exchange.json(200 if state["ready"] else 503, state)

    async def _show_metrics(self, exchange: Exchange) -> None:
        if self._guarded_metrics and not await self._is_operator(exchange):
            return
        await exchange.respond(200, [(b"content-type", CONTENT_TYPE.encode())], self._metrics.render())

    async def _schema(self, exchange: Exchange) -> None:
        await exchange.json(200, SCHEMA)

    async def _false_hit(self, exchange: Exchange) -> None:
        body = await self._body(exchange)
        if body is None:
            return
        hit_id, note = body.get("id"), body.get("note", "")
        if not isinstance(hit_id, str) or not isinstance(note, str) or not 0 < len(hit_id) <= 200 or len(note) > 2_000:
            await exchange.error(
                400, "bad_report", "say {'id': the X-Slotcache-Id of the hit}, and a 'note' if you like"
            )
            return
        hit_id = hit_id.removeprefix("chatcmpl-")
        try:
            entry = await asyncio.to_thread(self._cache.core.store.entry, hit_id.partition(".")[0])
            author = self._author(exchange, entry)
            if author is None or entry is None:
                # The same for an answer that is gone and for one of another tenant, so that ids cannot be tried out.
                await exchange.error(404, "no_such_hit", "no answer of yours has this id, or not any more")
                return
            report = await self._cache.report_false_hit(hit_id, author=author, note=note)
        except StoreError as error:
            self._cache.core.trouble("store", error)
            await exchange.error(503, "store_unavailable", "the store does not answer; report it again")
            return
        say("false hit", level=logging.WARNING, key=loggable_key(report.key), hit_id=hit_id)
        await exchange.json(200, {"evicted": report.evicted, "key": report.key})

    def _author(self, exchange: Exchange, entry: Entry | None) -> str | None:
        """Who may report a wrong answer: operators, and callers of the tenant whose answer it is."""
        if self._knows_token(exchange):
            return "operator"
        who = self._identities.of(exchange.headers, exchange.peer)
        if not who.known or entry is None or entry.address.namespace.tenant != who.tenant:
            return None
        if entry.address.namespace.customer not in ("", who.customer):
            return None
        return who.name or "caller"

    async def _list_intents(self, exchange: Exchange) -> None:
        if not await self._is_operator(exchange):
            return
        core = self._cache.core
        try:
            off = await asyncio.to_thread(core.store.switches)
        except StoreError as error:
            core.trouble("store", error)
            await exchange.error(503, "store_unavailable", "the store does not answer")
            return
        await exchange.json(200, {"off": sorted(off | core.policy.intents_off), "known": sorted(self._intents())})

    async def _switch(self, exchange: Exchange) -> None:
        if not await self._is_operator(exchange):
            return
        intent = unquote(exchange.path.removeprefix(_INTENTS), errors="replace")
        known = self._intents()
        if (known and intent not in known) or not intent.isidentifier():
            await exchange.error(404, "no_such_intent", "the domain has no intent of this name")
            return
        body = await self._body(exchange)
        if body is None:
            return
        if body.get("state") not in ("on", "off"):
            await exchange.error(400, "bad_state", "say {'state': 'off'} or {'state': 'on'}")
            return
        off = body["state"] == "off"
        try:
            await (self._cache.switch_off(intent) if off else self._cache.switch_on(intent))
        except StoreError as error:
            self._cache.core.trouble("store", error)
            await exchange.error(503, "store_unavailable", "the store does not answer; nothing was switched")
            return
        say("intent switched", level=logging.WARNING, intent=intent, to=body["state"])
        await exchange.json(200, {"intent": intent, "state": body["state"]})

    def _intents(self) -> frozenset[str]:
        domain = getattr(self._cache.core.parser, "domain", None)
        return frozenset(getattr(domain, "intents", ()))

    async def _invalidate(self, exchange: Exchange) -> None:
        if not await self._is_operator(exchange):
            return
        body = await self._body(exchange)
        if body is None:
            return
        asked = read_selection(body)
        if isinstance(asked, str):
            await exchange.error(400, "bad_selection", asked)
            return
        core = self._cache.core
        try:
            done = await asyncio.to_thread(upkeep.invalidate, core, asked.selector, dry_run=asked.dry_run)
        except StoreError as error:
            core.trouble("store", error)
            await exchange.error(
                503, "store_unavailable", "the store does not answer; it may be done in part, repeat it"
            )
            return
        say("invalidated", level=logging.WARNING, named=asked.named, count=done.count, dry_run=done.dry_run)
        await exchange.json(200, {"count": done.count, "keys": list(done.keys), "dry_run": done.dry_run})

    async def _reload(self, exchange: Exchange) -> None:
        if not await self._is_operator(exchange):
            return
        if await asyncio.to_thread(self.reload):
            await exchange.json(200, {"version": self._cache.core.parser.version})
        else:
            await exchange.error(409, "not_reloaded", "the model files cannot be used; the parser stays as it was")

    async def _is_operator(self, exchange: Exchange) -> bool:
        """Whether the request carries the operators' token; it is answered when not."""
        if self._token is None:
            await exchange.error(403, "no_operators", "the configuration gives no admin token, so nobody may do this")
            return False
        if not self._knows_token(exchange):
            await exchange.error(401, "not_an_operator", "this needs the operators' token in X-Slotcache-Admin")
            return False
        return True

    def _knows_token(self, exchange: Exchange) -> bool:
        if self._token is None:
            return False
        given = [value for name, value in exchange.headers if name == ADMIN_HEADER]
        if not given:
            given = [api_key({b"authorization": [v for n, v in exchange.headers if n == b"authorization"]})]
        return len(given) == 1 and matches(given[0], self._token)

    async def _body(self, exchange: Exchange) -> Any:
        """The JSON object of a request; None when it is none, and the client was told."""
        raw = await exchange.read(most=_LONGEST_BODY, seconds=_SECONDS)
        parsed = parse_body(raw) if raw is not None else None
        if parsed is None:
            await exchange.error(400, "no_json", f"this takes a JSON object of at most {_LONGEST_BODY} bytes")
        return parsed
