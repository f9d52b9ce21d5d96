"""Imports go one way, so that a part can be understood, tested and replaced without what is above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "slotcache"
LAYERS = {
    "errors": 0, "key": 0, "shipped": 0, "model_files": 0,
    "domain": 1, "parsing": 1, "stores": 2, "records": 2, "decide": 2,
    "shell": 3, "cache": 3, "aio": 3,
    "evaluation": 4, "reporting": 4, "learning": 4, "truth": 4,
    "serving": 5, "review": 5, "testing": 5,
    "cli": 6,
}  # fmt: skip


def _imports(path: Path) -> Iterator[str]:
    """Second part of every `slotcache.x...` that a module imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module]
            if node.module == "slotcache":
                names = [f"slotcache.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("slotcache."))


MODULES = sorted(
    str(path.relative_to(PACKAGE))
    for path in PACKAGE.rglob("*.py")
    if path.parent != PACKAGE or path.stem != "__init__"
)


@pytest.mark.parametrize("module", MODULES)
def test_layers_module_imports_nothing_above_it(module: str) -> None:
    own = LAYERS.get(module.removesuffix(".py").split("/")[0])
    above = {name for name in _imports(PACKAGE / module) if own is not None and LAYERS.get(name, -1) > own}
    assert above == set()


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("stores/")])
def test_layers_stores_know_nothing_of_language(module: str) -> None:
    assert {"parsing", "domain"}.isdisjoint(_imports(PACKAGE / module))


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith(("parsing/", "domain/"))])
def test_layers_parsing_knows_nothing_of_stores(module: str) -> None:
    assert {"stores", "entry", "cache", "decide", "records"}.isdisjoint(_imports(PACKAGE / module))
