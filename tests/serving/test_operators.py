from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from slotcache.entry import Selector
from slotcache.errors import StoreUnavailable
from slotcache.serving.tokens import hash_token
from slotcache.stores.memory import MemoryStore
from slotcache.testing import ScriptedParser
from tests.cache.shells import READINGS
from tests.serving.harness import Bot, outcome, text_of

Make = Callable[..., Bot]
TOKEN = "operators-token-0123"
ADMIN = {"admin": {"token": hash_token(TOKEN)}}
OPERATOR = {"X-Slotcache-Admin": TOKEN}
OTHER_KEY = "sk-somebody-else-00"


async def call(
    bot: Bot, method: str, path: str, body: Any = None, *, key: str | None = None, headers: dict[str, str] | None = None
) -> httpx.Response:
    async with bot.client(key) as client:
        return await client.request(method, path, json=body, headers=headers)


async def hit_id(bot: Bot, **options: Any) -> str:
    """Id of a hit on a stored answer."""
    await bot.ask(**options)
    return str((await bot.ask(**options)).headers["x-slotcache-id"])


async def test_operators_health(bot: Bot) -> None:
    assert (await call(bot, "GET", "/healthz")).status_code == 200


@pytest.mark.parametrize(("draining", "status"), [(False, 200), (True, 503)])
async def test_operators_ready_until_it_drains(bot: Bot, draining: bool, status: int) -> None:
    bot.proxy.draining = draining
    response = await call(bot, "GET", "/readyz")
    assert (response.status_code, response.json()["ready"]) == (status, not draining)


@pytest.mark.parametrize("path", ["/readyz", "/v1/models"])
async def test_operators_response_while_it_drains_ends_its_connection(bot: Bot, path: str) -> None:
    told = []
    for bot.proxy.draining in (False, True):
        async with bot.client() as client:
            told.append((await client.get(path)).headers.get("connection"))
    assert told == [None, "close"]


@pytest.mark.parametrize("prefix", ["", "chatcmpl-"])
async def test_operators_caller_reports_a_false_hit_which_leaves_at_once(bot: Bot, prefix: str) -> None:
    found = await hit_id(bot)
    response = await call(bot, "POST", "/slotcache/false-hit", {"id": prefix + found}, key="sk-0123456789abcdef")
    assert response.json() == {"evicted": True, "key": "cancel_order(timing=pre_shipment)"}
    assert outcome(await bot.ask()) == ("miss", "not_found")


async def test_operators_operator_reports_a_false_hit_of_anybody(make_bot: Make) -> None:
    bot = make_bot(ADMIN)
    response = await call(bot, "POST", "/slotcache/false-hit", {"id": await hit_id(bot)}, headers=OPERATOR)
    assert (response.status_code, response.json()["evicted"]) == (200, True)


async def test_operators_stranger_cannot_report_the_hit_of_another_tenant(make_bot: Make) -> None:
    bot = make_bot(ADMIN)
    response = await call(bot, "POST", "/slotcache/false-hit", {"id": await hit_id(bot)}, key=OTHER_KEY)
    assert response.status_code == 404
    assert (await bot.ask()).headers["x-slotcache-outcome"] == "hit"


async def test_operators_customer_cannot_report_the_hit_of_another_customer(make_bot: Make) -> None:
    bot = make_bot({"gateway": {"addresses": ["10.0.0.0/8"], "customer_header": "X-Customer"}})
    found = await hit_id(bot, question="cancel mine", headers={"X-Customer": "c1"})
    statuses = [
        (
            await call(
                bot, "POST", "/slotcache/false-hit", {"id": found}, key="sk-0123456789abcdef", headers={"X-Customer": c}
            )
        ).status_code
        for c in ("c2", "c1")
    ]
    assert statuses == [404, 200]


@pytest.mark.parametrize("body", [{}, {"id": 1}, {"id": ""}, {"id": "x" * 201}, {"id": "x", "note": 1}, [], "x", None])
async def test_operators_report_that_is_none_is_refused(bot: Bot, body: Any) -> None:
    assert (await call(bot, "POST", "/slotcache/false-hit", body)).status_code == 400


async def test_operators_unknown_hit_is_not_found(bot: Bot) -> None:
    assert (await call(bot, "POST", "/slotcache/false-hit", {"id": "ab" * 30})).status_code == 404


async def test_operators_switch_an_intent_off_and_on(make_bot: Make) -> None:
    bot = make_bot(ADMIN)
    await bot.ask()
    seen = []
    for state in ("off", "on"):
        response = await call(bot, "POST", "/slotcache/intents/cancel_order", {"state": state}, headers=OPERATOR)
        seen.append((response.json()["state"], outcome(await bot.ask())))
    assert seen == [("off", ("bypass", "intent_off")), ("on", ("hit", "learned"))]


async def test_operators_list_what_is_switched_off(make_bot: Make) -> None:
    bot = make_bot(ADMIN | {"rules": {"intents_off": ["fines"]}})
    await call(bot, "POST", "/slotcache/intents/cancel_order", {"state": "off"}, headers=OPERATOR)
    assert (await call(bot, "GET", "/slotcache/intents", headers=OPERATOR)).json()["off"] == ["cancel_order", "fines"]


class DomainParser(ScriptedParser):
    domain = SimpleNamespace(intents={"cancel_order": None}, facet="aspect")


async def test_operators_switch_knows_the_intents_of_the_domain(make_bot: Make) -> None:
    bot = make_bot(ADMIN, parser=DomainParser(READINGS))
    statuses = [
        (await call(bot, "POST", f"/slotcache/intents/{name}", {"state": "off"}, headers=OPERATOR)).status_code
        for name in ("cancel_order", "no_such_intent", "%00", "")
    ]
    assert statuses == [200, 404, 404, 404]


@pytest.mark.parametrize("body", [{}, {"state": "maybe"}, {"state": None}, [], None])
async def test_operators_state_that_is_none_is_refused(make_bot: Make, body: Any) -> None:
    bot = make_bot(ADMIN)
    assert (await call(bot, "POST", "/slotcache/intents/x", body, headers=OPERATOR)).status_code == 400


INVALIDATE = "/slotcache/invalidate"


@pytest.mark.parametrize(
    "selection",
    [
        {"key": "cancel_order(timing=pre_shipment)"},
        {"intent": "cancel_order"},
        {"slots": {"timing": "pre_shipment"}},
        {"slots": {"timing": "*"}, "intent": "cancel_order"},
        {"epoch": "2026-11"},
        {"tag": "policies"},
    ],
    ids=lambda selection: "+".join(selection),
)
async def test_operators_invalidate_what_matches(make_bot: Make, selection: dict[str, Any]) -> None:
    bot = make_bot(ADMIN | {"policy_epoch": "2026-11"})
    await bot.ask()
    (entry,) = bot.proxy.cache.core.store.find(Selector())
    bot.proxy.cache.core.store.put(entry.but(tags=("policies",), created=entry.created + 1))
    tried = await call(bot, "POST", INVALIDATE, selection | {"dry_run": True}, headers=OPERATOR)
    after_trying = outcome(await bot.ask())
    done = await call(bot, "POST", INVALIDATE, selection, headers=OPERATOR)
    expected = {"count": 1, "keys": ["cancel_order(timing=pre_shipment)"]}
    assert (tried.json(), after_trying) == (expected | {"dry_run": True}, ("hit", "learned"))
    assert (done.json(), outcome(await bot.ask())) == (expected | {"dry_run": False}, ("miss", "not_found"))


@pytest.mark.parametrize(
    "selection",
    [
        {"intent": "pay_fine"},
        {"slots": {"timing": "post_shipment"}},
        {"slots": {"method": "*"}},
        {"intent": "cancel_order", "tenant": "somebody else"},
        {"tag": "policies"},
        {"epoch": "2026-11"},
        {"customer": "c1"},
    ],
)
async def test_operators_invalidate_leaves_what_does_not_match(make_bot: Make, selection: dict[str, Any]) -> None:
    bot = make_bot(ADMIN)
    await bot.ask()
    response = await call(bot, "POST", INVALIDATE, selection, headers=OPERATOR)
    assert (response.json()["count"], outcome(await bot.ask())) == (0, ("hit", "learned"))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"dry_run": True},
        {"intnet": "cancel_order", "tenant": "acme"},
        {"intent": ""},
        {"intent": 1},
        {"intent": None},
        {"tag": "x" * 1_001},
        {"slots": {"timing": 1}},
        {"slots": ["timing"]},
        {"slots": {}},
        {"intent": "cancel_order", "dry_run": "yes"},
        [],
        None,
    ],
)
async def test_operators_invalidation_that_is_not_clear_is_refused(make_bot: Make, body: Any) -> None:
    bot = make_bot(ADMIN)
    await bot.ask()
    response = await call(bot, "POST", INVALIDATE, body, headers=OPERATOR)
    assert (response.status_code, outcome(await bot.ask())) == (400, ("hit", "learned"))


GUARDED = [
    ("POST", "/slotcache/intents/x"),
    ("GET", "/slotcache/intents"),
    ("POST", "/slotcache/reload"),
    ("POST", "/slotcache/invalidate"),
]


@pytest.mark.parametrize(("method", "path"), [*GUARDED, ("GET", "/metrics")])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"X-Slotcache-Admin": "operators-token-0124"}, 401),
        ({"Authorization": f"Bearer {OTHER_KEY}"}, 401),
        (OPERATOR, "other"),
        ({"Authorization": f"Bearer {TOKEN}"}, "other"),
    ],
)
async def test_operators_token_is_asked_for(
    make_bot: Make, method: str, path: str, headers: dict[str, str], status: int | str
) -> None:
    bot = make_bot({"admin": {"token": hash_token(TOKEN), "metrics": True}})
    response = await call(bot, method, path, {"state": "off"}, headers=headers)
    assert response.status_code == status or (status == "other" and response.status_code in (200, 400, 409))


@pytest.mark.parametrize(("method", "path"), GUARDED)
async def test_operators_without_a_token_nobody_may(bot: Bot, method: str, path: str) -> None:
    assert (await call(bot, method, path, headers=OPERATOR)).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/healthz", 405),
        ("GET", "/slotcache/false-hit", 405),
        ("DELETE", "/slotcache/intents/x", 405),
        ("GET", "/slotcache/nothing", 404),
        ("GET", "/slotcache/", 404),
        ("HEAD", "/healthz", 200),
    ],
)
async def test_operators_wrong_path_or_method_goes_no_further(bot: Bot, method: str, path: str, status: int) -> None:
    response = await call(bot, method, path)
    assert (response.status_code, bot.endpoint.seen) == (status, [])


class AwayStore(MemoryStore):
    def entry(self, entry_id: str) -> Any:
        raise StoreUnavailable("away")

    def find(self, selector: Selector) -> Any:
        raise StoreUnavailable("away")

    def set_switch(self, intent: str, *, off: bool, now: float) -> None:
        raise StoreUnavailable("away")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/slotcache/false-hit", {"id": "x"}),
        ("/slotcache/intents/x", {"state": "off"}),
        ("/slotcache/invalidate", {"intent": "x"}),
    ],
)
async def test_operators_are_told_when_the_store_is_away(make_bot: Make, path: str, body: Any) -> None:
    bot = make_bot(ADMIN, store=AwayStore())
    response = await call(bot, "POST", path, body, headers=OPERATOR)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "store_unavailable")


async def test_operators_schema_is_served(bot: Bot) -> None:
    schema = (await call(bot, "GET", "/slotcache/openapi.json")).json()
    assert schema["openapi"].startswith("3.1")
    assert set(schema["paths"]) >= {"/healthz", "/v1/chat/completions", "/slotcache/false-hit"}


async def test_operators_answer_nothing_of_the_bot(bot: Bot) -> None:
    assert text_of(await bot.ask()) == "Yes, until it ships."
