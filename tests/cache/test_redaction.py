"""With a redaction secret no byte of any store holds what a question said about somebody; hits stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slotcache.domain.loader import load_domain
from slotcache.entry import Selector
from slotcache.errors import AnswersError, ConfigurationError
from slotcache.generations import reread
from slotcache.parsing.parser import Parser
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.stores.redis import RedisStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeModel
from tests.cache.shells import ACME, Bench, everything

PARCELS = Path(__file__).parents[1] / "domains" / "parcels.yaml"
POLICY = Policy(redaction_secret="a secret of the operator")
QUESTIONS = (
    "when will my order 10234567 arrive?",
    "write to jo.bloggs@example.org when it comes",
    "call me on 07700 900123 about the dog",
    "my name is Anna Schmidt, can i return my parcel?",
    "my name is anna schmidt, can i return my parcel?",
)
RAW = ("10234567", "jo.bloggs", "bloggs", "example.org", "07700", "900123", "anna", "schmidt")


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(load_domain(PARCELS))


@pytest.fixture
def said() -> FakeModel:
    return FakeModel(lambda text: "It comes within three days.")


def bytes_of(store: Store) -> str:
    """Everything that a store keeps, in small letters."""
    if isinstance(store, SqliteStore):
        files = store.path.parent.glob(store.path.name + "*")
        return "".join(path.read_bytes().decode("latin-1") for path in files).lower()
    if isinstance(store, RedisStore):
        return "\n".join(_of_redis(store)).lower()
    kept = [entry.to_json() for entry in store.find(Selector())]
    kept += [old.entry.to_json() for entry in store.find(Selector()) for old in store.history(entry.cell)]
    return repr((kept, store.waiting(), store.feedback(), store.quarantines())).lower()


def _of_redis(store: RedisStore) -> Iterator[str]:
    import redis

    with redis.Redis(*store.url.nodes[0]) as client:
        for key in client.scan_iter(match=f"{store.url.options.prefix}:*"):
            reading = {
                b"hash": client.hgetall,
                b"set": client.smembers,
                b"zset": lambda name: client.zrange(name, 0, -1),
                b"list": lambda name: client.lrange(name, 0, -1),
                b"string": client.get,
            }
            yield repr((key, reading[client.type(key)](key)))


def test_cache_redaction_leaves_nothing_personal_in_the_store(
    make: Callable[..., Bench], parser: Parser, store: Store, said: FakeModel
) -> None:
    bench = make(POLICY, parser=parser)
    hits = []
    for text in QUESTIONS:
        bench.ask(text, said, ACME)
        bench.approve(text, "It comes today.", ACME, author="kim")
        hits.append(bench.get(text, ACME))
    bench.report_false_hit(hits[0].hit_id)
    assert [hit.hit for hit in hits] == [True, True, True, True, False]
    assert [value for value in RAW if value in bytes_of(store)] == []


def test_cache_without_a_redaction_secret_stores_the_question_as_typed(
    make: Callable[..., Bench], parser: Parser, store: Store, said: FakeModel
) -> None:
    bench = make(parser=parser)
    for text in QUESTIONS:
        bench.approve(text, "It comes today.", ACME, author="kim")
    assert [value for value in RAW if value not in bytes_of(store)] == []


def test_cache_redaction_keeps_one_customers_orders_apart(make: Callable[..., Bench], parser: Parser) -> None:
    bench, model = make(POLICY, parser=parser), FakeModel(lambda text: f"Tomorrow: {text[:2]}.")
    one, other = "when will my order 10234567 arrive?", "when will my order 10234568 arrive?"
    bench.approve(one, "Tomorrow.", ACME, author="kim")
    assert [bench.get(text, ACME).hit for text in (one, other)] == [True, False]
    bench.approve(other, "Today.", ACME, author="kim")
    assert [bench.ask(text, model, ACME).answer for text in (one, other)] == ["Tomorrow.", "Today."]


def test_cache_redaction_tells_why_a_question_cannot_be_stored(
    make: Callable[..., Bench], parser: Parser, said: FakeModel
) -> None:
    bench = make(POLICY, parser=parser)
    text = "Anna Schmidt here, when does my parcel come"
    assert bench.ask(text, said, ACME).not_stored == "not_redactable"
    assert bench.approve(text, "Today.", ACME, author="kim").reason == "not_redactable"


def test_cache_redaction_leaves_shared_answers_to_all(
    make: Callable[..., Bench], parser: Parser, said: FakeModel
) -> None:
    bench = make(POLICY, parser=parser)
    bench.ask("can i return my parcel?", said, ACME)
    assert bench.get("can i send back a parcel?", ACME.but(customer="c2")).hit


def test_cache_redacted_answers_are_rekeyed_to_the_same_place(
    make: Callable[..., Bench], parser: Parser, store: Store
) -> None:
    bench = make(POLICY, parser=parser)
    for text in QUESTIONS[:4]:
        bench.approve(text, "It comes today.", ACME, author="kim")
    entries = list(store.find(everything()))
    assert len(entries) == 4
    assert [made.address for entry in entries if not isinstance(made := reread(entry, parser, POLICY), str)] == [
        entry.address for entry in entries
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"question": "Anna Schmidt here, when does my parcel come"}, "not_redactable"),
        ({"key": "arrival(aspect=when, reference=10234567)", "customer": "c1"}, "not_redactable"),
    ],
)
def test_cache_redaction_holds_for_imported_answers(
    make: Callable[..., Bench], parser: Parser, row: dict[str, str], reason: str
) -> None:
    with pytest.raises(AnswersError, match=reason):
        make(POLICY, parser=parser).import_answers([row | {"answer": "Today."}], ACME)


def test_cache_redaction_secret_has_to_be_long_enough() -> None:
    with pytest.raises(ConfigurationError, match="16 characters"):
        Policy(redaction_secret="short")


def test_cache_redaction_secret_shows_nowhere() -> None:
    assert POLICY.redaction_secret not in repr(POLICY)
