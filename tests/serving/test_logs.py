from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from slotcache.errors import Abstain
from slotcache.key import Key
from slotcache.parsing.types import Owner
from slotcache.serving import logs
from slotcache.serving.logs import JsonFormatter, header_key, loggable_key, say
from slotcache.serving.tokens import hash_token
from slotcache.testing import ScriptedParser, reading
from tests.serving.harness import Bot, Endpoint

Make = Callable[..., Bot]
PERSONAL = "jo.smith@example.com"
NUMBER = "48213377"
SECRETS = ("Josephine", PERSONAL, NUMBER, "sk-0123456789abcdef", "operators-token-0123", "customer-77", "secret sauce")


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that any logger says, as the proxy writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    before = logging.root.level, logs.LOGGER.level
    logging.root.addHandler(handler)
    logging.root.setLevel(logging.DEBUG)
    logs.LOGGER.setLevel(logging.DEBUG)
    yield stream
    logging.root.removeHandler(handler)
    logging.root.setLevel(before[0])
    logs.LOGGER.setLevel(before[1])


def order_parser() -> ScriptedParser:
    asked = f"invoice for order {NUMBER}"
    key = f"get_invoice(reference={NUMBER})"
    return ScriptedParser({asked: reading(asked, key, owner=Owner.CUSTOMER, personal=("reference",))})


async def exercise(bot: Bot) -> None:
    """Ask everything that holds something personal, on every path that logs."""
    for question in (f"i am Josephine, {PERSONAL}", f"invoice for order {NUMBER}", "tell Josephine"):
        for headers in ({}, {"X-Customer": "customer-77"}):
            for _ in range(2):
                response = await bot.ask(question, headers=headers)
        async with bot.client() as client:
            report = {"id": response.headers["x-slotcache-id"], "note": "Josephine says so"}
            await client.post("/slotcache/false-hit", json=report, headers=headers)
    await bot.ask(messages=[{"role": "system", "content": "secret sauce"}, {"role": "user", "content": "Josephine?"}])
    bot.endpoint.script.status, bot.endpoint.script.body = 500, b"Josephine"
    await bot.ask("Josephine again")
    async with bot.client() as client:
        await client.post(f"/v1/files/{NUMBER}?name=Josephine", content=b"Josephine")


async def test_logs_hold_nothing_personal(make_bot: Make, logged: io.StringIO) -> None:
    gateway = {"addresses": ["10.0.0.0/8"], "customer_header": "X-Customer"}
    settings = {"gateway": gateway, "admin": {"token": hash_token("operators-token-0123")}}
    bot = make_bot(settings, parser=order_parser(), endpoint=Endpoint(answer=f"Hello Josephine at {PERSONAL}."))
    await exercise(bot)
    lines = [line for line in logged.getvalue().splitlines() if '"event": "HTTP Request' not in line]
    assert len(lines) >= 15
    assert [secret for secret in SECRETS if any(secret in line for line in lines)] == []


async def test_logs_internal_error_names_its_place_and_not_its_text(
    make_bot: Make, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("Josephine")

    bot = make_bot()
    monkeypatch.setattr(bot.proxy._chat._addresses, "scope", fail)
    await bot.ask()
    (line,) = [json.loads(line) for line in logged.getvalue().splitlines() if "internal error" in line]
    assert (line["error"], line["at"].partition(":")[0]) == ("RuntimeError", "test_logs.py")
    assert "Josephine" not in logged.getvalue()


async def test_logs_request_says_what_became_of_it(bot: Bot, logged: io.StringIO) -> None:
    for _ in range(2):
        await bot.ask()
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["outcome"], line["reason"], line["status"]) for line in requests] == [
        ("miss", "not_found", 200),
        ("hit", "learned", 200),
    ]


@pytest.mark.parametrize("text", [False, True])
async def test_logs_hold_the_question_only_where_asked_for(make_bot: Make, logged: io.StringIO, text: bool) -> None:
    bot = make_bot({"logs": {"text": text}})
    await bot.ask("can i cancel?")
    assert ("can i cancel?" in logged.getvalue()) == text


async def test_logs_of_requests_can_be_left_out(make_bot: Make, logged: io.StringIO) -> None:
    bot = make_bot({"logs": {"requests": False}})
    await bot.ask()
    assert '"event": "request"' not in logged.getvalue()


VERBATIM = str(Key.verbatim("is josephine in"))


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (None, None),
        ("cancel_order(timing=pre_shipment)", "cancel_order(timing=pre_shipment)"),
        (VERBATIM, "verbatim"),
        (f"get_invoice(reference={NUMBER})", "get_invoice"),
        ("get_invoice(reference=ORD10234)", "get_invoice"),
        ("track_order(reference=4821)", "track_order"),
    ],
)
def test_logs_key_is_shown_without_what_customers_typed(key: str | None, shown: str | None) -> None:
    assert loggable_key(key) == shown


def test_logs_header_tells_hidden_keys_apart() -> None:
    one, other = header_key(VERBATIM), header_key(str(Key.verbatim("is jo in")))
    assert one != other
    assert "josephine" not in one
    assert one.startswith("verbatim#")


@pytest.mark.parametrize("key", ["pay(currency=£)", "a(b=\n)", "a(b=\x00é日)"])
def test_logs_header_is_plain_ascii(key: str) -> None:
    assert header_key(key).isprintable()
    assert header_key(key).isascii()


def test_logs_line_is_json_with_time_and_level(logged: io.StringIO) -> None:
    say("thing", {"a": 1, "b": None}, level=logging.WARNING, c=Abstain.EMPTY)
    line = json.loads(logged.getvalue())
    assert (line["event"], line["level"], line["a"], line["c"], "b" in line) == ("thing", "warning", 1, "empty", False)
    assert line["time"].endswith("Z")
