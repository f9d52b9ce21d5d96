"""Turns a stored answer into the reply that the client waits for: a chat completion, or a stream of its chunks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_PIECE: Final = re.compile(r"\S{1,200}\s*|\s+")
_WORDS: Final = 6
"""Words in a chunk: enough to look like a stream, few enough to cost nothing."""

# Nothing was spent on a replay; what it saved is in the metrics.
_USAGE: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def completion(answer: str, *, reply_id: str, model: str, created: int) -> dict[str, Any]:
    """A whole chat completion.

    Args:
        answer: What is said.
        reply_id: Its id.
        model: The model that the client asked for.
        created: Seconds since the epoch.
    """
    message = {"role": "assistant", "content": answer, "refusal": None}
    return {
        "id": reply_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": _USAGE,
    }


def chunks(answer: str, *, reply_id: str, model: str, created: int, usage: bool) -> Iterator[dict[str, Any]]:
    """The chunks of a stream: the role, the text in pieces, the end, and the usage where it was asked for."""
    head = {"id": reply_id, "object": "chat.completion.chunk", "created": created, "model": model}
    told = {"usage": None} if usage else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return head | {"choices": [choice]} | told

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    words = _PIECE.findall(answer)
    for at in range(0, len(words), _WORDS):
        yield chunk({"content": "".join(words[at : at + _WORDS])})
    yield chunk({}, "stop")
    if usage:
        yield head | {"choices": [], "usage": _USAGE}


def completion_bytes(answer: str, *, reply_id: str, model: str, created: int) -> bytes:
    """A whole chat completion as JSON."""
    made = completion(answer, reply_id=reply_id, model=model, created=created)
    return json.dumps(made, separators=(",", ":")).encode()


def stream_bytes(answer: str, *, reply_id: str, model: str, created: int, usage: bool) -> bytes:
    """A whole stream of server-sent events."""
    made = chunks(answer, reply_id=reply_id, model=model, created=created, usage=usage)
    lines = [f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n" for chunk in made]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()
