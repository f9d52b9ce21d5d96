"""The cache as operators' commands use it: over the store that the bot uses, and mostly without reading questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from slotcache.errors import ConfigurationError
from slotcache.stores import open_store

if TYPE_CHECKING:
    from slotcache.cache import SlotCache
    from slotcache.parsing.types import Parse


class _NoParser:
    """Stands in where no question is read, so that a command need not load a model."""

    version: Final = ""
    domain_hash: Final = ""

    def parse(self, text: str) -> Parse:
        raise ConfigurationError("this command reads no questions")


def operated(store: str | None) -> SlotCache:
    """A cache for withdrawing, reporting and switching.

    Args:
        store: The store's address; see `open_store`.

    Raises:
        ConfigurationError: nobody else could see what is done to a store in memory.
    """
    from slotcache.cache import SlotCache

    if store is not None and store.partition("://")[0] == "memory":
        raise ConfigurationError("a store in memory belongs to its own process; name the store that the bot uses")
    return SlotCache(_NoParser(), open_store(store))
