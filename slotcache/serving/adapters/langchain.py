"""LangChain's cache interface: `set_llm_cache(SlotcacheCache(cache, scope=...))`.

LangChain asks with the whole prompt and the model's parameters as texts, and has no word for who asks: tenant and
customer come from `scope`, fixed or a function that reads them from a context variable. It does not ask at all when a
model streams to the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from slotcache.address import digest
from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.errors import NotStored, Unsupported
from slotcache.serving.adapters.chats import Chats, Prepared, ScopeOf
from slotcache.serving.config import Chat
from slotcache.shell import ANYONE

_ROLES: Final = {"SystemMessage": "system", "HumanMessage": "user", "AIMessage": "assistant"}
# Whatever binds tools or shapes to a model ends up in the text of its parameters.
_SHAPED: Final = re.compile(
    r"['\"](?:tools|functions|response_format|structured_output|ls_structured_output_format|logprobs|modalities)['\"]"
)
_TEMPERATURE: Final = re.compile(r"['\"]temperature['\"]\s*[:,]\s*([0-9.]+)")
_FINISHES: Final = ("finish_reason", "stop_reason", "done_reason")
_COMPLETE: Final = frozenset(("stop", "end_turn", "STOP", "stop_sequence"))
_ECHOED: Final = frozenset(
    ("content", "type", "id", "name", "additional_kwargs", "response_metadata", "usage_metadata", "tool_calls",
     "invalid_tool_calls", "example")
)  # fmt: skip


class SlotcacheCache(BaseCache):
    """A cache of LangChain that answers only when both prompts ask exactly the same."""

    def __init__(
        self,
        cache: SlotCache,
        *,
        scope: ScopeOf = ANYONE,
        chat: Chat | None = None,
        assume_complete: bool = False,
    ) -> None:
        """Put a cache behind LangChain's interface.

        Args:
            cache: The cache.
            scope: Who asks, or a function that finds it out for each request.
            chat: How requests are read; the defaults of the proxy when None.
            assume_complete: Whether an answer counts as complete when the model does not say why it stopped.
        """
        self._cache = cache
        self._async = AsyncSlotCache.over(cache)
        self._chats = Chats(cache.core, scope, chat)
        self._max_temperature = (chat or Chat()).max_temperature
        self._assume_complete = assume_complete

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """The answer to a prompt, or None."""
        prepared = self._prepare(prompt, llm_string)
        if prepared is None:
            return None
        outcome = self._cache.get(prepared.asked.question, prepared.scope)
        return self._found(prepared, outcome.answer, outcome.hit_id)

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """The answer to a prompt, or None."""
        prepared = self._prepare(prompt, llm_string)
        if prepared is None:
            return None
        outcome = await self._async.get(prepared.asked.question, prepared.scope)
        return self._found(prepared, outcome.answer, outcome.hit_id)

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Keep what the model answered, if it may be kept."""
        prepared = self._prepare(prompt, llm_string)
        if prepared is not None:
            said = self._chats.judged(prepared, self._answer(return_val))
            self._cache.put(prepared.asked.question, said, prepared.scope)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Keep what the model answered, if it may be kept."""
        prepared = self._prepare(prompt, llm_string)
        if prepared is not None:
            said = self._chats.judged(prepared, self._answer(return_val))
            await self._async.put(prepared.asked.question, said, prepared.scope)

    def clear(self, **kwargs: Any) -> None:
        """Take every answer of the present tenant out of recall; `intent=...` and the like narrow it down."""
        prepared = self._chats.prepare({"model": "-", "messages": [{"role": "user", "content": ""}]})
        tenant = prepared.scope.tenant if isinstance(prepared, Prepared) else ""
        self._cache.invalidate(**{"tenant": tenant, **kwargs})

    def _prepare(self, prompt: str, llm_string: str) -> Prepared | None:
        parameters = llm_string.rpartition("---")[2]
        temperature = _TEMPERATURE.search(llm_string)
        hot = temperature is not None and float(temperature[1].rstrip(".") or 0) > self._max_temperature
        messages = _messages(prompt)
        if messages is None or hot or _SHAPED.search(parameters):
            return None
        # The parameters as a whole stand for the model: nothing in them may be overlooked.
        prepared = self._chats.prepare({"model": digest(llm_string), "messages": messages})
        return None if isinstance(prepared, Unsupported) else prepared

    def _found(self, prepared: Prepared, answer: str | None, hit_id: str | None) -> RETURN_VAL_TYPE | None:
        if answer is None:
            return None
        self._chats.said(prepared, answer)
        metadata = {"finish_reason": "stop", "slotcache_id": hit_id}
        return [ChatGeneration(message=AIMessage(content=answer, response_metadata=metadata))]

    def _answer(self, generations: Sequence[Generation]) -> Answer:
        if len(generations) != 1:
            return Answer("", not_kept=NotStored.INCOMPLETE_ANSWER)
        (generation,) = generations
        told = dict(generation.generation_info or {})
        message = getattr(generation, "message", None)
        plain, called, tokens_in, tokens_out = True, False, 0, 0
        if message is not None:
            told |= message.response_metadata
            plain, called = isinstance(message.content, str), bool(getattr(message, "tool_calls", None))
            usage = getattr(message, "usage_metadata", None) or {}
            tokens_in, tokens_out = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
        finish = next((told[name] for name in _FINISHES if told.get(name)), None)
        complete = finish in _COMPLETE or (finish is None and self._assume_complete)
        return Answer(
            generation.text,
            finish="stop" if complete else str(finish),
            tool_call=called,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            not_kept=None if plain else NotStored.INCOMPLETE_ANSWER,
        )


def _messages(prompt: str) -> list[dict[str, Any]] | None:
    """The messages in a prompt; None when they cannot be told. A prompt of a plain model is one user turn."""
    if not prompt.startswith("[{"):
        return [{"role": "user", "content": prompt}]
    try:
        dumped = json.loads(prompt)
        return [_message(entry["id"][-1], entry["kwargs"]) for entry in dumped]
    except (ValueError, LookupError, TypeError):
        return None


def _message(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    role = _ROLES[kind]
    unknown = {name: value for name, value in fields.items() if name not in _ECHOED}
    extra = {name: value for name, value in (fields.get("additional_kwargs") or {}).items() if value is not None}
    calls = fields.get("tool_calls") or fields.get("invalid_tool_calls") or extra.pop("tool_calls", None)
    extra.pop("refusal", None)
    return {
        "role": role,
        "content": fields["content"],
        "name": fields.get("name"),
        **({"tool_calls": calls} if calls else {}),
        **extra,
        **unknown,
    }
