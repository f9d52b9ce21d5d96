"""Keeps a parser for a process that must not stop: it may be missing at first, and can be exchanged while in use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from slotcache.core import ParserLike
from slotcache.errors import DomainError, ModelError, SlotcacheError
from slotcache.parsing.types import Parse


class ParserHost:
    """A parser whose model may be damaged or missing.

    Until there is a parser every question is a bypass (`parser_failed`), so the model is called and the customer is
    answered. A reload that fails leaves the parser that is in use where it is.
    """

    def __init__(self, load: Callable[[], ParserLike], *, failed: Callable[[Exception], None]) -> None:
        """Load for the first time.

        Args:
            load: Makes a parser.
            failed: Told of every attempt that fails.

        Raises:
            DomainError: the domain cannot be used, which is for the operator to mend before anything starts.
        """
        self._load = load
        self._failed = failed
        self._lock = Lock()
        self._parser: ParserLike | None = None
        self.reload()

    @property
    def loaded(self) -> bool:
        """Whether questions can be read."""
        return self._parser is not None

    @property
    def version(self) -> str:
        """Version of the model in use."""
        return self._parser.version if self._parser is not None else ""

    @property
    def domain_hash(self) -> str:
        """Digest of the domain in use."""
        return self._parser.domain_hash if self._parser is not None else ""

    @property
    def domain(self) -> object:
        """The domain in use, where the parser has one."""
        return getattr(self._parser, "domain", None)

    @property
    def next(self) -> object:
        """The parser of the generation that is being built beside the one in use, where the parser knows of one."""
        return getattr(self._parser, "next", None)

    def parse(self, text: str) -> Parse:
        """The reading of one utterance.

        Raises:
            ModelError: there is no parser.
        """
        parser = self._parser
        if parser is None:
            raise ModelError("no parser is loaded")
        return parser.parse(text)

    def reload(self) -> bool:
        """Make a new parser and use it from now on; whether that worked."""
        with self._lock:
            try:
                parser = self._load()
            except (SlotcacheError, OSError) as error:
                if isinstance(error, DomainError) and self._parser is None:
                    raise
                self._failed(error)
                return False
            self._parser = parser
            return True
