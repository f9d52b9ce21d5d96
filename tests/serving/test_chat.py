from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from slotcache.events import Answered
from slotcache.parsing.types import Parse
from slotcache.serving.tokens import hash_token
from slotcache.testing import ScriptedParser
from tests.cache.shells import READINGS
from tests.serving.harness import CHAT, KEY, Bot, Endpoint, outcome, text_of

Make = Callable[..., Bot]


async def test_chat_second_wording_is_a_hit(bot: Bot) -> None:
    first, second = await bot.ask("can i cancel?"), await bot.ask("may i call it off?")
    assert (outcome(first), outcome(second)) == (("miss", "not_found"), ("hit", "learned"))
    assert (text_of(second), len(bot.endpoint.seen)) == (text_of(first), 1)


async def test_chat_another_question_is_no_hit(bot: Bot) -> None:
    await bot.ask("can i cancel?")
    assert outcome(await bot.ask("can i cancel after it ships?")) == ("miss", "not_found")


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
async def test_chat_stream_and_whole_serve_each_other(bot: Bot, first: bool, second: bool) -> None:
    asked = [await bot.ask(stream=stream) for stream in (first, second)]
    assert [outcome(response)[0] for response in asked] == ["miss", "hit"]
    assert [text_of(response) for response in asked] == ["Yes, until it ships."] * 2


async def test_chat_hit_tells_key_age_and_id(bot: Bot) -> None:
    await bot.ask()
    bot.clock.advance(90)
    headers = (await bot.ask()).headers
    assert (headers["x-slotcache-key"], headers["x-slotcache-age"]) == ("cancel_order(timing=pre_shipment)", "90")
    assert "." in headers["x-slotcache-id"]


async def test_chat_hit_is_a_completion_of_the_model_asked_for(bot: Bot) -> None:
    await bot.ask()
    body = (await bot.ask()).json()
    assert (body["object"], body["model"], body["usage"]["total_tokens"]) == ("chat.completion", "m", 0)
    assert body["choices"][0]["finish_reason"] == "stop"


async def test_chat_stream_hit_ends_with_usage_where_asked_for(bot: Bot) -> None:
    await bot.ask()
    response = await bot.ask(stream=True, stream_options={"include_usage": True})
    *_, usage, done = [line[6:] for line in response.text.strip().split("\n\n")]
    assert (json.loads(usage)["choices"], done) == ([], "[DONE]")


async def test_chat_body_is_handed_on_byte_for_byte(bot: Bot) -> None:
    raw = b'{ "model":"m",\n"messages" : [{"content":"can i cancel?", "role":"user"}],"temperature":0.50 }'
    async with bot.client() as client:
        await client.post(CHAT, content=raw, headers={"content-type": "application/json"})
    assert bot.endpoint.seen[0].body == raw


async def test_chat_reply_is_handed_back_byte_for_byte(make_bot: Make) -> None:
    bot = make_bot(endpoint=Endpoint(headers=[(b"x-request-id", b"req-1"), (b"set-cookie", b"a=b")]))
    response = await bot.ask()
    assert response.content == bot.endpoint._pieces({}, stream=False)[0]
    assert (response.headers["x-request-id"], response.headers["set-cookie"]) == ("req-1", "a=b")


async def test_chat_authorization_goes_on_and_own_headers_do_not(make_bot: Make) -> None:
    gateway = {"secret": hash_token("s" * 20), "customer_header": "X-Customer"}
    bot = make_bot({"gateway": gateway})
    sent = {"X-Slotcache-Gateway": "s" * 20, "X-Customer": "c1", "X-Slotcache-Anything": "1", "OpenAI-Project": "p"}
    await bot.ask(headers=sent)
    seen = bot.endpoint.seen[0].headers
    assert (seen["authorization"], seen["openai-project"]) == (f"Bearer {KEY}", "p")
    assert not {"x-slotcache-gateway", "x-customer", "x-slotcache-anything"} & set(seen)


UNKEPT: list[tuple[dict[str, Any], str]] = [
    ({"finish": "length"}, "incomplete_answer"),
    ({"finish": "content_filter"}, "incomplete_answer"),
    ({"finish": "tool_calls", "message": {"tool_calls": [{"id": "1"}]}}, "tool_call"),
    ({"message": {"refusal": "no"}}, "refused_answer"),
    ({"answer": "I'm sorry, but I cannot help with that."}, "refused_answer"),
    ({"answer": ""}, "empty_answer"),
    ({"answer": "It goes to jo@example.com."}, "personal_answer"),
    ({"message": {"annotations": [{"type": "url_citation"}]}}, "incomplete_answer"),
    ({"status": 500}, "call_failed"),
    ({"status": 429}, "call_failed"),
    ({"headers": [(b"content-encoding", b"br")]}, "call_failed"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("script", "why"), UNKEPT)
async def test_chat_answer_is_not_kept(make_bot: Make, script: dict[str, Any], why: str, stream: bool) -> None:
    bot = make_bot(endpoint=Endpoint(**script))
    body = json.dumps({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "can i cancel?"}]})
    async with bot.client() as client, client.stream("POST", CHAT, content=body) as response:
        [_ async for _ in response.aiter_raw()]
    assert [event.outcome.not_stored for event in bot.seen.of(Answered)] == [why]


async def test_chat_stream_without_its_end_is_not_kept(make_bot: Make) -> None:
    bot = make_bot(endpoint=Endpoint(done=False))
    await bot.ask(stream=True)
    assert outcome(await bot.ask(stream=True)) == ("miss", "not_found")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_chat_error_of_the_endpoint_passes_untouched(make_bot: Make, status: int) -> None:
    bot = make_bot(endpoint=Endpoint(status=status, body=b'{"error":  1}', headers=[(b"retry-after", b"7")]))
    response = await bot.ask()
    assert (response.status_code, response.content, response.headers["retry-after"]) == (status, b'{"error":  1}', "7")


@pytest.mark.parametrize(
    ("directive", "expected"),
    [
        ("no-cache", ("bypass", "no_cache")),
        ("max-age=60", ("miss", "too_old")),
        ("max-age=nonsense", ("bypass", "no_cache")),
        ("max-age=61", ("hit", "learned")),
        ("no-store", ("hit", "learned")),
        ("max-stale=1000000", ("hit", "learned")),
    ],
)
async def test_chat_directive_tightens(bot: Bot, directive: str, expected: tuple[str, str]) -> None:
    await bot.ask()
    bot.clock.advance(60)
    assert outcome(await bot.ask(headers={"Cache-Control": directive})) == expected


async def test_chat_no_store_keeps_nothing(bot: Bot) -> None:
    await bot.ask(headers={"Cache-Control": "no-store"})
    assert outcome(await bot.ask()) == ("miss", "not_found")


@pytest.mark.parametrize("fields", [{}, {"tools": [{"type": "function"}]}])
async def test_chat_only_if_cached_never_asks_the_endpoint(bot: Bot, fields: dict[str, Any]) -> None:
    response = await bot.ask(headers={"Cache-Control": "only-if-cached"}, **fields)
    assert (response.status_code, response.json()["error"]["code"], bot.endpoint.seen) == (504, "not_cached", [])


async def test_chat_observing_serves_nothing(make_bot: Make) -> None:
    bot = make_bot({"rules": {"observe": True}})
    asked = [outcome(await bot.ask()) for _ in range(2)]
    assert (asked, len(bot.endpoint.seen)) == ([("miss", "not_found"), ("miss", "observed")], 2)


async def test_chat_internal_error_costs_a_call_and_is_counted(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(bot.proxy._chat._addresses, "scope", fail)
    response = await bot.ask()
    assert (response.status_code, outcome(response)) == (200, ("bypass", "request_unsupported"))
    assert bot.proxy.metrics.trouble.labels("proxy")._value.get() == 1


class FailsOnGreetings(ScriptedParser):
    def parse(self, text: str) -> Parse:
        if text == "hi":
            raise RuntimeError("no")
        return super().parse(text)


async def test_chat_parser_that_fails_on_the_history_costs_only_the_keeping(make_bot: Make) -> None:
    bot = make_bot({"chat": {"self_contained": True}}, parser=FailsOnGreetings(READINGS))
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
    response = await bot.ask(messages=[*turns, {"role": "user", "content": "can i cancel?"}])
    assert (text_of(response), bot.seen.of(Answered)[0].outcome.not_stored) == ("Yes, until it ships.", "not_fillable")
