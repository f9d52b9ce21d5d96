"""Real servers on real sockets: an endpoint and a proxy, each in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn

from slotcache.core import ParserLike
from slotcache.serving.app import Proxy
from slotcache.serving.config import Settings
from slotcache.serving.server import Server
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from slotcache.testing import Recorder, ScriptedParser
from tests.cache.shells import READINGS
from tests.serving.harness import Endpoint


@contextlib.contextmanager
def running(server: uvicorn.Server) -> Iterator[str]:
    """A server that runs; gives its address."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    (bound,) = server.servers[0].sockets
    try:
        yield "http://{}:{}".format(*bound.getsockname())
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        assert not thread.is_alive()


@contextlib.contextmanager
def endpoint_at(endpoint: Endpoint) -> Iterator[str]:
    """An endpoint that listens; gives its base URL."""
    config = uvicorn.Config(endpoint, port=0, log_config=None, access_log=False, timeout_graceful_shutdown=1)  # type: ignore[arg-type]
    with running(uvicorn.Server(config)) as address:
        yield f"{address}/v1"


class Front:
    """A proxy that listens.

    Attributes:
        url: Its base URL, as a bot would have it.
        proxy: The application.
        seen: Events of the cache.
        server: The server around it.
    """

    def __init__(self, url: str, proxy: Proxy, seen: Recorder, server: Server) -> None:
        self.url, self.proxy, self.seen, self.server = url, proxy, seen, server

    def counted(self, name: str, *labels: str) -> float:
        """The value of one of the proxy's metrics."""
        metric = getattr(self.proxy.metrics, name)
        return float((metric.labels(*labels) if labels else metric)._value.get())

    async def until(self, name: str, *labels: str, least: float = 1) -> None:
        """Wait until a metric has come to a value."""
        async with asyncio.timeout(10):
            while self.counted(name, *labels) < least:
                await asyncio.sleep(0.005)


@contextlib.contextmanager
def proxy_at(
    upstream: str,
    settings: dict[str, Any] | None = None,
    *,
    parser: ParserLike | None = None,
    store: Store | None = None,
    **options: Any,
) -> Iterator[Front]:
    """A proxy that listens."""
    given = settings or {}
    made = Settings.model_validate(
        given | {"upstream": {"url": upstream, **given.get("upstream", {})}, "listen": {"port": 0, "finish": 5}}
    )
    seen = Recorder()
    proxy = Proxy(
        made,
        parser or ScriptedParser(READINGS),
        store if store is not None else MemoryStore(),
        observers=(seen,),
        **options,
    )
    server = Server(proxy, made.listen, head=made.limits.upload)
    with running(server) as address:
        yield Front(f"{address}/v1", proxy, seen, server)
