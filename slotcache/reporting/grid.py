"""The heat map of a matrix: only labels that are confused, the worst first."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from slotcache.reporting.confusion import Cell, Matrix

CELLS_SHOWN: Final = 24
"""Most rows and columns of a heat map; a larger one is read more easily as a list."""

_PARTS: Final = re.compile(r'\w+="(?:[^"\\]|\\.)*"|[^\s,()]+|[\s,()]+')


@dataclass(frozen=True, slots=True)
class Grid:
    """A heat map.

    Attributes:
        rows: What was asked.
        columns: What it was read as.
        places: (row, column) -> position of the cell in the matrix.
        left_out: Confused cells that did not fit.
        most: Highest count, traffic and harm among the cells, for their shade.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    places: dict[tuple[str, str], int]
    left_out: int
    most: tuple[float, float, float]


def grid(matrix: Matrix, *, most: int = CELLS_SHOWN) -> Grid | None:
    """The heat map of a matrix; None when nothing was confused.

    Args:
        matrix: What was confused.
        most: Most rows, and most columns.
    """
    if not matrix.cells:
        return None
    rows, columns = _worst(matrix, "gold", most), _worst(matrix, "read", most)
    places = {(c.gold, c.read): at for at, c in enumerate(matrix.cells) if c.gold in rows and c.read in columns}
    shades = (
        max(c.count for c in matrix.cells),
        max(c.traffic for c in matrix.cells),
        max(c.harm for c in matrix.cells),
    )
    kept_rows = tuple(row for row in rows if any(place[0] == row for place in places))
    kept_columns = tuple(column for column in columns if any(place[1] == column for place in places))
    return Grid(kept_rows, kept_columns, places, len(matrix.cells) - len(places), shades)


def _worst(matrix: Matrix, side: str, most: int) -> tuple[str, ...]:
    weight: Counter[str] = Counter()
    for cell in matrix.cells:
        weight[getattr(cell, side)] += _weight(cell)
    return tuple(name for name, _ in sorted(weight.items(), key=lambda item: (-item[1], item[0]))[:most])


def _weight(cell: Cell) -> int:
    # Harm counts most, and traffic decides among what is harmless.
    return int(cell.harm * 1_000 + cell.traffic)


def differing(name: str, other: str) -> list[tuple[str, bool]]:
    """The parts of a printed key, each with whether the other key lacks it; unlike intents differ altogether.

    >>> differing("renew(timing=before)", "renew(timing=after)")
    [('renew', False), ('(', False), ('timing=before', True), (')', False)]
    >>> differing("renew()", "fines()")
    [('renew()', False)]
    """
    if "(" not in name or name.partition("(")[0] != other.partition("(")[0]:
        return [(name, False)]
    known = set(_PARTS.findall(other))
    return [(part, part not in known and part[0] not in " ,()") for part in _PARTS.findall(name)]
