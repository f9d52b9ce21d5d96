"""`slotcache doctor`: why answers are not shared that could be, and what waits for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.cli.stores import StoreOption

if TYPE_CHECKING:
    from slotcache.upkeep import Diagnosis

_NAMED = {
    "not_read_now": "read by another parser: not served until 'slotcache rekey' has been run",
    "healthy": "nothing splits a key, and no key waits for a person",
}


def doctor(
    domain: DomainOption = "order_support",
    store: StoreOption = None,
    most: Annotated[int, typer.Option("--most", min=1, help="How many rows a table shows.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Look at a store: what splits the addresses of a key, which keys wait for a person, what is switched off."""
    from slotcache.cache import SlotCache
    from slotcache.cli.stores import open_store
    from slotcache.parsing.parser import Parser

    with SlotCache(Parser.load(domain), open_store(store)) as cache:
        found = cache.doctor()
    if as_json:
        print(json.dumps(_as_json(found)))
    else:
        _show(found, most)


def _as_json(found: Diagnosis) -> dict[str, Any]:
    from dataclasses import asdict

    plain = asdict(found)
    return {**plain, "switched_off": sorted(found.switched_off)}


def _show(found: Diagnosis, most: int) -> None:
    from slotcache.cli.output import console, counts, show, table
    from slotcache.cli.quarantine import quarantine_table

    show(counts("the store", sorted(found.counts.items())))
    if set(found.generations) - {found.generation}:
        read = table("parser", "answers", "", title="answers by the parser that read their question")
        for name, number in found.generations.items():
            read.add_row(name, str(number), "" if name == found.generation else _NAMED["not_read_now"])
        show(read)
    if found.switched_off:
        console.print(f"switched off: {', '.join(sorted(found.switched_off))}\n")
    if found.quarantined:
        show(quarantine_table(found.quarantined[:most]))
    if found.waiting:
        waiting = sorted(found.waiting.items(), key=lambda item: -item[1])[:most]
        show(counts(f"keys that wait for an approved answer ({len(found.waiting)})", waiting))
    split = [one for one in found.keys if one.split_by][:most]
    if split:
        made = table("key", "answers", "split by (different values)", title="keys whose answers are not shared")
        for one in split:
            made.add_row(one.key, str(one.entries), _listed(one.split_by))
        show(made)
    if not (split or found.waiting or found.quarantined):
        console.print(_NAMED["healthy"])


def _listed(split_by: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in sorted(split_by.items(), key=lambda item: -item[1]))
