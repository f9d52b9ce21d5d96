"""Stores under prefixes of their own, so that tests share servers without meeting."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from slotcache.stores.redis import RedisStore

Open = Callable[..., RedisStore]
_numbers = itertools.count()


@pytest.fixture
def prefix() -> str:
    """A prefix that no other test of this run uses."""
    return f"test-{next(_numbers)}"


@pytest.fixture
def open_at(prefix: str) -> Iterator[Open]:
    """Opens stores at a URL, under the test's prefix, and closes them in the end."""
    opened: list[RedisStore] = []

    def open_store(url: str, **options: Any) -> RedisStore:
        opened.append(RedisStore.from_url(url, **{"prefix": prefix, "buckets": 8, **options}))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()
