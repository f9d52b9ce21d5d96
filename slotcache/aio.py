"""The cache for asynchronous callers: the same flow as `SlotCache`, performed without blocking the event loop.

Reading an utterance and reaching the store run in a bounded pool of threads; a store in memory is asked directly, since
it never waits.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar, Unpack

from slotcache import flow, importing, upkeep
from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.core import ParserLike
from slotcache.errors import ConfigurationError
from slotcache.events import Outcome, Stored
from slotcache.policy import PLAIN, Directives
from slotcache.shell import ANYONE, Shell, Which, Wiring, select
from slotcache.stores.base import Store

T = TypeVar("T")
AsyncCall = Callable[[str], Awaitable[str | Answer]]
"""Asks the model: the utterance in, the answer out."""

Relay = Callable[[Outcome], Awaitable[str | Answer]]
"""Asks the model, knowing what came of the look-up."""


class AsyncSlotCache(Shell):
    """`SlotCache` for asyncio. All arguments and results are the same; the methods are coroutines."""

    def __init__(
        self,
        parser: ParserLike | None = None,
        store: Store | None = None,
        *,
        threads: int = 4,
        **wiring: Unpack[Wiring],
    ) -> None:
        """Wire a cache.

        Args:
            parser: Reads utterances into keys; see `SlotCache`.
            store: Where answers live; a SQLite file in the user's data folder when None.
            threads: How many utterances may be parsed, and how many store operations may run, at the same time.
            wiring: What else `SlotCache` takes.
        """
        super().__init__(parser, store, **wiring)
        self._start(threads)

    @classmethod
    def over(cls, cache: SlotCache, *, threads: int = 4) -> Self:
        """An asynchronous shell around a cache that synchronous callers use as well; they coalesce with each other."""
        made = cls.__new__(cls)
        made._core = cache.core
        made._start(threads)
        return made

    def _start(self, threads: int) -> None:
        if threads < 1:
            raise ConfigurationError("threads must be at least 1")
        # Apart, so that a store that hangs does not keep questions from being read.
        self._parsing = ThreadPoolExecutor(threads, thread_name_prefix="slotcache-parse")
        self._storing = ThreadPoolExecutor(threads, thread_name_prefix="slotcache-store")

    async def get(self, text: str, scope: Scope = ANYONE, *, directives: Directives = PLAIN) -> Outcome:
        """Look a question up; see `SlotCache.get`."""
        return await self._perform(flow.get(self._core, text, scope, directives))

    async def put(
        self,
        text: str,
        answer: str | Answer,
        scope: Scope = ANYONE,
        *,
        directives: Directives = PLAIN,
        tags: Iterable[str] = (),
    ) -> Stored:
        """Keep what the model answered, if it may be kept; see `SlotCache.put`."""
        said = Answer(answer) if isinstance(answer, str) else answer
        return await self._perform(flow.put(self._core, text, said, scope, directives, tuple(tags)))

    async def get_or_call(
        self,
        text: str,
        call: AsyncCall,
        scope: Scope = ANYONE,
        *,
        directives: Directives = PLAIN,
        tags: Iterable[str] = (),
    ) -> Outcome:
        """Look a question up, and call the model when there is nothing to serve; see `SlotCache.get_or_call`."""
        return await self.get_or_relay(text, lambda _: call(text), scope, directives=directives, tags=tags)

    async def get_or_relay(
        self,
        text: str,
        relay: Relay,
        scope: Scope = ANYONE,
        *,
        directives: Directives = PLAIN,
        tags: Iterable[str] = (),
    ) -> Outcome:
        """Like `get_or_call`, for callers who hand the model's reply on while it arrives.

        `relay` is told what came of the look-up, and gives the whole answer when the reply is over.
        """
        return await self._perform(flow.get_or_call(self._core, text, scope, directives, tuple(tags)), relay)

    def wrap(self, call: AsyncCall, *, scope: Scope = ANYONE) -> Callable[..., Awaitable[str]]:
        """The same coroutine function behind the cache; see `SlotCache.wrap`."""
        default = scope

        @functools.wraps(call)
        async def cached(text: str, *, scope: Scope = default, directives: Directives = PLAIN) -> str:
            return (await self.get_or_call(text, call, scope, directives=directives)).answer or ""

        return cached

    async def approve(
        self, text: str, answer: str, scope: Scope = ANYONE, *, author: str, tags: Iterable[str] = ()
    ) -> Stored:
        """Keep an answer that a person vouches for; see `SlotCache.approve`."""
        return await self._perform(flow.put(self._core, text, Answer(answer), scope, PLAIN, tuple(tags), author))

    async def approve_hit(self, hit_id: str, *, author: str, answer: str | None = None) -> Stored:
        """Turn the answer of a hit into an approved one; see `SlotCache.approve_hit`."""
        return await self._store(upkeep.approve, self._core, hit_id, author=author, answer=answer)

    async def invalidate(self, *, dry_run: bool = False, **which: Unpack[Which]) -> upkeep.Invalidation:
        """Take all answers that match out of recall; see `SlotCache.invalidate`."""
        return await self._store(upkeep.invalidate, self._core, select(**which), dry_run=dry_run)

    async def report_false_hit(self, hit_id: str, *, author: str = "", note: str = "") -> upkeep.Report:
        """Take a wrong answer out of recall at once; see `SlotCache.report_false_hit`."""
        return await self._store(upkeep.report_false_hit, self._core, hit_id, author=author, note=note)

    async def clear_quarantine(self, key: str, *, tenant: str = "", customer: str = "") -> bool:
        """Let learned answers fill a key again; see `SlotCache.clear_quarantine`."""
        return await self._store(upkeep.clear_quarantine, self._core, key, tenant=tenant, customer=customer)

    async def switch_off(self, intent: str) -> None:
        """Let an intent take no part any more; see `SlotCache.switch_off`."""
        await self._store(upkeep.switch, self._core, intent, off=True)

    async def switch_on(self, intent: str) -> None:
        """Undo `switch_off`."""
        await self._store(upkeep.switch, self._core, intent, off=False)

    async def import_answers(
        self,
        source: importing.Source,
        scope: Scope = ANYONE,
        *,
        author: str = "import",
        check_key: importing.CheckKey | None = None,
    ) -> importing.Imported:
        """Store approved answers from a file or rows; see `SlotCache.import_answers`."""
        return await self._store(
            importing.import_answers, self._core, source, scope, author=author, check_key=check_key
        )

    async def doctor(self) -> upkeep.Diagnosis:
        """Which address field splits each key; see `SlotCache.doctor`."""
        return await self._store(upkeep.doctor, self._core)

    async def aclose(self) -> None:
        """Let go of the store and the threads; it may be repeated."""
        await asyncio.to_thread(self._core.store.close)
        for pool in (self._parsing, self._storing):
            pool.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _store(self, work: Callable[..., T], *args: object, **options: object) -> T:
        bound = functools.partial(work, *args, **options)
        return await asyncio.get_running_loop().run_in_executor(self._storing, bound)

    async def _perform(
        self, steps: Generator[flow.Step, object, T], call: Callable[[Outcome], Awaitable[object]] | None = None
    ) -> T:
        """Do what a flow asks for, without blocking the event loop."""
        try:
            step = next(steps)
            while True:
                try:
                    result = await self._result(step, call)
                except GeneratorExit:
                    steps.close()
                    raise
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def _result(self, step: flow.Step, call: Callable[[Outcome], Awaitable[object]] | None) -> object:
        if isinstance(step, flow.Storing):
            return step.run() if self._core.store.local else await _finish(self._storing, step.run)
        if isinstance(step, flow.Parsing):
            return await _finish(self._parsing, step.run)
        if isinstance(step, flow.Calling):
            assert call is not None
            return await call(step.outcome)
        if isinstance(step, flow.Pausing):
            await asyncio.sleep(step.seconds)
            return None
        landing = asyncio.wrap_future(step.flight.done)
        done, _ = await asyncio.wait([landing], timeout=step.seconds)
        return landing.result() if done else None


async def _finish(pool: ThreadPoolExecutor, run: Callable[[], T]) -> T:
    """Run something in a thread, to its end even when the waiting task is cancelled.

    What comes after a cancellation (giving back a lease, for one) may rely on the step being over.
    """
    running = asyncio.get_running_loop().run_in_executor(pool, run)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
