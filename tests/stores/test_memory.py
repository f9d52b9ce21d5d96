from __future__ import annotations

import pytest

from slotcache.errors import ConfigurationError
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from tests.stores.contract import NOW, BoundedStoreContract, StoreContract, entry, lease_for


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestFullMemoryStore(BoundedStoreContract):
    @pytest.fixture
    def small(self) -> Store:
        return MemoryStore(max_entries=3, max_history=2)


@pytest.mark.parametrize("bounds", [{"max_entries": 0}, {"max_history": 0}], ids=str)
def test_memory_refuses_a_bound_of_nothing(bounds: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        MemoryStore(**bounds)


def test_memory_forgets_leases_that_ran_out() -> None:
    store = MemoryStore(max_entries=10)
    for number in range(100):
        lease_for(store, entry(tenant=str(number)), now=NOW + 31 * number)
    assert len(store._leases) <= 12


def test_memory_forgets_expiry_times_of_entries_that_left() -> None:
    store = MemoryStore(max_entries=10)
    for number in range(1_000):
        store.put(entry(tenant=str(number), created=NOW + number, life=10_000))
    assert len(store._expiry) <= 2 * 10 + 64
