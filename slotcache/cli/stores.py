"""The option by which a command line names its store."""

from __future__ import annotations

from typing import Annotated

import typer

from slotcache.stores import open_store

__all__ = ["StoreOption", "open_store"]

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="A SQLite file, a redis:// URL, or 'memory'; what SLOTCACHE_STORE names, or a file in your data folder.",
    ),
]
