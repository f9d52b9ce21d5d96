"""`slotcache invalidate`: takes answers out of recall, or says which it would take."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.stores import StoreOption
from slotcache.errors import ConfigurationError


def invalidate(
    key: Annotated[str | None, typer.Option(help="One printed key.")] = None,
    intent: Annotated[str | None, typer.Option(help="All keys of an intent.")] = None,
    slot: Annotated[
        list[str] | None, typer.Option("--slot", help="name=value, or name=* for any value; can be repeated.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="A label that answers were stored with.")] = None,
    epoch: Annotated[str | None, typer.Option(help="A policy epoch.")] = None,
    tenant: Annotated[str | None, typer.Option(help="A tenant.")] = None,
    customer: Annotated[str | None, typer.Option(help="A customer's own answers.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would go.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take all answers that match everything given out of recall; they stay in the history.

    Answers that the model is making at this moment and that match are not kept either.
    """
    from slotcache.cli.operated import operated

    slots = dict(_pair(text) for text in slot or ())
    with operated(store) as cache:
        done = cache.invalidate(
            key=key,
            intent=intent,
            slots=slots,
            tag=tag,
            epoch=epoch,
            tenant=tenant,
            customer=customer,
            dry_run=dry_run,
        )
    if as_json:
        print(json.dumps(asdict(done)))
        return
    for printed in done.keys:
        print(printed)
    more = " (the first 100 keys are shown)" if len(done.keys) == 100 else ""
    answers = "1 answer" if done.count == 1 else f"{done.count} answers"
    print(f"{answers} {'would leave' if dry_run else 'left'} recall{more}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ConfigurationError(f"--slot {text!r}: write name=value, or name=* for any value")
    return name, value
