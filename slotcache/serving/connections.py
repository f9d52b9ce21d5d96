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
    _ahead_of: Any = None
    """The request during whose answer the next one began."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        answered = self.cycle if self._busy() and not self.cycle.more_body else None
        super().data_received(data)
        if answered is not None and self.cycle is answered:
            self._ahead_of = answered
            if self._deadline is None:
                self._begin()
        elif self._busy():
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

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _close(self) -> None:
        self._deadline = None
        if self._ahead_of is not None:
            came_whole = self.cycle is not self._ahead_of
            if came_whole or not self._busy():
                self._ahead_of = None
            # What came early has its time from the end of the answer before it.
            if not came_whole:
                self._begin()
        elif not self.transport.is_closing():
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
