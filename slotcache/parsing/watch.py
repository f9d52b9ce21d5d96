"""A parser that changes over to a newly promoted model by itself, while it is being asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from slotcache.domain.loader import domain_hash, load_domain
from slotcache.domain.patches import overlaid
from slotcache.errors import SlotcacheError
from slotcache.model_files import find_model, has_model, pointers, read_manifest
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse
from slotcache.parsing.upcoming import NEXT, load_next

SECONDS: Final = 1.0
"""How often the pointer is looked at, at most."""

_Seen = tuple[tuple[int, int, int] | None, ...]


class WatchingParser:
    """Reads like the parser it holds, and takes another one when the pointer to the version in use changes.

    The next parser is loaded beside the present one, in a thread of its own, and put in its place in one step. Its
    version and domain are part of every address, so model and stored answers change over together. A version that
    cannot be loaded leaves the present one in use.

    While the retraining job builds the next generation of stored answers, `next` is its parser, so that the cache can
    keep new answers in both.
    """

    def __init__(
        self,
        load: Callable[[], Parser],
        watched: Iterable[Path],
        *,
        announced: Iterable[Path] = (),
        load_next: Callable[[], Parser | None] = lambda: None,
        failed: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        background: bool = True,
    ) -> None:
        """Load for the first time.

        Args:
            load: Makes the parser that is to be in use now.
            watched: Files whose change means that another one is.
            announced: Files whose change means that another generation is being built, or none any more.
            load_next: Makes the parser of the generation that is being built.
            failed: Told of every reload that fails.
            clock: Seconds of a clock that is never set.
            background: Load in a thread; otherwise in the thread that asks, which waits.

        Raises:
            SlotcacheError: there is no parser to begin with.
        """
        self._load = load
        self._watched, self._announced = tuple(watched), tuple(announced)
        self._load_next = load_next
        self._failed = failed
        self._clock = clock
        self._background = background
        self._loading = Lock()
        self._seen = _stamps(self._watched)
        self._heard: _Seen = tuple(None for _ in self._announced)
        self._parser = load()
        self._next: Parser | None = None
        self._due = clock() + SECONDS

    @property
    def parser(self) -> Parser:
        """The parser in use."""
        if self._clock() >= self._due:
            self._look()
        return self._parser

    @property
    def next(self) -> Parser | None:
        """The parser of the generation that is being built beside the one in use; None while none is."""
        present, upcoming = self.parser, self._next
        if upcoming is None or (upcoming.version, upcoming.domain_hash) == (present.version, present.domain_hash):
            return None
        return upcoming

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
        unchanged = _stamps(self._watched) == self._seen and _stamps(self._announced) == self._heard
        if unchanged or not self._loading.acquire(blocking=False):
            return
        if self._background:
            Thread(target=self._reload, name="slotcache-model", daemon=True).start()
        else:
            self._reload()

    def _reload(self) -> None:
        try:
            # What is written while loading goes on is noticed the next time.
            seen, heard = _stamps(self._watched), _stamps(self._announced)
            if seen != self._seen:
                self._seen = seen
                self._parser = self._load()
            if heard != self._heard:
                self._heard = heard
                self._next = self._load_next()
        except (SlotcacheError, OSError) as error:
            self._failed(error)
        finally:
            self._loading.release()


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
    places = pointers(model)
    made: list[WatchingParser] = []

    def load() -> Parser:
        ready = made[0].next if made else None
        return ready if ready is not None and _is_current(ready, domain, model) else Parser.load(domain, model=model)

    made.append(
        WatchingParser(
            load,
            places,
            announced=[place.with_name(NEXT) for place in places],
            load_next=lambda: load_next(domain, [place.parent for place in places]),
            failed=failed,
        )
    )
    return made[0]


def _is_current(parser: Parser, domain: str | Path, model: str | Path | None) -> bool:
    """Whether a parser that is loaded already is the one to use now."""
    loaded = load_domain(domain)
    if model is None and not has_model(loaded.name):
        return parser.model is None and parser.domain_hash == domain_hash(loaded)
    folder = find_model(model, domain=loaded.name)
    named = read_manifest(folder).version, domain_hash(overlaid(loaded, folder))
    return (parser.version, parser.domain_hash) == named


def _stamps(paths: Iterable[Path]) -> _Seen:
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
