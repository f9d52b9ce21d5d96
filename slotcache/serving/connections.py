"""Connections that do not say what they want within a while are closed, so that nobody can hold all of them.

uvicorn bounds how long a connection may be idle between two requests, and the proxy how long a body may take. What is
left is a client that connects and sends nothing, or the head of a request byte by byte.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from typing import Any


class _Hurried(asyncio.Protocol):
    """Stands in front of one of uvicorn's protocols."""

    seconds: float
    late: Callable[[], None]
    transport: Any
    cycle: Any
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._end()
        elif self._deadline is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(self.seconds, self._close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.late()
            self.transport.close()


def protocol(seconds: float, late: Callable[[], None]) -> type[asyncio.Protocol]:
    """uvicorn's protocol, the quicker one where it is installed, and a bound on how long a head may take.

    Args:
        seconds: For how long the head of a request may take to arrive, from the connection or from its first byte on.
        late: Called whenever one took longer.
    """
    return type("Protocol", (_Hurried, _uvicorns()), {"seconds": seconds, "late": staticmethod(late)})


def _uvicorns() -> type[asyncio.Protocol]:
    if importlib.util.find_spec("httptools"):
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        return HttpToolsProtocol
    from uvicorn.protocols.http.h11_impl import H11Protocol

    return H11Protocol
