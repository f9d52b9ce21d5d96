"""Reads a domain from a YAML file, or from a folder of YAML files that add up to one.

Errors name the file, the line and what to write instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from slotcache.domain.schema import Domain
from slotcache.errors import DomainError

SHIPPED: Final = Path(__file__).parent
_Path = tuple[str | int, ...]


def load_domain(source: str | Path = "order_support") -> Domain:
    """Load a domain by path, or by the name of a shipped one.

    Args:
        source: A YAML file, a folder of YAML files, or a shipped name such as `order_support`.

    Raises:
        DomainError: the file is missing, is not YAML, repeats a name, or does not fit the schema.
    """
    return load_domain_and_places(source)[0]


def load_domain_and_places(source: str | Path) -> tuple[Domain, Callable[[_Path], str]]:
    """Load a domain together with the function that tells where a part of it stands (`file:line`).

    Raises:
        DomainError: as `load_domain`.
    """
    path = Path(source)
    if not path.exists():
        shipped = SHIPPED / str(source)
        if not shipped.is_dir():
            raise DomainError(f"{source}: no such domain file or folder, and no shipped domain of that name")
        path = shipped
    merged = _Merged()
    merged.add(path)
    base = merged.data.get("extends")
    if base is not None:
        if not (SHIPPED / str(base)).is_dir():
            raise DomainError(
                f"{merged.where(('extends',))}: no shipped base is called {base!r}; write 'extends: english'"
            )
        merged.add(SHIPPED / str(base), below=True)
    try:
        return Domain.model_validate(merged.data), merged.where
    except ValidationError as error:
        raise DomainError("\n".join(_explained(error, merged))) from None


def domain_hash(domain: Domain) -> str:
    """Digest of everything a domain says; equal digests read alike."""
    text = json.dumps(domain.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Merged:
    """Data of several files with the place each part came from."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.places: dict[_Path, str] = {}

    def where(self, path: _Path) -> str:
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, "domain")

    def add(self, path: Path, *, below: bool = False) -> None:
        files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        if not files:
            raise DomainError(f"{path}: the folder holds no .yaml file")
        for file in files:
            self._add_file(file, below=below)

    def _add_file(self, file: Path, *, below: bool) -> None:
        try:
            root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        except (OSError, UnicodeDecodeError) as error:
            raise DomainError(f"{file}: cannot be read: {error}") from None
        except yaml.YAMLError as error:
            raise DomainError(f"{file}: not valid YAML: {error}") from None
        if not isinstance(root, yaml.MappingNode):
            raise DomainError(f"{file}:1: expected sections such as 'intents:' at the top level")
        for section, node in _pairs(root, file):
            self._merge((section,), node, file, below=below)

    def _merge(self, path: _Path, node: yaml.Node, file: Path, *, below: bool) -> None:
        here = f"{file.name}:{node.start_mark.line + 1}"
        parent: Any = self.data
        for step in path[:-1]:
            parent = parent[step]
        name = path[-1]
        if isinstance(node, yaml.MappingNode) and len(path) <= 2:
            parent.setdefault(name, {})
            self.places.setdefault(path, here)
            # Slots and concepts of several files add up, so that a base can be extended without repeating it.
            if isinstance(parent[name], dict) and (len(path) == 1 or path[0] in ("slots", "concepts")):
                for key, child in _pairs(node, file):
                    self._merge((*path, key), child, file, below=below)
                return
            if parent[name] == {}:
                parent[name] = _plain(node)
                self._remember(path, node, file)
                return
        value = _plain(node)
        if name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list) and isinstance(value, list):
            parent[name] = [*parent[name], *(item for item in value if item not in parent[name])]
        elif isinstance(parent[name], dict) and isinstance(value, dict) and path[0] == "slots":
            parent[name] = _added(parent[name], value)
        elif below or name == "about":
            # The first description of a slot that several files add to is as good as any.
            return
        elif parent[name] != value:
            raise DomainError(
                f"{here}: {'.'.join(map(str, path))} is given twice (first at {self.where(path)}); keep one"
            )
        self._remember(path, node, file)

    def _remember(self, path: _Path, node: yaml.Node, file: Path) -> None:
        self.places[path] = f"{file.name}:{node.start_mark.line + 1}"
        if isinstance(node, yaml.MappingNode):
            for key, child in _pairs(node, file):
                self._remember((*path, key), child, file)
        elif isinstance(node, yaml.SequenceNode):
            for at, child in enumerate(node.value):
                self._remember((*path, at), child, file)


def _added(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Union of two mappings of phrase lists (the values of one slot, from two files)."""
    return {
        key: [*first.get(key, []), *(p for p in second.get(key, []) if p not in first.get(key, []))]
        for key in (*first, *(k for k in second if k not in first))
    }


def _pairs(node: yaml.MappingNode, file: Path) -> Iterator[tuple[str, yaml.Node]]:
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if name in seen:
            raise DomainError(f"{file.name}:{line}: {name!r} stands twice (first on line {seen[name]}); merge the two")
        seen[name] = line
        yield name, value


def _plain(node: yaml.Node) -> Any:
    """Python data of a node; scalars keep their text unless they are null, so that `no` and `on` stay words."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(child) for child in node.value]
    if node.tag == "tag:yaml.org,2002:null":
        return None
    if isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("true", "false"):
        return node.value == "true"
    return str(node.value)


def _explained(error: ValidationError, merged: _Merged) -> Iterator[str]:
    for problem in error.errors():
        path = tuple(problem["loc"])
        if path:
            yield f"{merged.where(path)}: {'.'.join(map(str, path))}: {problem['msg']}"
            continue
        # What the whole domain finds wrong names its own place first: "intents.cancel_order: ...".
        for part in problem["msg"].removeprefix("Value error, ").split("; "):
            named = tuple(part.partition(":")[0].split("."))
            where = merged.where(named) if len(named) > 1 else merged.where(("name",))
            yield f"{where}: {part}"
