"""A parser that changes over to a newly promoted model by itself, while it is being asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from slotcache.errors import SlotcacheError
from slotcache.model_files import pointers
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse

SECONDS: Final = 1.0
"""How often the pointer is looked at, at most."""

_Seen = tuple[tuple[int, int, int] | None, ...]


class WatchingParser:
    """Reads like the parser it holds, and takes another one when the pointer to the version in use changes.

    The next parser is loaded beside the present one, in a thread of its own, and put in its place in one step. Its
    version and domain are part of every address, so model and stored answers change over together. A version that
    cannot be loaded leaves the present one in use.
    """

    def __init__(
        self,
        load: Callable[[], Parser],
        watched: Iterable[Path],
        *,
        failed: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        background: bool = True,
    ) -> None:
        """Load for the first time.

        Args:
            load: Makes the parser that is to be in use now.
            watched: Files whose change means that another one is.
            failed: Told of every reload that fails.
            clock: Seconds of a clock that is never set.
            background: Load in a thread; otherwise in the thread that asks, which waits.

        Raises:
            SlotcacheError: there is no parser to begin with.
        """
        self._load = load
        self._watched = tuple(watched)
        self._failed = failed
        self._clock = clock
        self._background = background
        self._loading = Lock()
        self._seen = self._stamp()
        self._parser = load()
        self._due = clock() + SECONDS

    @property
    def parser(self) -> Parser:
        """The parser in use."""
        if self._clock() >= self._due:
            self._look()
        return self._parser

    @property
    def version(self) -> str:
        """Version of the model in use."""
        return self.parser.version

    @property
    def domain_hash(self) -> str:
        """Digest of the domain in use."""
        return self._parser.domain_hash

    @property
    def domain(self) -> object:
        """The domain in use."""
        return self._parser.domain

    def parse(self, text: str) -> Parse:
        """The reading of one utterance."""
        return self.parser.parse(text)

    def _look(self) -> None:
        self._due = self._clock() + SECONDS
        if self._stamp() == self._seen or not self._loading.acquire(blocking=False):
            return
        if self._background:
            Thread(target=self._reload, name="slotcache-model", daemon=True).start()
        else:
            self._reload()

    def _reload(self) -> None:
        try:
            # What is written while loading goes on is noticed the next time.
            self._seen = self._stamp()
            self._parser = self._load()
        except (SlotcacheError, OSError) as error:
            self._failed(error)
        finally:
            self._loading.release()

    def _stamp(self) -> _Seen:
        return tuple(map(_stamp, self._watched))


def watching(
    domain: str | Path = "order_support",
    *,
    model: str | Path | None = None,
    failed: Callable[[Exception], None] = lambda _: None,
) -> WatchingParser:
    """A parser for a domain that follows promotions; arguments as for `Parser.load`.

    Args:
        domain: Name of a shipped domain, or a path.
        model: A folder of versions; None looks where models are kept.
        failed: Told of every reload that fails.

    Raises:
        DomainError: the domain cannot be used.
        ModelError: the model is damaged or was made for another domain.
    """
    return WatchingParser(lambda: Parser.load(domain, model=model), pointers(model), failed=failed)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
