"""No answer is readable across any line: tenant, customer, locale, model, prompt, epoch, owner.

Every cell of the matrix stores an answer under one scope and asks under another. `STORES` lists what it is tried over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from slotcache.address import Scope
from slotcache.cache import SlotCache
from slotcache.policy import Policy
from slotcache.prompts import PromptTemplate
from slotcache.serving.tokens import hash_token
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeClock, FakeModel, ScriptedParser, reading
from tests.cache.shells import READINGS
from tests.servers import server
from tests.serving.harness import CHAT, Bot, Endpoint, outcome, text_of
from tests.stores.redis_stores import Open, open_at, prefix

__all__ = ["open_at", "prefix", "server"]

STORES = ["memory", "sqlite", pytest.param("redis", marks=pytest.mark.server)]
SHARED, OWN = "can i cancel?", "cancel mine"
BASE = Scope(
    tenant="acme", customer="c1", locale="en-GB", model="m", prompt="Plan gold, today Monday.", policy_epoch="1"
)
LINES: dict[str, dict[str, Any]] = {
    "tenant": {"tenant": "beta"},
    "tenant that differs in a space": {"tenant": "acme "},
    "locale": {"locale": "en-US"},
    "model": {"model": "m2"},
    "significant part of the prompt": {"prompt": "Plan silver, today Monday."},
    "another prompt": {"prompt": "You are somebody else."},
    "no prompt": {"prompt": None},
    "prompt version": {"prompt_version": "v2"},
    "epoch": {"policy_epoch": "2"},
    "parameters": {"extra": (("temperature", "0.2"),)},
    "context": {"context": "what was said before"},
}
POLICY = Policy(
    prompts=(PromptTemplate("main", "Plan {plan}, today {day}.", significant=frozenset({"plan"})),),
    undeclared_prompts=8,
)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "redis":
        open_at: Open = request.getfixturevalue("open_at")
        yield open_at(request.getfixturevalue("server").url)
        return
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "answers.sqlite3")
    yield made
    made.close()


@pytest.fixture
def cache(store: Store) -> SlotCache:
    return SlotCache(ScriptedParser(READINGS), store, policy=POLICY, clock=FakeClock())


@pytest.mark.parametrize("approved", [False, True], ids=["learned", "approved"])
@pytest.mark.parametrize("question", [SHARED, OWN, "unknown words"], ids=["shared", "customer", "verbatim"])
@pytest.mark.parametrize("line", LINES)
def test_isolation_answer_is_not_read_across_a_line(cache: SlotCache, line: str, question: str, approved: bool) -> None:
    other = BASE.but(**LINES[line])
    for here, there in ((BASE, other), (other, BASE)):
        if approved:
            cache.approve(question, "here", here, author="kim")
        else:
            cache.put(question, "here", here)
        assert not cache.get(question, there).hit
        assert cache.get(question, here).hit
        cache.invalidate(tenant=here.tenant)


@pytest.mark.parametrize(("one", "other"), list(combinations(LINES, 2)))
def test_isolation_two_lines_at_once_do_not_meet(cache: SlotCache, one: str, other: str) -> None:
    cache.put(SHARED, "one", BASE.but(**LINES[one]))
    assert not cache.get(SHARED, BASE.but(**LINES[other])).hit


@pytest.mark.parametrize("customer", ["c2", "c1 ", "C1", None])
@pytest.mark.parametrize("question", [OWN, "unknown words"])
def test_isolation_customers_answer_is_their_own(cache: SlotCache, question: str, customer: str | None) -> None:
    cache.put(question, "of c1", BASE)
    assert not cache.get(question, BASE.but(customer=customer)).hit
    assert cache.get(question, BASE).hit


def test_isolation_shared_and_customer_owned_answers_of_one_key_do_not_meet(store: Store) -> None:
    clock = FakeClock()
    with SlotCache(ScriptedParser({"q": "fines()"}), store, clock=clock) as cache:
        cache.put("q", "shared", BASE)
        personal = ScriptedParser({"q": reading("q", "fines()", personal=("email",))})
        assert not SlotCache(personal, store, clock=clock).get("q", BASE).hit


@pytest.mark.parametrize("change", [{"version": "test-2"}, {"domain_hash": "another"}])
def test_isolation_another_parser_does_not_read_old_answers(cache: SlotCache, change: dict[str, str]) -> None:
    cache.put(SHARED, "old", BASE)
    for name, value in change.items():
        setattr(cache.core.parser, name, value)
    assert not cache.get(SHARED, BASE).hit


def test_isolation_what_varies_in_a_template_shares_what_the_model_said_about_none_of_it(cache: SlotCache) -> None:
    cache.get_or_call(SHARED, FakeModel({SHARED: "Yes."}), BASE)
    assert cache.get(SHARED, BASE.but(prompt="Plan gold, today Friday.", customer="c2")).hit


# Through the proxy: who asks comes from the key and from the gateway's headers.

ACME, BETA = "sk-acme-0123456789ab", "sk-beta-0123456789ab"
SETTINGS = {
    "callers": [
        {"name": "acme", "key": hash_token(ACME), "tenant": "acme"},
        {"name": "beta", "key": hash_token(BETA), "tenant": "beta"},
    ],
    "gateway": {
        "addresses": ["10.0.0.0/8"],
        "customer_header": "X-Customer",
        "tenant_header": "X-Tenant",
        "locale_header": "X-Locale",
    },
    "rules": {"undeclared_prompts": 8},
}
QUESTION = {"role": "user", "content": SHARED}
ASKED: dict[str, dict[str, Any]] = {
    "key": {"key": BETA},
    "tenant header": {"headers": {"X-Tenant": "gamma"}},
    "locale header": {"headers": {"X-Locale": "de"}},
    "model": {"model": "m2"},
    "temperature": {"temperature": 0.1},
    "max_tokens": {"max_tokens": 50},
    "prompt": {"messages": [{"role": "system", "content": "You are gamma."}, QUESTION]},
    "prompt of a developer": {"messages": [{"role": "developer", "content": "You are gamma."}, QUESTION]},
    "history": {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}, QUESTION]},
    "other history": {"messages": [{"role": "assistant", "content": "hi"}, {"role": "user", "content": "."}, QUESTION]},
    "name": {"messages": [{**QUESTION, "name": "jo"}]},
}


@pytest.fixture
def proxy_bot(store: Store, make_bot: Callable[..., Bot]) -> Bot:
    return make_bot(SETTINGS, store=store)


@pytest.mark.parametrize("line", ASKED)
async def test_isolation_proxy_does_not_serve_across_a_line(proxy_bot: Bot, line: str) -> None:
    await proxy_bot.ask(key=ACME)
    other = {"key": ACME} | ASKED[line]
    assert outcome(await proxy_bot.ask(**other)) == ("miss", "not_found")
    assert outcome(await proxy_bot.ask(**other))[0] == outcome(await proxy_bot.ask(key=ACME))[0] == "hit"


@pytest.mark.parametrize(("one", "other"), list(combinations(ASKED, 2)))
async def test_isolation_proxy_lines_do_not_meet(make_bot: Callable[..., Bot], one: str, other: str) -> None:
    bot = make_bot(SETTINGS)
    await bot.ask(**{"key": ACME} | ASKED[one])
    assert outcome(await bot.ask(**{"key": ACME} | ASKED[other])) == ("miss", "not_found")


@pytest.mark.parametrize(
    ("headers", "peer", "expected"),
    [
        ({"X-Customer": "c1"}, "10.0.0.9", "hit"),
        ({"X-Customer": "c2"}, "10.0.0.9", "miss"),
        ({"X-Customer": "c1"}, "192.0.2.1", "bypass"),
        ({}, "10.0.0.9", "bypass"),
        ([("X-Customer", "c2"), ("X-Customer", "c1")], "10.0.0.9", "bypass"),
    ],
)
async def test_isolation_proxy_serves_a_customers_answer_to_them_alone(
    proxy_bot: Bot, headers: Any, peer: str, expected: str
) -> None:
    await proxy_bot.ask(OWN, key=ACME, headers={"X-Customer": "c1"})
    assert outcome(await proxy_bot.ask(OWN, key=ACME, headers=headers, peer=peer))[0] == expected


async def test_isolation_proxy_takes_no_customer_from_the_user_field(proxy_bot: Bot) -> None:
    assert outcome(await proxy_bot.ask(OWN, key=ACME, user="c1")) == ("bypass", "no_customer")


async def test_isolation_proxy_takes_the_customer_from_the_user_field_where_the_operator_says_so(
    make_bot: Callable[..., Bot],
) -> None:
    bot = make_bot({"chat": {"customer_from_user": True}}, endpoint=Endpoint(answer=lambda asked: asked["user"]))
    told = [text_of(await bot.ask(OWN, user=user)) for user in ("c1", "c2", "c1")]
    assert (told, len(bot.endpoint.seen)) == (["c1", "c2", "c1"], 2)


@pytest.mark.parametrize("user", ["\\ud800", "x" * 300])
async def test_isolation_proxy_user_that_is_no_identifier_is_a_bypass(make_bot: Callable[..., Bot], user: str) -> None:
    bot = make_bot({"chat": {"customer_from_user": True}})
    raw = f'{{"model": "m", "user": "{user}", "messages": [{{"role": "user", "content": "cancel mine"}}]}}'
    async with bot.client() as client:
        response = await client.post(CHAT, content=raw)
    assert (response.status_code, outcome(response)) == (200, ("bypass", "request_unsupported"))
