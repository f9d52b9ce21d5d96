"""Users, passwords, certificates, sockets, versions: everything between a URL and the first answer."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import tests
from slotcache.entry import Selector
from slotcache.errors import StoreError, StoreUnavailable
from slotcache.stores.base import PutResult
from slotcache.stores.redis import RedisStore
from tests.servers import HOST, Proxy, Server, make_certificates, oldest_redis_binary, redis_binary, shared
from tests.stores.contract import NOW, entry, lease_for, quarantine
from tests.stores.redis_stores import Open

pytestmark = pytest.mark.server
PASSWORD = "p@ss:/%?#word"
DOCUMENT = Path(tests.__path__[0]).parent / "docs" / "redis.md"


def allow(server: Server, *more: str) -> None:
    """Make a user with just the rights that the documentation lists."""
    found = re.search(r"ACL SETUSER shop on >password (.*)", DOCUMENT.read_text(encoding="utf-8"))
    assert found is not None
    with contextlib.closing(server.client()) as client:
        client.execute_command("ACL", "SETUSER", "shop", "on", f">{PASSWORD}", *found[1].split(), *more)


@pytest.fixture
def guarded() -> Iterator[Server]:
    """A server that serves nobody but a user with just the rights that the documentation lists."""
    server = Server().start()
    allow(server)
    with contextlib.closing(server.client()) as client:
        client.execute_command("ACL", "SETUSER", "default", "off")
    yield server
    server.dispose()


def use_everything(store: RedisStore) -> None:
    """Each operation once."""
    store.put(entry(tags=("t",)), lease=lease_for(store, entry()))
    store.put(entry(token="1" * 16))
    store.put_many([entry(tenant=tenant, life=1) for tenant in "ab"])
    store.release(lease_for(store, entry(tenant="c")))
    store.retire(entry(tenant="a").id, reason="false_hit", now=NOW)
    store.add_quarantine(quarantine(tenant="d"))
    store.end_quarantine(quarantine(tenant="d").place)
    store.set_switch("cancel_order", off=True, now=NOW)
    store.set_switch("cancel_order", off=False, now=NOW)
    store.note_waiting("a()", now=NOW)
    assert store.sweep(NOW + 50) == 1
    assert len(store.history(entry().cell)) == 1
    assert store.invalidate(Selector(slots=(("timing", "*"),)), reason="invalidated", now=NOW) == 1
    assert (store.counts()["entries"], dict(store.waiting()), store.switches()) == (0, {"a()": 1}, frozenset())


def test_redis_user_with_a_password_that_needs_encoding_and_few_rights(guarded: Server) -> None:
    store = RedisStore.from_url(f"redis://shop:{quote(PASSWORD, safe='')}@{guarded.address}", buckets=2)
    use_everything(store)
    store.close()


def test_redis_user_with_few_rights_in_a_cluster() -> None:
    cluster = shared("cluster")
    for node in cluster.nodes:
        allow(node, *re.findall(r"`(\+cluster\|slots[^`]*)`", DOCUMENT.read_text(encoding="utf-8"))[0].split())
    url = cluster.url.replace("://", f"://shop:{quote(PASSWORD, safe='')}@")
    store = RedisStore.from_url(url, buckets=2)
    use_everything(store)
    store.close()


@pytest.mark.parametrize("login", ["shop:wrong@", "shop:@", "nobody:x@", ""])
def test_redis_wrong_password_is_unavailable_and_not_told(guarded: Server, login: str) -> None:
    store = RedisStore.from_url(f"redis://{login}{guarded.address}")
    with pytest.raises(StoreUnavailable) as failure:
        store.get(entry().cell)
    assert "wrong" not in str(failure.value).replace("WRONGPASS", "")
    store.close()


def test_redis_sentinels_and_servers_with_passwords() -> None:
    servers = shared("sentinel")
    with contextlib.closing(servers.primary.client()) as client:
        client.execute_command("ACL", "SETUSER", "shop", "on", f">{PASSWORD}", "~slotcache:*", "+@all")
    url = servers.url.replace("://", f"://shop:{quote(PASSWORD, safe='')}@") + "/0"
    store = RedisStore.from_url(url, buckets=2)
    store.invalidate(Selector(tenant="nobody"), reason="invalidated", now=NOW)
    assert store.put(entry()) is PutResult.STORED
    store.retire(entry().id, reason="done", now=NOW)
    store.close()


@pytest.fixture(params=["valkey", "redis-6.2"])
def without_hello(request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of a server that knows the older protocol only, as some proxies do."""
    made = Server(binary=oldest_redis_binary() if request.param == "redis-6.2" else None)
    made.append('rename-command HELLO ""')
    made.start(ping=False)
    with contextlib.closing(made.client(protocol=2)) as client:
        made.wait(client)
    yield made.url
    made.dispose()


def test_redis_server_without_the_newer_protocol_is_spoken_to_in_the_older(without_hello: str, open_at: Open) -> None:
    store = open_at(without_hello, protocol=3)
    assert store.put(entry()) is PutResult.STORED
    assert tuple(store.get(entry().cell)) == (entry(),)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


@pytest.fixture(params=["server", "proxy"])
def encrypted(request: pytest.FixtureRequest, certificates: Path) -> Iterator[str]:
    """Address of a server that speaks TLS and wants the client's certificate."""
    if request.param == "server":
        files = {
            f"tls_{name}_file": str(certificates / f"server.{end}") for name, end in (("cert", "crt"), ("key", "key"))
        }
        server = Server(binary=redis_binary(), tls_ca_cert_file=str(certificates / "ca.crt"), **files)
        server.append(f"port 0\ntls-port {server.port}")
        server.start(ping=False)
        wait = {name: str(certificates / file) for name, file in CLIENT.items()}
        with contextlib.closing(server.client(ssl=True, **wait)) as client:
            server.wait(client)
        yield server.address
        server.dispose()
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
        context.load_verify_locations(certificates / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        proxy = Proxy(shared("valkey").port, tls=context)
        yield f"{HOST}:{proxy.port}"
        proxy.close()


CLIENT = {"ssl_ca_certs": "ca.crt", "ssl_certfile": "client.crt", "ssl_keyfile": "client.key"}


def test_redis_over_tls_with_certificates_on_both_sides(encrypted: str, certificates: Path, prefix: str) -> None:
    options = "&".join(f"{name}={quote(str(certificates / file))}" for name, file in CLIENT.items())
    store = RedisStore.from_url(f"rediss://{encrypted}?{options}", prefix=prefix, buckets=2)
    assert store.put(entry()) is PutResult.STORED
    assert tuple(store.get(entry().cell)) == (entry(),)
    store.close()


def test_redis_over_tls_trusts_no_unknown_authority(encrypted: str, certificates: Path, prefix: str) -> None:
    files = {name: str(certificates / file) for name, file in CLIENT.items()} | {"ssl_ca_certs": None}
    store = RedisStore.from_url(f"rediss://{encrypted}", prefix=prefix, **files)
    with pytest.raises(StoreUnavailable, match=r"(?i)certificate"):
        store.get(entry().cell)
    store.close()


def test_redis_over_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    server = Server(unixsocket=str(path)).start()
    store = RedisStore.from_url(f"unix://{path}?db=1", buckets=2)
    assert store.put(entry()) is PutResult.STORED
    with contextlib.closing(server.client(db=1)) as client:
        assert client.exists("slotcache:schema")
    store.close()
    server.dispose()


def test_redis_prefixes_never_meet(open_at: Open) -> None:
    here = open_at(shared("valkey").url)
    there = open_at(shared("valkey").url, prefix=here.url.options.prefix + "2")
    here.put(entry())
    here.set_switch("cancel_order", off=True, now=NOW)
    assert tuple(there.get(entry().cell)) == ()
    assert there.switches() == frozenset()
    assert there.invalidate(Selector(), reason="invalidated", now=NOW) == 0


def test_redis_keeps_the_number_of_buckets_that_a_prefix_began_with(open_at: Open) -> None:
    open_at(shared("valkey").url, buckets=3).put(entry())
    again = open_at(shared("valkey").url, buckets=50)
    assert tuple(again.get(entry().cell)) == (entry(),)


@pytest.mark.parametrize(
    ("held", "problem"),
    [('{"schema": 99, "buckets": 4}', "schema 99"), ("theirs", "not slotcache's"), ("[1]", "not slotcache's")],
)
def test_redis_keys_of_others_are_noticed_at_start(prefix: str, held: str, problem: str) -> None:
    with contextlib.closing(shared("valkey").client()) as client:
        client.set(f"{prefix}:schema", held)
    with pytest.raises(StoreError, match=problem):
        RedisStore.from_url(shared("valkey").url, prefix=prefix)


def test_redis_server_that_drops_any_key_is_refused_at_start(server: Server) -> None:
    with contextlib.closing(server.client()) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(StoreError, match="allkeys-lru"):
        RedisStore.from_url(server.url)


def test_redis_server_that_is_away_at_start_is_used_when_it_comes(server: Server) -> None:
    server.kill()
    store = RedisStore.from_url(server.url)
    with pytest.raises(StoreUnavailable):
        store.put(entry())
    server.start()
    assert store.put(entry()) is PutResult.STORED
    store.close()


def test_redis_closed_store_is_unavailable(open_at: Open) -> None:
    store = open_at(shared("valkey").url)
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.get(entry().cell)


def test_redis_unwritable_text_is_the_callers_mistake(open_at: Open) -> None:
    with pytest.raises(UnicodeEncodeError):
        open_at(shared("valkey").url).note_waiting("\ud800", now=NOW)


def test_redis_threads_share_a_bounded_number_of_connections(open_at: Open) -> None:
    store = open_at(shared("valkey").url, max_connections=3, timeout=10)
    store.put(entry())
    with contextlib.closing(shared("valkey").client()) as client:
        before = len(client.client_list())
        threads = [threading.Thread(target=lambda: [store.get(entry().cell) for _ in range(20)]) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(client.client_list()) - before <= 3


def _put_in_a_child(store: RedisStore) -> None:
    assert store.put(entry(tenant="child")) is PutResult.STORED


@pytest.mark.parametrize("kind", ["valkey", "cluster", "sentinel"])
def test_redis_goes_on_after_a_fork(open_at: Open, kind: str) -> None:
    store = open_at(shared(kind).url)
    store.put(entry())
    child = multiprocessing.get_context("fork").Process(target=_put_in_a_child, args=(store,))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    assert len(list(store.find(Selector()))) == 2
