"""The cache under test: sync and async, over every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.testing import FakeClock, FakeModel, ScriptedParser
from tests.cache.shells import READINGS, Bench, make_store


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return make_store(request.param, tmp_path)


@pytest.fixture
def make(kind: str, store: Store) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def build(policy: Policy | None = None, *, parser: Any = None, over: Any = None) -> Bench:
        bench = Bench(kind, parser or ScriptedParser(READINGS), over or store, policy, FakeClock())
        made.append(bench)
        return bench

    yield build
    for bench in made:
        bench.done()


@pytest.fixture
def bench(make: Callable[..., Bench]) -> Bench:
    return make()


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()
