"""Reads a chat request: the question, and everything around it that an answer depends on.

Pure: a body in, `Asked` or the reason why no stored answer can serve it out. What is not known is never ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from slotcache.errors import Unsupported

_SEPARATING = """
temperature top_p top_k min_p max_tokens max_completion_tokens presence_penalty frequency_penalty repetition_penalty
stop logit_bias reasoning_effort verbosity seed
"""
SEPARATING: Final = frozenset(_SEPARATING.split())
"""Parameters that change what is answered: they separate answers."""

_NEUTRAL = """
stream stream_options user metadata store service_tier safety_identifier prompt_cache_key prompt_cache_retention
parallel_tool_calls prediction
"""
NEUTRAL: Final = frozenset(_NEUTRAL.split())
"""Parameters that say how an answer is delivered, recorded or paid for."""

_SHAPES = """
model messages n tools tool_choice functions function_call response_format logprobs top_logprobs modalities audio
web_search_options
"""
_SHAPE: Final = frozenset(_SHAPES.split())
_PLAIN_PART: Final = frozenset({"type", "text", "cache_control"})
_MESSAGE: Final = frozenset({"role", "content", "name"})
# What an assistant's message may carry back from an earlier answer without any effect on the next one.
_ECHOED: Final = frozenset({"refusal", "annotations", "reasoning_content", "reasoning", "id"})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Turn(NamedTuple):
    """One earlier message: `user` or `assistant`, the name it gives, and its text."""

    role: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request that a stored answer may serve.

    Attributes:
        question: The last user turn.
        model: The model asked for.
        prompt: All system and developer messages, separated by blank lines; None without any.
        turns: The user's and the assistant's messages before the question.
        extra: Parameters that separate answers, by name.
        stream: Whether the answer is wanted as a stream.
        usage: Whether the stream has to end with the token usage.
        user: The `user` field; None without one.
    """

    question: str
    model: str
    prompt: str | None
    turns: tuple[Turn, ...]
    extra: tuple[tuple[str, str], ...]
    stream: bool = False
    usage: bool = False
    user: str | None = None


def parse_body(raw: bytes) -> Mapping[str, Any] | None:
    """The JSON object of a body; None when it is none, or when two readers of it could disagree.

    Names that stand twice, numbers that are none and encodings other than UTF-8 are read one way here and another way
    upstream, so such a body is nobody's question.
    """
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice")
    return made


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def read_chat(
    body: Mapping[str, Any],
    *,
    max_temperature: float = 1.0,
    seeds: bool = False,
    separating: Collection[str] = (),
    neutral: Collection[str] = (),
) -> Asked | Unsupported:
    """What a chat request asks.

    Args:
        body: The request.
        max_temperature: The highest temperature (inclusive) that does not ask for variety.
        seeds: Whether a seed only separates answers instead of asking for the model itself.
        separating: Further parameters that change answers.
        neutral: Further parameters that do not.
    """
    given = {name: value for name, value in body.items() if value is not None}
    asks = _asks_for_more(given, max_temperature, seeds)
    if asks is not None:
        return asks
    extra = []
    for name in given:
        if name in SEPARATING or name in separating:
            extra.append((name, _canonical(given[name])))
        elif not (name in NEUTRAL or name in _SHAPE or name in neutral):
            return Unsupported.UNKNOWN_PARAMETER
    model, messages = given.get("model"), given.get("messages")
    if not isinstance(model, str) or not model or _SURROGATE.search(model) or not isinstance(messages, list):
        return Unsupported.UNKNOWN_SHAPE
    options, user = given.get("stream_options", {}), given.get("user")
    if not isinstance(given.get("stream", False), bool) or not isinstance(options, dict):
        return Unsupported.UNKNOWN_SHAPE
    read = _read_messages(messages)
    if isinstance(read, Unsupported):
        return read
    prompt, turns, question, more = read
    return Asked(
        question,
        model,
        prompt,
        turns,
        tuple(sorted([*extra, *more])),
        stream=given.get("stream", False),
        usage=options.get("include_usage") is True,
        user=user if isinstance(user, str) and user else None,
    )


def _asks_for_more(given: Mapping[str, Any], max_temperature: float, seeds: bool) -> Unsupported | None:
    """What the parameters ask for that no stored answer gives."""
    if given.get("tools") or given.get("functions"):
        return Unsupported.TOOLS
    if given.get("tool_choice", "none") not in ("none", "auto") or given.get("function_call", "none") not in (
        "none",
        "auto",
    ):
        return Unsupported.TOOLS
    if given.get("modalities", ["text"]) != ["text"] or "audio" in given:
        return Unsupported.MEDIA
    if "web_search_options" in given:
        return Unsupported.TOOLS
    if given.get("response_format", _TEXT) != _TEXT:
        return Unsupported.SCHEMA
    # `True == 1` in Python, but not upstream.
    if not _is_one(given.get("n", 1)):
        return Unsupported.SEVERAL_CHOICES
    if given.get("logprobs", False) is not False or given.get("top_logprobs"):
        return Unsupported.LOGPROBS
    temperature = given.get("temperature", 0)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        return Unsupported.UNKNOWN_SHAPE
    if temperature > max_temperature:
        return Unsupported.VARIETY
    return Unsupported.SEED if "seed" in given and not seeds else None


_TEXT: Final = {"type": "text"}


def _is_one(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == 1


def _canonical(value: Any) -> str:
    """One text per JSON value; 1 and 1.0 are the same number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


_Read = tuple[str | None, tuple[Turn, ...], str, list[tuple[str, str]]]


def _read_messages(messages: list[Any]) -> _Read | Unsupported:
    """Prompt, earlier turns, question, and what else of the messages separates answers."""
    prompts: list[str] = []
    marks: list[str] = []
    turns: list[Turn] = []
    for message in messages:
        turn = _read_message(message)
        if isinstance(turn, Unsupported):
            return turn
        if turn.role == "system":
            prompts.append(turn.text)
            marks.append(f"{message['role']}{'~' if turns else ''}:{turn.name}")
        else:
            turns.append(turn)
    # The question has to be the last message: behind it, anything could change what is asked.
    if not turns or turns[-1].role != "user" or messages[-1]["role"] != "user":
        return Unsupported.UNKNOWN_SHAPE
    question = turns.pop()
    more = []
    if prompts and marks != ["system:"]:
        more.append(("system_messages", _canonical(marks)))
    if question.name:
        more.append(("name", question.name))
    return "\n\n".join(prompts) if prompts else None, tuple(turns), question.text, more


def _read_message(message: Any) -> Turn | Unsupported:
    if not isinstance(message, dict):
        return Unsupported.UNKNOWN_SHAPE
    role = message.get("role")
    if role in ("tool", "function") or message.get("tool_calls") or message.get("function_call"):
        return Unsupported.TOOL_TURN
    if role not in ("system", "developer", "user", "assistant"):
        return Unsupported.UNKNOWN_SHAPE
    if message.get("audio"):
        return Unsupported.MEDIA
    for name, value in message.items():
        if not (name in _MESSAGE or value is None or value == [] or (role == "assistant" and name in _ECHOED)):
            return Unsupported.UNKNOWN_SHAPE
    text, name = _text_of(message.get("content")), message.get("name") or ""
    if isinstance(text, Unsupported):
        return text
    if not isinstance(name, str):
        return Unsupported.UNKNOWN_SHAPE
    return Turn("system" if role == "developer" else role, text, name)


def _text_of(content: Any) -> str | Unsupported:
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        return Unsupported.UNKNOWN_SHAPE
    texts = []
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            return Unsupported.UNKNOWN_SHAPE
        if part["type"] != "text":
            return Unsupported.MEDIA
        if not isinstance(part.get("text"), str) or not _PLAIN_PART.issuperset(part):
            return Unsupported.UNKNOWN_SHAPE
        texts.append(part["text"])
    return "\n".join(texts)
