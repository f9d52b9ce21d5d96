"""`slotcache quarantine`: keys that gave a wrong answer and wait for a person."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.stores import StoreOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from slotcache.stores.base import Quarantine

app = typer.Typer(no_args_is_help=True, help="Keys that gave a wrong answer: no learned answer fills them.")


@app.command("list")
def list_quarantine(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show the keys in quarantine, oldest first."""
    from slotcache.cli.operated import operated

    with operated(store) as cache:
        held = cache.core.store.quarantines()
    if as_json:
        print(json.dumps([asdict(one) for one in held]))
        return
    from slotcache.cli.output import show

    show(quarantine_table(held))


@app.command("clear")
def clear_quarantine(
    key: Annotated[str, typer.Argument(help="The printed key.")],
    tenant: Annotated[str, typer.Option(help="Whose bot gave the wrong answer.")] = "",
    customer: Annotated[str, typer.Option(help="Whose answer it was; nobody's for one that all could read.")] = "",
    store: StoreOption = None,
) -> None:
    """Let the model's answers fill a key again. Exit status 1 when it was not in quarantine."""
    from slotcache.cli.operated import operated

    with operated(store) as cache:
        cleared = cache.clear_quarantine(key, tenant=tenant, customer=customer)
    print("cleared" if cleared else "this key is not in quarantine for this tenant and customer")
    if not cleared:
        raise typer.Exit(1)


def quarantine_table(held: Iterable[Quarantine]) -> Table:
    """Keys in quarantine as a table."""
    from datetime import UTC, datetime

    from slotcache.cli.output import table

    made = table("key", "tenant", "customer", "since", "reported by", "hit", title="keys in quarantine")
    for one in held:
        since = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        made.add_row(one.key, one.tenant or "-", one.customer or "-", since, one.author or "-", one.hit_id)
    return made
