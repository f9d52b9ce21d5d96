from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.answers import Answer
from slotcache.errors import NotStored
from slotcache.serving.replay import completion_bytes, stream_bytes
from slotcache.serving.replies import FAILED, Prices, StreamReader, read_completion

MADE = {"reply_id": "id", "model": "m", "created": 1}
TEXTS = st.text(st.characters(codec="utf-8"))


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
END = chunk({}, "stop")


def read(*pieces: bytes, **options: Any) -> Answer:
    reader = StreamReader(**options)
    for piece in pieces:
        reader.feed(piece)
    return reader.answer()


@given(TEXTS, st.data())
def test_replies_stream_cut_anywhere_gives_the_whole_answer(text: str, data: st.DataObject) -> None:
    raw = stream_bytes(text, usage=True, **MADE)  # type: ignore[arg-type]
    at = data.draw(st.integers(0, len(raw)))
    assert read(raw[:at], raw[at:]) == Answer(text)


@given(TEXTS)
def test_replies_completion_gives_the_answer(text: str) -> None:
    assert read_completion(completion_bytes(text, **MADE)) == Answer(text)  # type: ignore[arg-type]


@given(TEXTS.filter(bool), st.data())
def test_replies_stream_that_breaks_off_is_never_complete(text: str, data: st.DataObject) -> None:
    raw = stream_bytes(text, usage=True, **MADE)  # type: ignore[arg-type]
    at = data.draw(st.integers(0, raw.index(b"data: [DONE]") + len(b"data: [DONE")))
    assert read(raw[:at]).not_kept is NotStored.INCOMPLETE_ANSWER


@pytest.mark.parametrize(
    "pieces",
    [
        [chunk({"content": "a"}), END],
        [chunk({"content": "a"}), END, DONE, chunk({"content": "b"})],
        [chunk({"content": "a"}), chunk({"content": "b"}, index=1), END, DONE],
        [b'data: {"error": {"message": "no"}}\n\n', DONE],
        [b"data: nonsense\n\n", DONE],
        [b"data: [1]\n\n", DONE],
        [chunk({"content": ["a"]}), END, DONE],
        [chunk({"content": "a", "audio": {"id": "1"}}), END, DONE],
        [chunk({"content": "a" * 300}), END, DONE],
        [b"data: " + b"x" * 300, b"\n\n", END, DONE],
    ],
)
def test_replies_strange_stream_is_not_kept(pieces: list[bytes]) -> None:
    assert read(*pieces, most=200).not_kept is NotStored.INCOMPLETE_ANSWER


def test_replies_stream_without_a_finish_has_no_finish() -> None:
    assert read(chunk({"content": "a"}), DONE).finish == ""


def test_replies_comments_other_fields_and_carriage_returns_are_passed_over() -> None:
    pieces = [b": ping\r\n\r\n", b"event: x\r\nid: 1\r\n", chunk({"content": "a"}).replace(b"\n", b"\r\n"), END, DONE]
    assert read(*pieces) == Answer("a")


def test_replies_reasoning_is_no_part_of_the_answer() -> None:
    assert read(chunk({"reasoning_content": "hm"}), chunk({"content": "a"}), END, DONE) == Answer("a")


def test_replies_tool_call_in_a_stream_is_one() -> None:
    assert read(chunk({"tool_calls": [{"index": 0}]}), chunk({}, "tool_calls"), DONE).tool_call


def test_replies_usage_is_priced() -> None:
    body = {
        "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }
    answer = read_completion(json.dumps(body).encode(), Prices(0.5, 2.0))
    assert (answer.tokens_in, answer.tokens_out, answer.cost) == (10, 2, 9.0)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_replies_other_body_is_a_failure(raw: bytes) -> None:
    assert read_completion(raw) == FAILED


@pytest.mark.parametrize("tokens", [True, -1, 1.5, "9", 10**12, None])
def test_replies_tokens_that_are_none_count_nothing(tokens: Any) -> None:
    body = {
        "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 1},
    }
    assert read_completion(json.dumps(body).encode()).tokens_in == 0
