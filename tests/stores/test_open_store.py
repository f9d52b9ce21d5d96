from __future__ import annotations

from pathlib import Path

import pytest

from slotcache.errors import ConfigurationError
from slotcache.stores import open_store
from slotcache.stores.memory import MemoryStore
from slotcache.stores.redis import RedisStore
from slotcache.stores.redis_url import Kind
from slotcache.stores.sqlite import SqliteStore


@pytest.mark.parametrize("where", ["memory", "memory://"])
def test_open_store_in_memory(where: str) -> None:
    assert isinstance(open_store(where), MemoryStore)


@pytest.mark.parametrize("kind", [str, Path])
def test_open_store_in_a_file(tmp_path: Path, kind: type) -> None:
    store = open_store(kind(tmp_path / "answers.db"))
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "answers.db"
    store.close()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://127.0.0.1:1", Kind.SINGLE),
        ("valkey://127.0.0.1:1", Kind.SINGLE),
        ("rediss://127.0.0.1:1", Kind.SINGLE),
        ("unix:///nowhere/s.sock", Kind.UNIX),
        ("redis+sentinel://127.0.0.1:1/mymaster", Kind.SENTINEL),
        ("redis+cluster://127.0.0.1:1", Kind.CLUSTER),
    ],
)
def test_open_store_on_servers_that_need_not_be_there_yet(url: str, kind: Kind) -> None:
    store = open_store(url)
    assert isinstance(store, RedisStore)
    assert store.url.kind is kind
    store.close()


def test_open_store_takes_what_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTCACHE_STORE", str(tmp_path / "named.db"))
    store = open_store()
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / "named.db"
    store.close()


def test_open_store_takes_a_url_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTCACHE_STORE", "memory://")
    assert isinstance(open_store(), MemoryStore)


def test_open_store_knows_no_other_address_and_tells_no_password() -> None:
    with pytest.raises(ConfigurationError, match="addresses like postgres://") as failure:
        open_store("postgres://bot:hush@h")
    assert "hush" not in str(failure.value)
