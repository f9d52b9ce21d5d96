"""The proxy keeps personal data out of stored questions where its configuration says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from slotcache.domain.loader import load_domain
from slotcache.entry import Selector
from slotcache.parsing.parser import Parser
from slotcache.stores.sqlite import SqliteStore
from tests.serving.harness import Bot, outcome

PARCELS = Path(__file__).parents[1] / "domains" / "parcels.yaml"
SETTINGS = {
    "rules": {"redaction_secret": "a secret of the operator"},
    "gateway": {"addresses": ["10.0.0.0/8"], "customer_header": "X-Customer"},
}
ONE, OTHER = (f"call me on 07700 90012{digit} about the dog, it's jo@example.org" for digit in (3, 4))


async def test_redaction_through_the_proxy(make_bot: Callable[..., Bot], tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "answers.sqlite3")
    bot = make_bot(SETTINGS, parser=Parser(load_domain(PARCELS)), store=store)
    told = [outcome(await bot.ask(text, headers={"X-Customer": "c1"})) for text in (ONE, ONE, OTHER)]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert told == [("miss", "not_found"), ("hit", "learned"), ("miss", "not_found")]
    assert {entry.question for entry in store.find(Selector())} == {"call me on <phone> about the dog, it's <email>"}
    assert [raw for raw in (b"07700", b"90012", b"jo@example.org", b"jo @ example") if raw in kept] == []
