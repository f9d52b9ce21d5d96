"""The model behind `ask` and `replay`: an OpenAI-compatible endpoint when one is named, a local stand-in otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from slotcache.answers import Answer
from slotcache.errors import ConfigurationError

_SECONDS = 60.0


def chosen_model() -> tuple[str, Callable[[str], Answer]]:
    """The name of the model and the function that asks it.

    `OPENAI_API_KEY` or `OPENAI_BASE_URL` choose an endpoint, `OPENAI_MODEL` its model; without them a stand-in answers.
    """
    key, base = os.environ.get("OPENAI_API_KEY"), os.environ.get("OPENAI_BASE_URL")
    if not key and not base:
        return "stand-in", stand_in
    model = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
    return model, lambda text: _ask(text, model=model, base=base or "https://api.openai.com/v1", key=key or "")


def stand_in(text: str) -> Answer:
    """What the stand-in says: the same answer to the same text, recognisably none of a real model."""
    said = f'[stand-in model] The answer to "{text.strip()}" stands here once OPENAI_API_KEY or OPENAI_BASE_URL is set.'
    return Answer(said, tokens_in=len(text) // 4, tokens_out=len(said) // 4)


def _ask(text: str, *, model: str, base: str, key: str) -> Answer:
    try:
        import httpx
    except ImportError:
        raise ConfigurationError("asking an endpoint needs httpx: pip install 'slotcache[proxy]'") from None
    body = {"model": model, "messages": [{"role": "user", "content": text}]}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        reply = httpx.post(f"{base.rstrip('/')}/chat/completions", json=body, headers=headers, timeout=_SECONDS)
        reply.raise_for_status()
        return _answer(reply.json())
    except httpx.HTTPStatusError as error:
        raise ConfigurationError(f"{base} answered {error.response.status_code}: {error.response.text[:300]}") from None
    except httpx.HTTPError as error:
        raise ConfigurationError(f"{base} cannot be asked: {error!r}") from None
    except (ValueError, LookupError, TypeError) as error:
        raise ConfigurationError(f"{base} gave no chat completion: {error!r}") from None


def _answer(reply: dict[str, Any]) -> Answer:
    choice = reply["choices"][0]
    message, usage = choice["message"], reply.get("usage") or {}
    return Answer(
        message.get("content") or "",
        finish=choice.get("finish_reason") or "",
        tool_call=bool(message.get("tool_calls")),
        refused=bool(message.get("refusal")),
        tokens_in=int(usage.get("prompt_tokens") or 0),
        tokens_out=int(usage.get("completion_tokens") or 0),
    )
