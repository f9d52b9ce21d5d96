"""LiteLLM's cache: `litellm.cache = SlotcacheCache(cache, scope=...)`.

LiteLLM asks with the arguments of `completion`. Arguments of the provider that are not known make the request a bypass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from litellm.caching.caching import Cache
from litellm.types.caching import LiteLLMCacheType
from litellm.types.utils import all_litellm_params

from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.errors import Unsupported
from slotcache.events import Outcome
from slotcache.policy import Directives
from slotcache.serving.adapters.chats import Chats, Prepared, ScopeOf
from slotcache.serving.config import Chat
from slotcache.serving.replay import completion
from slotcache.serving.replies import FAILED, read_completion
from slotcache.shell import ANYONE

# What LiteLLM passes beside the request; the rest of its own arguments it lists itself.
_OWN: Final = frozenset(all_litellm_params) | frozenset(
    ("cache_key", "parent_otel_span", "original_function", "custom_llm_provider", "max_retries", "timeout", "headers",
     "extra_headers", "num_retries", "deployment_id", "drop_params", "stream_timeout", "client", "ttl", "is_async")
)  # fmt: skip
_ENDPOINT: Final = ("api_base", "base_url", "custom_llm_provider", "api_version", "deployment_id")
_REQUEST: Final = frozenset(("metadata", "user", "model", "messages", "stream", "tools"))


class SlotcacheCache(Cache):
    """A cache of LiteLLM that answers only when both requests ask exactly the same."""

    def __init__(self, cache: SlotCache, *, scope: ScopeOf = ANYONE, chat: Chat | None = None) -> None:
        """Put a cache behind LiteLLM's interface.

        Args:
            cache: The cache.
            scope: Who asks, or a function that finds it out for each request.
            chat: How requests are read; the defaults of the proxy when None.
        """
        super().__init__(type=LiteLLMCacheType.LOCAL, supported_call_types=["completion", "acompletion"])
        self._slots = cache
        self._async_slots = AsyncSlotCache.over(cache)
        self._chats = Chats(cache.core, scope, chat)

    def get_cache(self, dynamic_cache_object: object = None, **kwargs: Any) -> Any:
        """The answer to a request as a dictionary, or None."""
        prepared = self._prepare(kwargs)
        if prepared is None:
            return None
        wishes = _directives(kwargs)
        return self._found(prepared, self._slots.get(prepared.asked.question, prepared.scope, directives=wishes))

    async def async_get_cache(self, dynamic_cache_object: object = None, **kwargs: Any) -> Any:
        """The answer to a request as a dictionary, or None."""
        prepared = self._prepare(kwargs)
        if prepared is None:
            return None
        found = await self._async_slots.get(prepared.asked.question, prepared.scope, directives=_directives(kwargs))
        return self._found(prepared, found)

    def add_cache(self, result: Any, **kwargs: Any) -> None:
        """Keep what the model answered, if it may be kept."""
        prepared = self._prepare(kwargs)
        if prepared is not None:
            said = self._chats.judged(prepared, _answer(result))
            self._slots.put(prepared.asked.question, said, prepared.scope, directives=_directives(kwargs))

    async def async_add_cache(self, result: Any, dynamic_cache_object: object = None, **kwargs: Any) -> None:
        """Keep what the model answered, if it may be kept."""
        prepared = self._prepare(kwargs)
        if prepared is not None:
            said = self._chats.judged(prepared, _answer(result))
            await self._async_slots.put(prepared.asked.question, said, prepared.scope, directives=_directives(kwargs))

    def _prepare(self, given: Mapping[str, Any]) -> Prepared | None:
        if self.should_use_cache(**given) is not True:  # type: ignore[no-untyped-call]
            return None
        body = {
            name: value for name, value in given.items() if name in _REQUEST or (name not in _OWN and value is not None)
        }
        body["messages"] = [_plain(message) for message in body.get("messages") or []]
        endpoint = tuple((name, str(given[name])) for name in _ENDPOINT if given.get(name))
        prepared = self._chats.prepare(body, endpoint)
        return None if isinstance(prepared, Unsupported) else prepared

    def _found(self, prepared: Prepared, outcome: Outcome) -> dict[str, Any] | None:
        if outcome.answer is None:
            return None
        self._chats.said(prepared, outcome.answer)
        created = int(self._slots.core.clock())
        return completion(
            outcome.answer, reply_id=f"chatcmpl-{outcome.hit_id}", model=prepared.asked.model, created=created
        )


def _plain(message: Any) -> Any:
    return message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message


def _answer(result: Any) -> Answer:
    if hasattr(result, "model_dump_json"):
        result = result.model_dump_json()
    if not isinstance(result, str):
        return FAILED
    try:
        body = json.loads(result)
        for choice in body["choices"]:
            # LiteLLM adds this to every message; it says something only when one of its fields does.
            if not any((choice["message"].get("provider_specific_fields") or {}).values()):
                choice["message"].pop("provider_specific_fields", None)
    except (ValueError, LookupError, TypeError, AttributeError):
        return FAILED
    return read_completion(json.dumps(body).encode())


def _directives(given: Mapping[str, Any]) -> Directives:
    """LiteLLM's `cache={...}` of one request. Nothing in it can loosen the operator's rules."""
    asked = given.get("cache")
    if not isinstance(asked, Mapping):
        return Directives()
    ages = [asked[name] for name in ("s-maxage", "s-max-age") if isinstance(asked.get(name), int | float)]
    ttl = asked.get("ttl")
    return Directives(
        no_cache=asked.get("no-cache") is True,
        no_store=asked.get("no-store") is True,
        max_age=max(float(min(ages)), 0.0) if ages else None,
        ttl=float(ttl) if isinstance(ttl, int | float) and ttl > 0 else None,
    )
