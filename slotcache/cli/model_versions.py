"""`slotcache models`: the versions of a model: list, show, compare, switch to the one before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import JsonOption
from slotcache.cli.training import RootOption, StagesShown

if TYPE_CHECKING:
    from slotcache.learning.promotion import Version

app = typer.Typer(no_args_is_help=True, help="Versions of the model: list, show, compare, roll back.")
NameOption = Annotated[str, typer.Option("--domain", "-d", help="Domain file, folder or shipped name.")]
_COMPARED = ("false_hits", "hits", "personal_leaks", "wrong_keys", "out_of_scope_accepted", "p95_milliseconds")


@app.command("list")
def list_versions(out: RootOption = None, as_json: JsonOption = False) -> None:
    """List the versions in the folder that promotion writes to."""
    from slotcache.cli.output import console, show, table
    from slotcache.learning.promotion import versions

    root = _root(out)
    found = versions(root) if root.is_dir() else []
    if as_json:
        print(json.dumps({"folder": str(root), "versions": [_listed(version) for version in found]}))
        return
    if not found:
        console.print(f"{root} holds no version; the shipped model, if there is one, is in use")
        return
    made = table("version", "domain", "in use", "before it", "labels", title=str(root))
    for version in found:
        new = version.manifest.provenance.get("new_examples", "")
        manifest = version.manifest
        made.add_row(manifest.version, manifest.domain, "yes" if version.in_use else "", version.parent, str(new))
    show(made)


@app.command("show")
def show_version(
    version: Annotated[str, typer.Argument(help="A version, or a model folder.")], out: RootOption = None
) -> None:
    """Print the manifest of a version: what it was made from, what was measured, its files and their digests."""
    from slotcache.model_files import verify

    print(json.dumps(verify(_folder(version, _root(out))).model_dump(mode="json"), indent=1, sort_keys=True))


@app.command("compare")
def compare(
    first: Annotated[str, typer.Argument(help="A version, or a model folder.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    out: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare what the gate measured for two versions, and the intents whose coverage differs."""
    from slotcache.cli.output import show, table
    from slotcache.model_files import read_manifest

    root = _root(out)
    manifests = [read_manifest(_folder(name, root)) for name in (first, second)]
    figures = [_figures(manifest.metrics.get("gate", {})) for manifest in manifests]
    rows = [(name, *(str(one.get(name, "not measured")) for one in figures)) for name in _COMPARED]
    cells = [manifest.metrics.get("gate", {}).get("coverage", {}) for manifest in manifests]
    moved = [
        (intent, _share(cells[0].get(intent)), _share(cells[1].get(intent)))
        for intent in sorted({*cells[0], *cells[1]})
        if cells[0].get(intent) != cells[1].get(intent)
    ]
    bars = [(f"bar {name}", *(str(m.bars.get(name, "")) for m in manifests)) for name in sorted(manifests[0].bars)]
    if as_json:
        print(json.dumps({"figures": rows, "bars": bars, "coverage": moved}))
        return
    measured = table("", first, second, title="measured at the gate")
    for row in (*rows, *bars):
        measured.add_row(*row)
    changed = table("intent", first, second, title=f"intents whose coverage differs ({len(moved)})")
    for row in moved:
        changed.add_row(*row)
    show(measured, changed)


@app.command("rollback")
def rollback(
    domain: NameOption = "order_support",
    to: Annotated[str | None, typer.Option(help="A version; the one before the one in use when absent.")] = None,
    store: Annotated[str | None, typer.Option(help="A store to re-key along with the switch.")] = None,
    out: RootOption = None,
) -> None:
    """Make the version before the one in use current again; readers that run change over within a second."""
    from slotcache.cli.output import console
    from slotcache.cli.rekey import around_switch
    from slotcache.domain.loader import load_domain
    from slotcache.domain.patches import overlaid
    from slotcache.learning.promotion import previous
    from slotcache.learning.retrain import promote

    root, loaded = _root(out), load_domain(domain)
    version = to if to is not None else previous(root, loaded.name)
    folder = _folder(version, root)
    with StagesShown() as stages, around_switch(store, root, loaded.name, stages) as hooks:
        promote(root, folder, overlaid(loaded, folder), champion=None, hooks=hooks)
    console.print(f"version {version} is in use")


def _root(out: Path | None) -> Path:
    from slotcache.model_files import promotion_root

    return out if out is not None else promotion_root()


def _folder(version: str, root: Path) -> Path:
    from slotcache.errors import ModelError
    from slotcache.learning.promotion import versions
    from slotcache.model_files import MANIFEST

    for folder in (root / version, Path(version)):
        if (folder / MANIFEST).is_file():
            return folder
    known = ", ".join(v.manifest.version for v in versions(root)) if root.is_dir() else ""
    raise ModelError(f"no version {version!r} in {root}; it holds {known or 'none'}")


def _listed(version: Version) -> dict[str, Any]:
    manifest = version.manifest
    return {
        "version": manifest.version,
        "domain": manifest.domain,
        "in_use": version.in_use,
        "parent": version.parent,
        "provenance": manifest.provenance,
    }


def _figures(gate: dict[str, Any]) -> dict[str, Any]:
    """Measured lists as their lengths, proportions as counts."""
    told: dict[str, Any] = {}
    for name, value in gate.items():
        if isinstance(value, list):
            told[name] = len(value)
        elif isinstance(value, dict) and "count" in value:
            told[name] = f"{value['count']} of {value['total']}"
        else:
            told[name] = value
    return told


def _share(cell: list[int] | None) -> str:
    return f"{cell[0]} of {cell[1]}" if cell else "-"
