"""Fixtures of the tests that need servers."""

from __future__ import annotations

from tests.servers import server
from tests.stores.redis_stores import open_at, prefix

__all__ = ["open_at", "prefix", "server"]
