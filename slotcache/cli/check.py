"""`slotcache check`: validates a domain and points at what cannot be meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from slotcache.cli.options import JsonOption


def check(
    domain: Annotated[str, typer.Argument(help="A shipped domain, a domain file or a folder of domain files.")] = (
        "order_support"
    ),
    examples: Annotated[
        list[Path] | None, typer.Option(help='Labelled examples, JSON lines with "intent"; tells intents without any.')
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 when anything is found.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Validate a domain: errors with file, line and fix, and what is valid but cannot be meant.

    Exit status 2 when the domain cannot be used.
    """
    from slotcache.domain.check import Kind
    from slotcache.domain.check import check as look
    from slotcache.domain.loader import load_domain, load_domain_and_places
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.normalise import Normaliser

    loaded, place = load_domain_and_places(domain)
    rows = read_rows(examples, needs=("intent",)) if examples else None
    labelled = {str(row["intent"]) for row in rows} if rows is not None else None
    base = load_domain(loaded.extends) if loaded.extends else None
    findings = look(loaded, Normaliser(loaded.rewrites).words, base=base, examples=labelled)
    if as_json:
        listed = [
            {"kind": f.kind, "at": place(f.path), "part": ".".join(f.path), "message": f.message} for f in findings
        ]
        print(json.dumps({"domain": loaded.name, "intents": len(loaded.intents), "findings": listed}))
    else:
        for finding in findings:
            print(f"{place(finding.path)}: {'.'.join(finding.path)}: {finding.message} [{finding.kind.value}]")
        values = sum(len(slot.values) for slot in loaded.slots.values())
        print(
            f"{loaded.name}: {len(loaded.intents)} intents, {len(loaded.slots)} slots with {values} values, "
            f"{len(loaded.concepts)} concepts; {len(findings)} to look at"
        )
    if any(finding.kind is Kind.BAD_PATTERN for finding in findings):
        raise typer.Exit(2)
    if strict and findings:
        raise typer.Exit(1)
