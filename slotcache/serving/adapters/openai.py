"""Puts the official `openai` client behind the cache.

    client = wrap(OpenAI(), cache, scope=Scope(tenant="acme"))
    client.chat.completions.create(model="gpt-4o-mini", messages=[...])             # as before, streams too
    client.with_scope(Scope(tenant="acme", customer="c1")).chat.completions.create(...)

Callers that ask the same at the same time share one call, streams too: the others get the whole answer, as a stream
where they want one, when it is there. Only `chat.completions.create` goes through the cache; everything else is the
client itself. The id of a reply from the cache is `chatcmpl-` and the id of the hit, for `cache.report_false_hit`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Self

from openai import AsyncOpenAI, OpenAI
from openai._types import NotGiven, Omit
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.errors import ConfigurationError, Unsupported
from slotcache.events import Outcome
from slotcache.policy import PLAIN, Directives
from slotcache.serving.adapters.chats import Chats, Prepared, ScopeOf, unsupported_outcome
from slotcache.serving.adapters.streams import Arriving, AsyncArriving, Ended, Give, Opened
from slotcache.serving.config import Chat
from slotcache.serving.replay import chunks, completion
from slotcache.serving.replies import StreamReader, read_completion
from slotcache.shell import ANYONE

Tell = Callable[[Outcome], None]
_RUNNING: Final[set[asyncio.Task[None]]] = set()
"""Streams that arrive; the event loop itself holds its tasks only loosely."""

_CLIENT_ONLY: Final = frozenset(("extra_headers", "extra_query", "extra_body", "timeout"))


def wrap(
    client: OpenAI | AsyncOpenAI,
    cache: SlotCache | AsyncSlotCache,
    *,
    scope: ScopeOf = ANYONE,
    chat: Chat | None = None,
    tell: Tell | None = None,
) -> Any:
    """A client that answers chat completions from the cache where it can.

    Args:
        client: `OpenAI` with a `SlotCache`, or `AsyncOpenAI` with an `AsyncSlotCache`.
        cache: The cache.
        scope: Who asks, or a function that finds it out. Model, prompt and history come from the request.
        chat: How requests are read; the defaults of the proxy when None.
        tell: Told of every outcome.

    Raises:
        ConfigurationError: client and cache are of different kinds.
    """
    if isinstance(client, AsyncOpenAI) and isinstance(cache, AsyncSlotCache):
        return _Client(client, _AsyncCompletions(client, cache, scope, chat, tell))
    if isinstance(client, OpenAI) and isinstance(cache, SlotCache):
        return _Client(client, _Completions(client, cache, scope, chat, tell))
    raise ConfigurationError("OpenAI takes a SlotCache, and AsyncOpenAI an AsyncSlotCache")


class _Delegating:
    """Is another object in everything that it does not define itself."""

    def __init__(self, behind: Any) -> None:
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class _Client(_Delegating):
    def __init__(self, client: Any, completions: _Shared) -> None:
        super().__init__(client)
        self._completions = completions
        self.chat = _Chat(client.chat, completions)

    def with_scope(self, scope: ScopeOf, *, directives: Directives = PLAIN) -> _Client:
        """The same client for another asker."""
        return _Client(self._behind, self._completions.but(scope, directives))


class _Chat(_Delegating):
    def __init__(self, chat: Any, completions: Any) -> None:
        super().__init__(chat)
        self.completions = completions


class _Shared(_Delegating):
    """What the sync and the async completions have in common."""

    def __init__(self, client: Any, cache: Any, scope: ScopeOf, chat: Chat | None, tell: Tell | None) -> None:
        super().__init__(client.chat.completions)
        self._client, self._cache, self._chat, self._tell = client, cache, chat, tell
        self._chats = Chats(cache.core, scope, chat)
        self._directives = PLAIN

    def but(self, scope: ScopeOf, directives: Directives) -> Self:
        made = type(self)(self._client, self._cache, scope, self._chat, self._tell)
        made._directives = directives
        return made

    def _prepare(self, given: dict[str, Any]) -> Prepared | None:
        """The request as the cache takes it; None when no stored answer can serve it."""
        if "messages" in given:
            # The caller may have given an iterator, which can be read once.
            given["messages"] = list(given["messages"])
        body = {name: _plain(value) for name, value in given.items() if name not in _CLIENT_ONLY and _said(value)}
        body |= given.get("extra_body") or {}
        query = given.get("extra_query")
        prepared = self._chats.prepare(body, (("query", repr(sorted(query.items()))),) if query else ())
        if isinstance(prepared, Unsupported):
            if self._tell is not None:
                self._tell(unsupported_outcome(prepared))
            return None
        return prepared

    def _told(self, outcome: Outcome) -> Outcome:
        if self._tell is not None:
            self._tell(outcome)
        return outcome

    def _judged(self, prepared: Prepared, reply: ChatCompletion) -> Answer:
        return self._chats.judged(prepared, read_completion(reply.model_dump_json().encode()))

    def _completion(self, prepared: Prepared, outcome: Outcome) -> ChatCompletion:
        made = completion(outcome.answer or "", **_names(prepared, outcome))
        self._chats.said(prepared, outcome.answer or "")
        return ChatCompletion.model_validate(made)

    def _chunks(self, prepared: Prepared, outcome: Outcome) -> Iterator[ChatCompletionChunk]:
        self._chats.said(prepared, outcome.answer or "")
        for chunk in chunks(outcome.answer or "", usage=prepared.asked.usage, **_names(prepared, outcome)):
            yield ChatCompletionChunk.model_validate(chunk)


class _Completions(_Shared):
    def create(self, **given: Any) -> Any:
        """As the client's own."""
        prepared = self._prepare(given)
        if prepared is None:
            return self._behind.create(**given)
        if prepared.asked.stream:
            return self._stream(prepared, given)
        replies: list[ChatCompletion] = []

        def call(text: str) -> Answer:
            replies.append(self._behind.create(**given))
            return self._judged(prepared, replies[0])

        options = {"directives": self._directives}
        outcome = self._told(self._cache.get_or_call(prepared.asked.question, call, prepared.scope, **options))
        return replies[0] if replies else self._completion(prepared, outcome)

    def _stream(self, prepared: Prepared, given: dict[str, Any]) -> _Stream:
        question, options = prepared.asked.question, {"directives": self._directives}

        def work(give: Give) -> Outcome:
            def call(text: str) -> Answer:
                reader = StreamReader()
                with self._behind.create(**given) as stream:
                    give(Opened(stream))
                    for chunk in stream:
                        reader.feed(_event(chunk))
                        give(chunk)
                reader.feed(_DONE)
                return self._chats.judged(prepared, reader.answer())

            return self._told(self._cache.get_or_call(question, call, prepared.scope, **options))

        arriving = Arriving(work)
        if isinstance(arriving.first, Opened):
            return _Stream(arriving.chunks(), arriving.first.stream, arriving.leave)
        return _Stream(self._chunks(prepared, _outcome(arriving.first)), None, arriving.leave)


class _AsyncCompletions(_Shared):
    async def create(self, **given: Any) -> Any:
        """As the client's own."""
        prepared = self._prepare(given)
        if prepared is None:
            return await self._behind.create(**given)
        if prepared.asked.stream:
            return await self._stream(prepared, given)
        replies: list[ChatCompletion] = []

        async def call(text: str) -> Answer:
            replies.append(await self._behind.create(**given))
            return self._judged(prepared, replies[0])

        options = {"directives": self._directives}
        outcome = self._told(await self._cache.get_or_call(prepared.asked.question, call, prepared.scope, **options))
        return replies[0] if replies else self._completion(prepared, outcome)

    async def _stream(self, prepared: Prepared, given: dict[str, Any]) -> _AsyncStream:
        question, options = prepared.asked.question, {"directives": self._directives}

        async def work(give: Give) -> Outcome:
            async def call(text: str) -> Answer:
                reader = StreamReader()
                async with await self._behind.create(**given) as stream:
                    give(Opened(stream))
                    async for chunk in stream:
                        reader.feed(_event(chunk))
                        give(chunk)
                reader.feed(_DONE)
                return self._chats.judged(prepared, reader.answer())

            return self._told(await self._cache.get_or_call(question, call, prepared.scope, **options))

        arriving = await AsyncArriving.start(work, _RUNNING)
        if isinstance(arriving.first, Opened):
            return _AsyncStream(arriving.chunks(), arriving.first.stream, arriving.leave)
        return _AsyncStream(_later(self._chunks(prepared, _outcome(arriving.first))), None, arriving.leave)


class _Stream(_Delegating):
    """Behaves as the client's `Stream`: iterate it, leave its context, or close it."""

    def __init__(self, chunks: Iterator[ChatCompletionChunk], stream: Any, leave: Callable[[], None]) -> None:
        super().__init__(stream)
        self._chunks, self._leave = chunks, leave

    def __iter__(self) -> Iterator[ChatCompletionChunk]:
        return self._chunks

    def __next__(self) -> ChatCompletionChunk:
        return next(self._chunks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up on what has not arrived."""
        self._leave()


class _AsyncStream(_Delegating):
    """Behaves as the client's `AsyncStream`."""

    def __init__(
        self, chunks: AsyncIterator[ChatCompletionChunk], stream: Any, leave: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(stream)
        self._chunks, self._leave = chunks, leave

    def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self._chunks

    async def __anext__(self) -> ChatCompletionChunk:
        return await anext(self._chunks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give up on what has not arrived."""
        await self._leave()


def _outcome(ended: Ended) -> Outcome:
    assert ended.outcome is not None
    return ended.outcome


async def _later(chunks: Iterable[ChatCompletionChunk]) -> AsyncIterator[ChatCompletionChunk]:
    for chunk in chunks:
        yield chunk


_DONE: Final = b"data: [DONE]\n\n"


def _event(chunk: ChatCompletionChunk) -> bytes:
    return b"data: " + chunk.model_dump_json().encode() + b"\n\n"


def _names(prepared: Prepared, outcome: Outcome) -> dict[str, Any]:
    return {
        "reply_id": f"chatcmpl-{outcome.hit_id}",
        "model": prepared.asked.model,
        "created": int(time.time()),
    }


def _said(value: Any) -> bool:
    return not isinstance(value, NotGiven | Omit)


def _plain(value: Any) -> Any:
    """A parameter as it goes over the wire: messages may be the client's own objects."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


__all__ = ["Scope", "wrap"]
