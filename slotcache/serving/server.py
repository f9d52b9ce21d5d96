"""Runs the proxy: uvicorn around the application, with a stop that drains first."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import signal
import socket
import threading
from types import FrameType
from typing import Final

import uvicorn

from slotcache.serving.app import Proxy
from slotcache.serving.config import Limits, Listen, Settings
from slotcache.serving.connections import protocol
from slotcache.serving.logs import say
from slotcache.serving.metrics import Metrics
from slotcache.serving.parser_host import ParserHost
from slotcache.stores.base import Store

_LAST_REQUESTS: Final = 0.25
"""Seconds in which requests on open connections are still taken when the door has closed."""


def build(settings: Settings, store: Store) -> Proxy:
    """The application for a configuration, with a parser that may be missing.

    Raises:
        DomainError: the domain cannot be used.
        StoreError: what stands in the place of the traffic record is none.
    """
    from slotcache.parsing.watch import watching
    from slotcache.records.traffic import TrafficRecord

    metrics = Metrics()

    def failed(error: Exception) -> None:
        metrics.trouble.labels("model").inc()
        say("model cannot be used", level=logging.ERROR, why=str(error))

    host = ParserHost(lambda: watching(settings.domain, model=settings.model, failed=failed), failed=failed)
    kept = settings.record
    observers = (
        [TrafficRecord(kept.where, sample=kept.sample, days=kept.days, rows=kept.rows, read=host.parse)] if kept else []
    )
    return Proxy(settings, host, store, observers=observers, metrics=metrics)


class Server(uvicorn.Server):
    """A server that says for a while that it is going before it goes, so that nobody is sent to a closed door."""

    def __init__(self, proxy: Proxy, listen: Listen, *, head: float = Limits().upload) -> None:
        """Make one; `head` is for how many seconds the head of a request may take to arrive."""
        self._proxy = proxy
        self._drain = listen.drain
        super().__init__(
            uvicorn.Config(
                proxy,
                host=listen.host,
                port=listen.port,
                # A client's claim about its own address is nobody's address.
                proxy_headers=False,
                # What the endpoint says about itself stays; the proxy adds nothing.
                server_header=False,
                date_header=False,
                access_log=False,
                log_config=None,
                lifespan="on",
                http=protocol(head, proxy.metrics.refused.labels("slow_head").inc),
                loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
                ws="none",
                backlog=2048,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=int(listen.finish) or 1,
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain on the first signal; a second one ends at once."""
        if self._proxy.draining or self._drain == 0:
            self._proxy.draining = True
            super().handle_exit(sig, frame)
            return
        self._proxy.draining = True
        say("draining", seconds=self._drain)
        # A signal comes at any moment, also while the loop sleeps.
        loop, end = asyncio.get_running_loop(), super().handle_exit
        loop.call_soon_threadsafe(loop.call_later, self._drain, end, sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the door, and only then the connections on which no request has arrived yet.

        Whoever has connected may have a request on its way. It is answered, and the response ends its connection.
        """
        self._proxy.draining = True
        for server in self.servers:
            server.close()
        await asyncio.sleep(_LAST_REQUESTS)
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the door, and take SIGHUP as the wish for the model files as they are now."""
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, self._proxy.reload))
        for server in self.servers:
            for bound in server.sockets:
                say("listening", address="{}:{}".format(*bound.getsockname()[:2]))


def serve(proxy: Proxy, settings: Settings) -> None:
    """Serve until a signal says stop."""
    Server(proxy, settings.listen, head=settings.limits.upload).run()
