"""`slotcache explain`: what every stage saw in one utterance, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption

if TYPE_CHECKING:
    from rich.table import Table

    from slotcache.parsing.types import Parse

_STAGES = {
    "hygiene": "Can it be read at all?",
    "personal": "Personal data",
    "tokens": "Words after normalisation",
    "repairs": "Spelling repaired",
    "quantities": "Quantities",
    "spans": "Phrases found",
    "cover": "Phrases chosen to explain it",
    "readings": "Readings",
    "account": "Guard: words nobody accounts for",
    "canonical": "Text without fillers",
}
"""What a field of the trace shows; a field not named here is shown under its own name."""

_SHOWN = 12


def explain(
    utterance: Annotated[str, typer.Argument(help="The question, in quotes.")],
    domain: DomainOption = "order_support",
    as_json: JsonOption = False,
) -> None:
    """Show what every stage saw in a question and what it decided."""
    from slotcache.parsing.parser import Parser

    parse, trace = Parser.load(domain).trace(utterance)
    stages = {field.name: plain(getattr(trace, field.name)) for field in fields(trace) if field.name != "text"}
    if as_json:
        print(json.dumps({"parse": parse.as_dict(), "fillable": parse.fillable, "stages": stages}))
        return
    from slotcache.cli.output import show

    for name, value in stages.items():
        show(_stage(_STAGES.get(name, name.replace("_", " ")), value))
    show(_verdict(parse))


def plain(value: Any) -> Any:
    """A value of the trace as JSON data: records become mappings, sets become sorted lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _stage(title: str, value: Any) -> Table:
    from slotcache.cli.output import table

    if isinstance(value, list) and value and isinstance(value[0], dict):
        shown = f" ({_SHOWN} of {len(value)})" if len(value) > _SHOWN else ""
        made = table(*value[0], title=title + shown)
        for row in value[:_SHOWN]:
            made.add_row(*(_short(item) for item in row.values()))
        return made
    made = table("", "", title=title)
    rows = value.items() if isinstance(value, dict) else [("", value)]
    for name, item in rows:
        made.add_row(name, _short(item))
    return made


def _short(value: Any) -> str:
    if value is None or value == [] or value == {} or value == "":
        return "-"
    if isinstance(value, list):
        return ", ".join(_short(item) for item in value)
    if isinstance(value, dict):
        if value.keys() == {"kind", "name", "value"}:
            return f"{value['name']}={value['value']}" if value["value"] else f"{value['name'] or value['kind']}"
        return ", ".join(f"{name}={_short(item)}" for name, item in value.items())
    return str(value)


def _verdict(parse: Parse) -> Table:
    from slotcache.cli.output import table
    from slotcache.errors import EXPLANATIONS

    made = table("", "", title="Decision")
    made.add_row("key", str(parse.key) if parse.key else "none")
    made.add_row("owner", parse.owner.value if parse.owner and parse.key else "-")
    if parse.abstain is not None:
        made.add_row("abstain", f"{parse.abstain.value}: {EXPLANATIONS[parse.abstain]}")
    made.add_row("left over", ", ".join(parse.residue) or "-")
    made.add_row("may fill", "yes" if parse.fillable else "no: its answer is served to its asker alone")
    made.add_row("confidence", f"{parse.confidence:.2f}")
    return made
