"""The Redis store does what every store does, on every kind of server, and what only it does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from slotcache.stores.base import Store
from slotcache.stores.redis import RedisStore
from tests.servers import shared
from tests.stores.contract import BoundedStoreContract, SharedStoreContract, StoreContract

pytestmark = pytest.mark.server
KINDS = ["valkey", "redis", "cluster", "sentinel"]
_numbers = itertools.count()

Open = Callable[..., RedisStore]


@pytest.fixture
def open_at() -> Iterator[Open]:
    """Opens stores at a URL, under a prefix of the test's own, and closes them in the end."""
    prefix = f"test-{next(_numbers)}"
    opened: list[RedisStore] = []

    def open_store(url: str, **options: Any) -> RedisStore:
        opened.append(RedisStore.from_url(url, **{"prefix": prefix, "buckets": 8, **options}))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.mark.parametrize("kind", KINDS)
class TestRedisStore(StoreContract):
    @pytest.fixture
    def store(self, kind: str, open_at: Open) -> Store:
        return open_at(shared(kind).url, timeout=5)


class TestRedisStoreWithTheOlderProtocol(StoreContract):
    @pytest.fixture
    def store(self, open_at: Open) -> Store:
        return open_at(shared("valkey").url, protocol=2, timeout=5)


@pytest.mark.parametrize("kind", KINDS)
class TestSharedRedisStore(SharedStoreContract):
    @pytest.fixture
    def views(self, kind: str, open_at: Open) -> tuple[Store, Store]:
        return open_at(shared(kind).url, timeout=5), open_at(shared(kind).url, timeout=5)


@pytest.mark.parametrize("kind", ["valkey", "cluster"])
class TestFullRedisStore(BoundedStoreContract):
    @pytest.fixture
    def small(self, kind: str, open_at: Open) -> Store:
        return open_at(shared(kind).url, buckets=1, max_entries=3, max_history=2)
