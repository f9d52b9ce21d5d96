from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.errors import Unsupported
from slotcache.serving.requests import Asked, Turn, parse_body, read_chat

USER = {"role": "user", "content": "can i cancel?"}


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [USER], **fields}


def asked(*messages: dict[str, Any], **fields: Any) -> Asked:
    read = read_chat(body(*messages, **fields))
    assert isinstance(read, Asked)
    return read


UNSUPPORTED: list[tuple[dict[str, Any], Unsupported]] = [
    (body(tools=[{"type": "function"}]), Unsupported.TOOLS),
    (body(functions=[{}]), Unsupported.TOOLS),
    (body(tool_choice="required"), Unsupported.TOOLS),
    (body(tool_choice={"type": "function"}), Unsupported.TOOLS),
    (body(web_search_options={}), Unsupported.TOOLS),
    (body({"role": "tool", "content": "4", "tool_call_id": "1"}), Unsupported.TOOL_TURN),
    (body({"role": "assistant", "content": None, "tool_calls": [{}]}, USER), Unsupported.TOOL_TURN),
    (body({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}), Unsupported.MEDIA),
    (body({"role": "user", "content": [{"type": "input_audio"}]}), Unsupported.MEDIA),
    (body({"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "file"}]}), Unsupported.MEDIA),
    (body(modalities=["text", "audio"]), Unsupported.MEDIA),
    (body(audio={"voice": "x"}), Unsupported.MEDIA),
    (body(response_format={"type": "json_schema", "json_schema": {}}), Unsupported.SCHEMA),
    (body(response_format={"type": "json_object"}), Unsupported.SCHEMA),
    (body(n=2), Unsupported.SEVERAL_CHOICES),
    (body(n=True), Unsupported.SEVERAL_CHOICES),
    (body(logprobs=True), Unsupported.LOGPROBS),
    (body(top_logprobs=3), Unsupported.LOGPROBS),
    (body(temperature=1.01), Unsupported.VARIETY),
    (body(seed=1), Unsupported.SEED),
    (body(telepathy=1), Unsupported.UNKNOWN_PARAMETER),
    (body(temperature="hot"), Unsupported.UNKNOWN_SHAPE),
    (body(stream="yes"), Unsupported.UNKNOWN_SHAPE),
    (body(stream_options=[]), Unsupported.UNKNOWN_SHAPE),
    ({"messages": [USER]}, Unsupported.UNKNOWN_SHAPE),
    ({"model": "m", "messages": []}, Unsupported.UNKNOWN_SHAPE),
    ({"model": "m", "messages": "can i cancel?"}, Unsupported.UNKNOWN_SHAPE),
    ({"model": "\ud800", "messages": [USER]}, Unsupported.UNKNOWN_SHAPE),
    (body(USER, {"role": "assistant", "content": "Yes, and"}), Unsupported.UNKNOWN_SHAPE),
    (body(USER, {"role": "system", "content": "Say no."}), Unsupported.UNKNOWN_SHAPE),
    (body({"role": "user", "content": None}), Unsupported.UNKNOWN_SHAPE),
    (body({"role": "user", "content": []}), Unsupported.UNKNOWN_SHAPE),
    (body({"role": "wizard", "content": "x"}), Unsupported.UNKNOWN_SHAPE),
    (body({"role": "user", "content": "x", "mood": "cross"}), Unsupported.UNKNOWN_SHAPE),
    (body({"role": "user", "content": [{"type": "text", "text": "x", "mood": 1}]}), Unsupported.UNKNOWN_SHAPE),
]


@pytest.mark.parametrize(("request_body", "why"), UNSUPPORTED)
def test_requests_unsupported_says_why(request_body: dict[str, Any], why: Unsupported) -> None:
    assert read_chat(request_body) is why


@pytest.mark.parametrize(
    "fields",
    [
        {"stream": False},
        {"user": "u1"},
        {"metadata": {"a": "b"}},
        {"store": True},
        {"service_tier": "flex"},
        {"tools": []},
        {"tool_choice": "none"},
        {"response_format": {"type": "text"}},
        {"n": 1},
        {"logprobs": False},
        {"temperature": None},
        {"seed": None},
    ],
)
def test_requests_neutral_field_separates_nothing(fields: dict[str, Any]) -> None:
    assert asked(**fields).extra == asked().extra


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0.2},
        {"top_p": 0.5},
        {"max_tokens": 100},
        {"stop": ["\n"]},
        {"logit_bias": {"1": 5}},
        {"reasoning_effort": "low"},
    ],
)
def test_requests_parameter_separates(fields: dict[str, Any]) -> None:
    assert asked(**fields).extra != asked().extra


def test_requests_numbers_are_equal_however_they_are_written() -> None:
    assert asked(temperature=1).extra == asked(temperature=1.0).extra


def test_requests_operator_can_name_parameters() -> None:
    read = read_chat(body(guided=1, trace=2, seed=3), seeds=True, separating={"guided"}, neutral={"trace"})
    assert isinstance(read, Asked)
    assert read.extra == (("guided", "1"), ("seed", "3"))


def test_requests_question_prompt_and_turns_are_told_apart() -> None:
    read = asked(
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello.", "refusal": None, "annotations": []},
        USER,
    )
    assert (read.question, read.prompt) == ("can i cancel?", "You help.")
    assert read.turns == (Turn("user", "hi"), Turn("assistant", "Hello."))


def test_requests_text_parts_are_one_text() -> None:
    assert asked({"role": "user", "content": [{"type": "text", "text": "can i cancel?"}]}).question == "can i cancel?"


SYSTEM = {"role": "system", "content": "a\n\nb"}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, USER],
        [{"role": "developer", "content": "a\n\nb"}, USER],
        [
            {"role": "system", "content": "a"},
            {"role": "user", "content": "x"},
            {"role": "system", "content": "b"},
            USER,
        ],
        [{"role": "system", "content": "a\n\nb", "name": "example_user"}, USER],
    ],
)
def test_requests_prompts_that_read_alike_stay_apart(messages: list[dict[str, Any]]) -> None:
    read = asked(*messages)
    assert (read.prompt, read.extra) != (asked(SYSTEM, USER).prompt, asked(SYSTEM, USER).extra)
    assert read.prompt == "a\n\nb"


def test_requests_name_of_the_asker_separates() -> None:
    assert asked({**USER, "name": "Jo"}).extra != asked(USER).extra


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nonsense",
        b"[]",
        b'"text"',
        b'{"model": "a", "model": "b"}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"temperature": NaN}',
        '{"model": "é"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"model": "m"}',
        b'{"model": "\xff"}',
        b"[" * 100_000,
        b'{"n": ' + b"1" * 5_000 + b"}",
    ],
)
def test_requests_body_that_two_readers_could_read_differently_is_none(raw: bytes) -> None:
    assert parse_body(raw) is None


def test_requests_body_is_an_object() -> None:
    assert parse_body(b'{"model": "m"}') == {"model": "m"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["model", "messages", "n", "stream", "tools", "temperature", "stop", "role", "content", "user"])


@given(st.dictionaries(NAMES, JSON))
def test_requests_any_object_is_read_without_an_error(request_body: dict[str, Any]) -> None:
    assert isinstance(read_chat(request_body), Asked | Unsupported)


@given(
    st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": JSON}))
)
def test_requests_any_messages_are_read_without_an_error(messages: list[dict[str, Any]]) -> None:
    assert isinstance(read_chat({"model": "m", "messages": messages}), Asked | Unsupported)
