"""Runs the review page under uvicorn."""

from __future__ import annotations

import importlib.util

import uvicorn

from slotcache.review.app import make_app
from slotcache.review.desk import Desk


def server(desk: Desk, *, host: str, port: int, refresh: bool = True) -> uvicorn.Server:
    """A server for the page, which logs no addresses and no URLs.

    Args:
        desk: What the pages work with.
        host: Address to listen on.
        port: Port; 0 takes a free one.
        refresh: Whether to take in new records while serving.
    """
    return uvicorn.Server(
        uvicorn.Config(
            make_app(desk, refresh=refresh),
            host=host,
            port=port,
            # A client's claim about its own address is nobody's address.
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
            lifespan="on",
            http="httptools" if importlib.util.find_spec("httptools") else "h11",
            ws="none",
            timeout_graceful_shutdown=5,
        )
    )
