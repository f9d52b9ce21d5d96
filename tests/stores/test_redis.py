"""The Redis store does what every store does, on every kind of server, and what only it does."""

from __future__ import annotations

import pytest

from slotcache.stores.base import Store
from tests.servers import shared
from tests.stores.contract import BoundedStoreContract, SharedStoreContract, StoreContract
from tests.stores.redis_stores import Open

pytestmark = pytest.mark.server
KINDS = ["valkey", "redis", "redis-6.2", "cluster", "sentinel"]


@pytest.mark.parametrize("kind", KINDS)
class TestRedisStore(StoreContract):
    @pytest.fixture
    def store(self, kind: str, open_at: Open) -> Store:
        return open_at(shared(kind).url, timeout=5)


@pytest.mark.parametrize("kind", ["valkey", "redis-6.2"])
class TestRedisStoreWithTheOlderProtocol(StoreContract):
    @pytest.fixture
    def store(self, kind: str, open_at: Open) -> Store:
        return open_at(shared(kind).url, protocol=2, timeout=5)


@pytest.mark.parametrize("kind", KINDS)
class TestSharedRedisStore(SharedStoreContract):
    @pytest.fixture
    def views(self, kind: str, open_at: Open) -> tuple[Store, Store]:
        return open_at(shared(kind).url, timeout=5), open_at(shared(kind).url, timeout=5)


@pytest.mark.parametrize("kind", ["valkey", "redis-6.2", "cluster"])
class TestFullRedisStore(BoundedStoreContract):
    @pytest.fixture
    def small(self, kind: str, open_at: Open) -> Store:
        return open_at(shared(kind).url, buckets=1, max_entries=3, max_history=2)
