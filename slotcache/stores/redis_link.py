"""The way to the servers: one client for each process, every failure turned into `StoreUnavailable`.

Nobody waits longer than the timeouts say: redis-py's own retries with growing pauses are switched off, and one is left
to the breaker of the cache. Only a request that met a connection which the server had closed in the meantime is sent
once more, at once; every operation of the store may be repeated without harm.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha1
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.connection import ConnectionPool, UnixDomainSocketConnection
from redis.exceptions import AuthenticationError, ConnectionError, NoScriptError, OutOfMemoryError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel

from slotcache.errors import StoreUnavailable
from slotcache.stores.redis_layout import SCRIPT
from slotcache.stores.redis_url import Kind, RedisUrl

Word = str | bytes | int
Call = Callable[..., Any]
Client = Any
"""A client of redis-py for servers that stand alone, behind sentinels or in a cluster; their commands are not typed."""

# Redis names scripts by it; nothing here rests on its strength.
_SHA: Final = sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()
# Notices of maintenance would stretch the timeouts that callers count on, and redis-py 7 cannot have them on a socket.
_NO_NOTICES: Final[dict[str, Any]] = (
    {"maint_notifications_config": import_module("redis.maint_notifications").MaintNotificationsConfig(enabled=False)}
    if find_spec("redis.maint_notifications")
    else {}
)
_OLDER: Final = 2
_NO_RESP3: Final = ("HELLO", "NOPROTO")
_TAKES_NO_WRITES: Final = ("OOM ", "MISCONF ", "NOREPLICAS ")


class StoreFull(StoreUnavailable):
    """The server has no memory left, cannot save to its disk or lacks replicas: it answers, but takes no writes."""


class RedisLink:
    """Sends commands and runs the store's script. Safe to use from many threads and after a fork."""

    def __init__(self, url: RedisUrl, *, prepare: Callable[[Call], None]) -> None:
        """Remember where the servers are; nothing is connected yet.

        Args:
            url: Where they are.
            prepare: Checks them before the first use, after every failure and after a new connection, when they may
                be others. It gets a function that sends a command.
        """
        self.url = url
        self._prepare = prepare
        self._ready = False
        self._protocol = url.options.protocol
        self._turns = threading.BoundedSemaphore(url.options.max_connections)
        self._connecting = threading.Lock()
        self._client: Client | None = None
        self._process = os.getpid()
        self._closed = False

    def ready(self) -> None:
        """Make sure that the servers were checked.

        Raises:
            StoreError: they cannot be used.
            StoreUnavailable: they do not answer.
        """
        if not self._ready:
            self._prepare(self._call)
            self._ready = True

    def call(self, *words: Word) -> Any:
        """The reply to a command.

        Raises:
            StoreFull: the server takes no writes now.
            StoreUnavailable: no reply in time, or an error in its place.
        """
        self.ready()
        return self._call(*words)

    def _call(self, *words: Word) -> Any:
        # Text that cannot be encoded is the caller's mistake and must not look like a failure of the server.
        tail = [word.encode() if isinstance(word, str) else word for word in words[1:]]
        return self._guarded(lambda client: client.execute_command(words[0], *tail))

    def script(self, keys: tuple[str, ...], *words: Word) -> Any:
        """The result of an operation of `redis_bucket.lua`. Raises as `call` does."""
        self.ready()
        tail = [word.encode() if isinstance(word, str) else word for word in (len(keys), *keys, *words)]

        def run(client: Client) -> Any:
            try:
                return client.execute_command("EVALSHA", _SHA, *tail)
            except NoScriptError:
                # A new server, or one that was restarted; EVAL makes this very node know it from now on.
                return client.execute_command("EVAL", SCRIPT, *tail)

        return self._guarded(run)

    def close(self) -> None:
        """Close all connections; the link cannot be used any more."""
        self._closed = True
        self._drop()

    def _guarded(self, work: Callable[[Client], Any]) -> Any:
        if self._closed:
            raise StoreUnavailable(f"{self.url.shown}: the store is closed")
        if self._process != os.getpid():
            self._after_fork()
        if not self._turns.acquire(timeout=self.url.options.timeout):
            raise StoreUnavailable(f"{self.url.shown}: all {self.url.options.max_connections} connections are in use")
        try:
            try:
                return work(self._connected())
            except AuthenticationError:
                raise
            except ConnectionError:
                return work(self._connected())
            except ResponseError as error:
                if not self._knows_no_hello(error):
                    raise
                return work(self._connected())
        except StoreUnavailable:
            raise
        except Exception as error:  # redis-py raises more kinds than its own while servers come and go
            raise self._failure(error) from error
        finally:
            self._turns.release()

    def _knows_no_hello(self, error: ResponseError) -> bool:
        """Whether the server, or a proxy before it, speaks RESP2 only; from now on it is asked for nothing else."""
        if self._protocol == _OLDER or not any(sign in str(error).upper() for sign in _NO_RESP3):
            return False
        self._protocol = _OLDER
        self._drop()
        return True

    def _failure(self, error: Exception) -> StoreUnavailable:
        text = str(error)
        if isinstance(error, OutOfMemoryError) or any(sign in text for sign in _TAKES_NO_WRITES):
            return StoreFull(f"{self.url.shown}: {text}")
        self._ready = False
        if "READONLY" in text:
            # The name leads to a replica now; connect anew, since it may lead elsewhere by then.
            self._drop()
        return StoreUnavailable(f"{self.url.shown}: {type(error).__name__}: {text}")

    def _after_fork(self) -> None:
        # Locks may be held by threads that do not exist here, and the connections are the parent's.
        self._turns = threading.BoundedSemaphore(self.url.options.max_connections)
        self._connecting = threading.Lock()
        self._client, self._process = None, os.getpid()

    def _greet(self, _: Any) -> None:
        # Whoever is at the other end may have been restarted with nothing, and is checked before the next request.
        self._ready = False

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        watched = getattr(getattr(client, "connection_pool", None), "sentinel_manager", None)
        for one in (client, *(watched.sentinels if watched is not None else ())):
            with suppress(Exception):
                one.close()

    def _connected(self) -> Client:
        client = self._client
        if client is not None:
            return client
        if not self._connecting.acquire(timeout=self.url.options.timeout):
            raise StoreUnavailable(f"{self.url.shown}: another thread is still connecting")
        try:
            if self._client is None:
                self._client = _connect(self.url, self._greet, self._protocol)
            return self._client
        finally:
            self._connecting.release()


def _connect(url: RedisUrl, greet: Callable[[Any], None], protocol: int) -> Client:
    options = url.options
    never = Retry(NoBackoff(), 0)
    common: dict[str, Any] = {
        "username": url.username,
        "password": url.password,
        "protocol": protocol,
        **_NO_NOTICES,
        **_sockets(url),
    }
    if url.kind is Kind.CLUSTER:
        nodes = [ClusterNode(host, port) for host, port in url.nodes]  # type: ignore[no-untyped-call]
        return RedisCluster(
            startup_nodes=nodes, retry=never, require_full_coverage=False, redis_connect_func=greet, **common
        )

    def connected(connection: Any) -> None:
        # In a cluster redis-py does this by itself; here the function takes the place of what it would do.
        connection.on_connect()
        greet(connection)

    common |= {"redis_connect_func": connected, "retry": never, "db": url.database}
    if url.kind is Kind.UNIX:
        # Made by hand: some releases of redis-py do not pass all options on to a socket.
        return Redis.from_pool(ConnectionPool(connection_class=UnixDomainSocketConnection, path=url.path, **common))
    if url.kind is Kind.SINGLE:
        host, port = url.nodes[0]
        return Redis(host=host, port=port, **common)
    login = {"username": options.sentinel_username, "password": options.sentinel_password}
    asking = {**login, "protocol": protocol, "retry": never, **_sockets(url)}
    sentinel = Sentinel(url.nodes, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
    return sentinel.master_for(url.service, **common)  # type: ignore[no-untyped-call]


def _sockets(url: RedisUrl) -> dict[str, Any]:
    options = url.options
    made: dict[str, Any] = {
        "socket_timeout": options.timeout,
        "socket_connect_timeout": options.connect_timeout,
    }
    if url.kind is not Kind.UNIX:
        made["socket_keepalive"] = True
    if url.tls:
        made |= {
            "ssl": True,
            "ssl_ca_certs": options.ssl_ca_certs,
            "ssl_certfile": options.ssl_certfile,
            "ssl_keyfile": options.ssl_keyfile,
            "ssl_cert_reqs": options.ssl_cert_reqs,
            "ssl_check_hostname": options.ssl_check_hostname and options.ssl_cert_reqs == "required",
        }
    return made
