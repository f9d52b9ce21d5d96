"""Reads what the model answered, from a whole chat completion or from its stream, while the bytes go on untouched.

Whatever is not plainly one complete answer in text is an `Answer` that will not be kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slotcache.answers import Answer
from slotcache.errors import NotStored

FAILED: Final = Answer("", finish="error", not_kept=NotStored.CALL_FAILED)
"""No answer: the endpoint failed, or said something that is no chat completion."""

INCOMPLETE: Final = Answer("", finish="length", not_kept=NotStored.INCOMPLETE_ANSWER)
"""An answer that broke off, or one too long to be kept."""

_PLAIN: Final = frozenset({"role", "content", "refusal", "reasoning_content", "reasoning"})


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs for one token in and one token out, in the operator's currency."""

    input: float = 0.0
    output: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """The price of a call."""
        return tokens_in * self.input + tokens_out * self.output


FREE: Final = Prices()


def read_completion(raw: bytes, prices: Prices = FREE) -> Answer:
    """The answer in a whole chat completion."""
    try:
        body = json.loads(raw)
        (choice,) = body["choices"]
        message = choice["message"]
        reading = _Reading()
        reading.take(message)
        reading.finish = choice.get("finish_reason") or ""
        reading.use(body.get("usage"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return FAILED
    return reading.answer(prices)


class StreamReader:
    """Reads a stream of chat completion chunks as it passes.

    The answer is complete only when exactly one choice came to its end and `[DONE]` was said.
    """

    def __init__(self, *, most: int = 200_000, prices: Prices = FREE) -> None:
        """Make a reader.

        Args:
            most: Bytes of text that are kept; a longer answer counts as incomplete.
            prices: What the model costs.
        """
        self._most = most
        self._prices = prices
        self._rest = b""
        self._size = 0
        self._reading = _Reading()
        self._done = False
        self._strange = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes, cut anywhere."""
        if self._strange:
            return
        lines = (self._rest + piece).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > self._most:
            self._strange = True
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data(line[5:].strip())

    def answer(self) -> Answer:
        """What was answered, once the stream is over."""
        reading = self._reading
        if self._strange or not self._done:
            return Answer(
                "", "length", not_kept=NotStored.INCOMPLETE_ANSWER, tokens_in=reading.tokens_in,
                tokens_out=reading.tokens_out, cost=self._prices.of(reading.tokens_in, reading.tokens_out),
            )  # fmt: skip
        return reading.answer(self._prices)

    def _data(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._done = True
            return
        try:
            chunk = json.loads(data)
            if self._done or chunk.get("error"):
                self._strange = True
            self._reading.use(chunk.get("usage"))
            for choice in chunk.get("choices") or ():
                if choice.get("index", 0) != 0:
                    self._strange = True
                self._reading.take(choice.get("delta") or {})
                self._reading.finish = choice.get("finish_reason") or self._reading.finish
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self._strange = True
        self._size += len(data)
        if self._size > 100 * self._most or self._reading.size > self._most:
            self._strange = True


class _Reading:
    """What is known of an answer so far."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.size = 0
        self.finish = ""
        self.tool_call = False
        self.refused = False
        self.more = False
        self.tokens_in = 0
        self.tokens_out = 0

    def take(self, message: Mapping[str, Any]) -> None:
        """A message, or a piece of one."""
        text = message.get("content")
        if isinstance(text, str):
            self.texts.append(text)
            self.size += len(text)
        elif text is not None:
            self.more = True
        self.tool_call = self.tool_call or bool(message.get("tool_calls") or message.get("function_call"))
        self.refused = self.refused or bool(message.get("refusal"))
        # Audio, citations and what else may come belong to the answer, and a replay would lose them.
        self.more = self.more or any(value for name, value in message.items() if name not in _PLAIN)

    def use(self, usage: Any) -> None:
        """The tokens used, when they are told."""
        if isinstance(usage, Mapping):
            self.tokens_in = _count(usage.get("prompt_tokens"))
            self.tokens_out = _count(usage.get("completion_tokens"))

    def answer(self, prices: Prices) -> Answer:
        """The answer as far as it came."""
        return Answer(
            "".join(self.texts),
            finish=self.finish,
            tool_call=self.tool_call,
            refused=self.refused,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            cost=prices.of(self.tokens_in, self.tokens_out),
            not_kept=NotStored.INCOMPLETE_ANSWER if self.more and not self.tool_call else None,
        )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
