"""Streams that arrive whether or not somebody listens, so that whoever waits for the same answer never waits in vain.

A caller may open a stream, open another one for the same question, and read neither for a while. What is asked of the
model is therefore read by a thread or a task of its own; the caller gets the chunks from a queue.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from slotcache.events import Outcome


class LeftError(Exception):
    """The caller left a stream before its end, so nothing more is asked of the model."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The model's own stream is there; its chunks follow."""

    stream: Any


@dataclass(frozen=True, slots=True)
class Ended:
    """It is over.

    Attributes:
        outcome: What came of the question; None when something failed.
        error: What failed; None also when the caller left.
    """

    outcome: Outcome | None
    error: BaseException | None = None


Give = Callable[[Any], None]
"""Takes `Opened` and then each chunk."""


class Arriving:
    """One question whose chunks are read by a thread.

    Attributes:
        first: `Opened` when the model was called; `Ended` when it was not.
    """

    def __init__(self, work: Callable[[Give], Outcome]) -> None:
        """Start, and wait until it is known whether there is a stream.

        Args:
            work: Asks the question, hands on what arrives and gives the outcome in the end.

        Raises:
            Exception: what `work` raised before there was a stream.
        """
        self._work = work
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._left = threading.Event()
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._run,), name="slotcache-stream", daemon=True).start()
        self.first: Opened | Ended = self._queue.get()
        if isinstance(self.first, Ended) and self.first.error is not None:
            raise self.first.error

    def chunks(self) -> Iterator[Any]:
        """The chunks, in order.

        Raises:
            Exception: what broke the stream off.
        """
        while not isinstance(item := self._queue.get(), Ended):
            yield item
        if item.error is not None:
            raise item.error

    def leave(self) -> None:
        """Ask no more of the model: the stream is closed when its next chunk arrives."""
        self._left.set()

    def _run(self) -> None:
        try:
            ended = Ended(self._work(self._give))
        except LeftError:
            ended = Ended(None)
        except BaseException as error:  # it belongs to the thread that listens
            ended = Ended(None, error)
        self._queue.put(ended)

    def _give(self, item: Any) -> None:
        if self._left.is_set():
            raise LeftError
        self._queue.put(item)


class AsyncArriving:
    """`Arriving` for asyncio, with a task in place of the thread; made by `start`."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.first: Opened | Ended = Ended(None)

    @classmethod
    async def start(cls, work: Callable[[Give], Awaitable[Outcome]], running: set[asyncio.Task[None]]) -> AsyncArriving:
        """Start, and wait until it is known whether there is a stream.

        Args:
            work: As for `Arriving`.
            running: Holds the task while it runs; nobody else may, if the caller drops the stream.

        Raises:
            Exception: what `work` raised before there was a stream.
        """
        made = cls()
        made._task = task = asyncio.create_task(made._run(work))
        running.add(task)
        task.add_done_callback(running.discard)
        try:
            made.first = await made._queue.get()
        except asyncio.CancelledError:
            await made.leave()
            raise
        if isinstance(made.first, Ended) and made.first.error is not None:
            raise made.first.error
        return made

    async def chunks(self) -> AsyncIterator[Any]:
        """The chunks, in order.

        Raises:
            Exception: what broke the stream off.
        """
        while not isinstance(item := await self._queue.get(), Ended):
            yield item
        if item.error is not None:
            raise item.error

    async def leave(self) -> None:
        """Ask no more of the model, and wait until the key is free for the next caller."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, work: Callable[[Give], Awaitable[Outcome]]) -> None:
        ended = Ended(None)
        try:
            ended = Ended(await work(self._queue.put_nowait))
        except Exception as error:  # it belongs to the task that listens
            ended = Ended(None, error)
        finally:
            self._queue.put_nowait(ended)
