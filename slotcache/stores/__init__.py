"""Where answers live: in memory, in a SQLite file, or on Redis or Valkey servers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from slotcache.errors import ConfigurationError

if TYPE_CHECKING:
    from slotcache.stores.base import Store

__all__ = ["open_store"]

_REDIS: Final = ("redis", "valkey", "unix")


def open_store(where: str | os.PathLike[str] | None = None) -> Store:
    """The store at a place.

    Args:
        where: `memory` or `memory://`; a Redis URL (see `slotcache.stores.redis_url`); otherwise a SQLite file. None
            takes what SLOTCACHE_STORE names in the same way, and without it a file in the user's data folder.

    Raises:
        ConfigurationError: no store has such an address.
        StoreError: what is there cannot be used.
    """
    named = os.fspath(where) if where is not None else os.environ.get("SLOTCACHE_STORE") or None
    scheme = named.partition("://")[0] if named is not None and "://" in named else ""
    if named == "memory" or scheme == "memory":
        from slotcache.stores.memory import MemoryStore

        return MemoryStore()
    if scheme.startswith(_REDIS):
        from slotcache.stores.redis import RedisStore

        assert named is not None
        return RedisStore.from_url(named)
    if scheme:
        raise ConfigurationError(
            f"no store has addresses like {scheme}://; give a SQLite file, redis://, rediss://, unix://, "
            "redis+sentinel://, redis+cluster:// or memory"
        )
    from slotcache.stores.sqlite import SqliteStore

    return SqliteStore(named)
