"""Opens the store that a command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.errors import ConfigurationError

if TYPE_CHECKING:
    from slotcache.stores.base import Store

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="A SQLite file, or 'memory'; a file in your data folder when not given."),
]


def open_store(where: str | None) -> Store:
    """The store at a place.

    Raises:
        ConfigurationError: no store has such an address.
    """
    if where == "memory":
        from slotcache.stores.memory import MemoryStore

        return MemoryStore()
    if where is not None and "://" in where:
        raise ConfigurationError(f"no store has addresses like {where!r}; give a SQLite file or 'memory'")
    from slotcache.stores.sqlite import SqliteStore

    return SqliteStore(where)
