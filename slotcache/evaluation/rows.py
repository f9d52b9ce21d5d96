"""Reads labelled files: JSON lines, with errors that name the file, the line and the fix."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from slotcache.errors import ConfigurationError

Row = dict[str, Any]


def read_rows(paths: Iterable[Path], *, needs: Iterable[str] = ()) -> list[Row]:
    """All rows of some JSON-lines files; empty lines are passed over.

    Args:
        paths: The files.
        needs: Fields that every row must have.

    Raises:
        ConfigurationError: a file cannot be read, or a line is not a JSON object with these fields.
    """
    return [row for path in paths for row in _rows(path, tuple(needs))]


def _rows(path: Path, needs: tuple[str, ...]) -> Iterator[Row]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{path}:{number}: not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ConfigurationError(f'{path}:{number}: expected a JSON object such as {{"text": ...}}')
        missing = [name for name in needs if name not in row]
        if missing:
            raise ConfigurationError(f"{path}:{number}: the row lacks {', '.join(map(repr, missing))}")
        yield row
