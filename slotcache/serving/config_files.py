"""Reads the proxy's configuration from YAML or TOML. Errors name the file, the line and what to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel, ValidationError

from slotcache.errors import ConfigurationError
from slotcache.serving.config import Settings

_Path = tuple[str | int, ...]
_SHOWN: Final = 20
_TABLE: Final = re.compile(r"\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_ASSIGNED: Final = re.compile(r"\s*([A-Za-z0-9_.\"'-]+?)\s*=")


def read_settings(path: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """The configuration of a file with the flags of a command line on top.

    Args:
        path: A `.yaml`, `.yml` or `.toml` file; None for flags alone.
        flags: Values by dotted name (`listen.port`); those that are None are left as the file says.

    Raises:
        ConfigurationError: the file or a value cannot be used.
    """
    data, where = _read(path) if path is not None else ({}, lambda path: "command line")
    named: set[_Path] = set()
    for name, value in (flags or {}).items():
        if value is not None:
            steps = tuple(name.split("."))
            _set(data, steps, value)
            named.add(steps)
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        lines = [_explained(problem, where, named) for problem in error.errors()[:_SHOWN]]
        raise ConfigurationError("\n".join(lines)) from None


def _read(path: Path) -> tuple[dict[str, Any], Callable[[_Path], str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from None
    data, lines = _from_toml(path, text) if path.suffix == ".toml" else _from_yaml(path, text)

    def where(place: _Path) -> str:
        while place and place not in lines:
            place = place[:-1]
        return f"{path}:{lines.get(place, 1)}"

    return data, where


def _from_yaml(path: Path, text: str) -> tuple[dict[str, Any], dict[_Path, int]]:
    lines: dict[_Path, int] = {}
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not valid YAML: {error}") from None
    if root is None or not isinstance(data, dict):
        raise ConfigurationError(f"{path}:1: expected names such as 'upstream:' at the top level")
    _note(root, (), lines, path)
    return data, lines


def _note(node: yaml.Node, at: _Path, lines: dict[_Path, int], path: Path) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            place = (*at, str(key.value))
            line = key.start_mark.line + 1
            if place in lines:
                raise ConfigurationError(f"{path}:{line}: {key.value!r} stands twice (first on line {lines[place]})")
            lines[place] = line
            _note(child, place, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for number, child in enumerate(node.value):
            lines[*at, number] = child.start_mark.line + 1
            _note(child, (*at, number), lines, path)


def _from_toml(path: Path, text: str) -> tuple[dict[str, Any], dict[_Path, int]]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None
    # The standard library's reader does not tell lines; headers and names are found again for the messages.
    lines: dict[_Path, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header, assigned = _TABLE.match(line), _ASSIGNED.match(line)
        if header is not None:
            table = _steps(header[1])
            if line.lstrip().startswith("[["):
                table = (*table, sum(1 for place in lines if place[:-1] == table and isinstance(place[-1], int)))
            lines.setdefault(table, number)
        elif assigned is not None:
            lines.setdefault((*table, *_steps(assigned[1])), number)
    return data, lines


def _steps(dotted: str) -> _Path:
    return tuple(step.strip().strip("\"'") for step in dotted.split("."))


def _set(data: dict[str, Any], steps: tuple[str, ...], value: Any) -> None:
    for step in steps[:-1]:
        below = data.setdefault(step, {})
        if not isinstance(below, dict):
            return  # the file says something else there, which is an error that names its line
        data = below
    data[steps[-1]] = value


def _explained(problem: Any, where: Callable[[_Path], str], flags: set[_Path]) -> str:
    place: _Path = tuple(problem["loc"])
    name = ".".join(map(str, place))
    source = "command line" if place in flags else where(place)
    if problem["type"] == "missing":
        hint = " (or say --upstream URL)" if place[:1] == ("upstream",) else ""
        return f"{source}: {name} is missing; add it{hint}"
    if problem["type"] == "extra_forbidden":
        near = get_close_matches(str(place[-1]), _names(Settings, place[:-1]), n=1)
        return f"{source}: {name} is not known" + (f"; did you mean {near[0]!r}?" if near else "")
    message = problem["msg"].removeprefix("Value error, ")
    shown = f", not {problem['input']!r}" if isinstance(problem["input"], int | float) else ""
    return f"{source}: {name or 'configuration'}: {message}{shown}"


def _names(model: type[BaseModel], place: _Path) -> list[str]:
    """The names that may stand at a place."""
    for step in place:
        if isinstance(step, int):
            continue
        found = _model_in(model.model_fields[step].annotation) if step in model.model_fields else None
        if found is None:
            return []
        model = found
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_in(part) for part in getattr(annotation, "__args__", ()))
    return next((found for found in inner if found is not None), None)
