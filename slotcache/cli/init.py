"""`slotcache init`: a commented starter domain for another business, with example rows and a gate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_STARTER_NAME = "bike_hire"


def init(
    folder: Annotated[Path, typer.Argument(help="A folder that is not there yet, or is empty.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the domain; made from the folder's name when absent.")
    ] = None,
) -> None:
    """Write a starter domain into a folder: domain.yaml, examples.jsonl and gate.jsonl, ready to check and train."""
    from slotcache.errors import ConfigurationError
    from slotcache.learning import starter

    chosen = name or re.sub(r"[^a-z0-9]+", "_", folder.absolute().name.lower()).strip("_")
    if not _NAME.match(chosen):
        raise ConfigurationError(
            f"{chosen!r} is no name of a domain; pass --name with lower-case letters, digits and _"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigurationError(f"{folder} holds something already; name a folder that is empty or not there yet")
    folder.mkdir(parents=True, exist_ok=True)
    for source in starter.files():
        text = source.read_text(encoding="utf-8").replace(f"name: {_STARTER_NAME}", f"name: {chosen}")
        (folder / source.name).write_text(text, encoding="utf-8")
        print(folder / source.name)
    print(f"next: slotcache check {folder}; slotcache train {folder}; slotcache ask --domain {folder} '...'")
