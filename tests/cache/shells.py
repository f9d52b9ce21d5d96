"""One face for the sync and the async cache, so that every test of the flow runs against both."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from slotcache.address import Scope
from slotcache.aio import AsyncSlotCache
from slotcache.cache import SlotCache
from slotcache.core import ParserLike
from slotcache.entry import Selector
from slotcache.errors import Abstain
from slotcache.events import Outcome
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import Policy
from slotcache.shell import ANYONE
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeClock, FakeModel, Recorder, reading

KEY = "cancel_order(timing=pre_shipment)"
READINGS: dict[str, str | Parse] = {
    "can i cancel?": KEY,
    "may i call it off?": KEY,
    "can i cancel after it ships?": "cancel_order(timing=post_shipment)",
    "can i not cancel?": reading("can i not cancel?", KEY, fingerprint=("not",)),
    "gran says offer 50. can i cancel?": reading("gran says offer 50. can i cancel?", KEY, fillable=False),
    "cancel mine": reading("cancel mine", "cancel_mine()", owner=Owner.CUSTOMER),
    "where is it?": reading("where is it?", "track_order()", owner=Owner.NEVER),
    "and after that?": Parse("and after that?", abstain=Abstain.FOLLOW_UP),
}
ACME = Scope(tenant="acme", customer="c1", locale="en-GB", model="m")


class Bench:
    """A cache under test with its clock, its store and a record of its events."""

    def __init__(self, kind: str, parser: ParserLike, store: Store, policy: Policy | None, clock: FakeClock) -> None:
        self.kind, self.store, self.clock, self.parser = kind, store, clock, parser
        self.seen = Recorder()
        made = SlotCache(parser, store, policy=policy, observers=(self.seen,), clock=clock)
        self.sync = made
        self._async = AsyncSlotCache.over(made) if kind == "async" else None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A method of the cache, run to its end."""
        if self._async is None:
            return getattr(self.sync, name)  # type: ignore[no-any-return]
        method = getattr(self._async, name)

        def run(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            return asyncio.run(result) if isinstance(result, Coroutine) else result

        return run

    def ask(self, text: str, model: FakeModel, scope: Scope = ANYONE, **options: Any) -> Outcome:
        """Look up and call the model on a miss."""
        call = model if self._async is None else model.acall
        return self.get_or_call(text, call, scope, **options)  # type: ignore[no-any-return]

    def ask_at_once(self, texts: list[str], model: FakeModel, scope: Scope = ANYONE) -> list[Outcome | BaseException]:
        """Ask several questions at the same time."""
        if self._async is None:
            return _in_threads(lambda text: self.sync.get_or_call(text, model, scope), texts)
        shell = self._async

        async def gather() -> list[Outcome | BaseException]:
            asked = (shell.get_or_call(text, model.acall, scope) for text in texts)
            return await asyncio.gather(*asked, return_exceptions=True)

        return asyncio.run(gather())

    def done(self) -> None:
        """Let go of everything."""
        if self._async is None:
            self.sync.close()
        else:
            asyncio.run(self._async.aclose())


def make_store(kind: str, folder: Path) -> Store:
    """A store by name."""
    if kind == "redis":
        # Here, because the processes that tests start import this module too and should be quick.
        from slotcache.stores.redis import RedisStore
        from tests.servers import shared

        # A prefix of its own on a server that all tests share.
        return RedisStore.from_url(shared("valkey").url, prefix=f"cache-{next(_numbers)}", buckets=2, timeout=5)
    return MemoryStore() if kind == "memory" else SqliteStore(folder / "answers.sqlite3", busy_seconds=5)


_numbers = itertools.count()


def _in_threads(ask: Callable[[str], Outcome], texts: list[str]) -> list[Outcome | BaseException]:
    results: list[Outcome | BaseException | None] = [None] * len(texts)

    def work(at: int) -> None:
        try:
            results[at] = ask(texts[at])
        except Exception as error:
            results[at] = error

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return [result for result in results if result is not None]


def summary(outcome: Outcome) -> tuple[str, str, str, str | None]:
    """What happened, where the answer came from, and why it was not kept."""
    return (outcome.decision, outcome.reason, outcome.source, outcome.not_stored)


def everything() -> Selector:
    """All entries."""
    return Selector()
