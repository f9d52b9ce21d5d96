"""The generation that is being built beside the one in use, as the retraining job announces it to readers that run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from slotcache.domain.loader import load_domain
from slotcache.errors import ModelError
from slotcache.model_files import MANIFEST, read_manifest
from slotcache.parsing.parser import Parser

NEXT: Final = "next.json"
"""In a folder of versions: domain -> folder of the next model (empty for none) and its generation."""


def announce_next(root: Path, parser: Parser) -> None:
    """Tell running readers which generation is being built, so that they keep new answers in both."""
    folder = _folder(root, parser.version) if parser.model is not None else None
    told = {"folder": str(folder) if folder is not None else "", "generation": _generation(parser)}
    _write(root, {**_read(root), parser.domain.name: told})


def retract_next(root: Path, domain: str) -> None:
    """Tell them that it took over, or was given up."""
    known = _read(root)
    if known.pop(domain, None) is not None:
        _write(root, known)


def load_next(domain: str | Path, roots: Iterable[Path]) -> Parser | None:
    """The parser of the generation that is being built; None when none is, or when it cannot be had here.

    Raises:
        DomainError: the domain cannot be used.
        ModelError: the model is damaged.
    """
    roots = [root for root in roots if (root / NEXT).is_file()]
    if not roots:
        return None
    name = load_domain(domain).name
    for root in roots:
        told = _read(root).get(name)
        if told is None:
            continue
        folder = root / told["folder"]
        if told["folder"] and not (folder / MANIFEST).is_file():
            return None  # moved into its place meanwhile, or on another machine
        parser = Parser.load(domain, model=folder) if told["folder"] else Parser(load_domain(domain))
        return parser if _generation(parser) == told["generation"] else None
    return None


def _generation(parser: Parser) -> str:
    return f"{parser.version}/{parser.domain_hash}"


def _folder(root: Path, version: str) -> Path:
    """Where the next model is, relative to the folder of versions where that is possible."""
    for manifest in _manifests(root):
        if read_manifest(manifest.parent).version == version:
            return manifest.parent.relative_to(root)
    raise ModelError(f"{root} does not hold version {version}, which was to be announced")


def _manifests(root: Path) -> Iterator[Path]:
    yield from root.glob(f"[!.]*/{MANIFEST}")
    yield from root.glob(f".work/*/*/{MANIFEST}")


def _read(root: Path) -> dict[str, dict[str, str]]:
    try:
        told = json.loads((root / NEXT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # nothing announced; a file that was cut off is written anew by the next run
    return told if isinstance(told, dict) else {}


def _write(root: Path, told: dict[str, dict[str, str]]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    beside = root / f".{NEXT}.{os.getpid()}"
    beside.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(root / NEXT)
