"""Sets to measure on, told apart by what their rows hold, so that one command can run everything there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from slotcache.errors import ConfigurationError
from slotcache.evaluation.labelled import LABELS
from slotcache.evaluation.rows import Row, read_rows
from slotcache.shipped import shipped

PAIRS: Final = "pairs"
LABELLED: Final = "labelled questions"
OUTSIDE: Final = "out of scope"
PERSONAL: Final = "personal"
TRAFFIC: Final = "traffic"
JUDGED: Final = "judged keys"
KINDS: Final = (PAIRS, LABELLED, OUTSIDE, PERSONAL, TRAFFIC, JUDGED)
"""Every kind of set, in the order in which they are run."""

_NAMED: Final = {"out_of_scope": OUTSIDE, "oos": OUTSIDE, "personal": PERSONAL}
"""What the name of a file says about rows that hold a text and nothing that tells their kind."""


@dataclass(slots=True)
class Sets:
    """Sets by kind and name.

    Attributes:
        rows: Kind -> name of the set -> its rows.
        unknown: Name of the set -> rows of no known kind, which are passed over.
    """

    rows: dict[str, dict[str, list[Row]]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    unknown: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, rows: Iterable[Row]) -> None:
        """Add rows under the name of their set."""
        for row in rows:
            kind = kind_of(row, name)
            if kind is None:
                self.unknown[name] = self.unknown.get(name, 0) + 1
            else:
                self.rows[kind].setdefault(name, []).append(row)

    @property
    def absent(self) -> tuple[str, ...]:
        """Kinds of which there is no set."""
        return tuple(kind for kind in KINDS if not self.rows[kind])

    def texts(self) -> Iterator[str]:
        """Every text that has to be read; traffic is read by its replay."""
        for pair in (row for rows in self.rows[PAIRS].values() for row in rows):
            yield from (str(pair["a"]), str(pair["b"]))
        for kind in (LABELLED, OUTSIDE, PERSONAL):
            yield from (str(row["text"]) for rows in self.rows[kind].values() for row in rows)


def kind_of(row: Row, name: str = "") -> str | None:
    """The kind of set that a row belongs to; None for rows of no known kind.

    >>> kind_of({"a": "x", "b": "y", "same": True}), kind_of({"text": "x", "personal": True})
    ('pairs', 'personal')
    """
    if {"a", "b", "same"} <= row.keys():
        return PAIRS
    if "text" not in row or row.get("retract"):
        return None
    if "right" in row:
        return JUDGED
    if row.get("personal"):
        return PERSONAL
    if {"answer", "time"} <= row.keys():
        return TRAFFIC
    named = next((kind for part, kind in _NAMED.items() if part in name), None)
    if named is not None:
        return named
    if str(row.get("intent", "")).partition("/")[0] == "out_of_scope":
        return OUTSIDE
    return LABELLED if any(label in row for label in LABELS) else None


def sets_in(paths: Iterable[Path], into: Sets) -> None:
    """Add the sets of some files and folders of JSON lines.

    Raises:
        ConfigurationError: a path is not there, or a file cannot be read.
    """
    for path in paths:
        if not path.exists():
            raise ConfigurationError(f"{path} is not there; name a file of JSON lines or a folder of such files")
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            into.add(file.name, read_rows([file]))


REGRESSIONS: Final = "regressions.jsonl"
"""Pairs that were found wrong, one kind at a time, and others of a sentence frame that the gate has enough of. They are
judged like all others; what a sample is made of is not asked of them."""


def gate_files() -> list[Path]:
    """The shipped files of pairs.

    Raises:
        ConfigurationError: there are none, which is an installation without its gate.
    """
    found = sorted(shipped("training/gate").glob("*.jsonl"))
    if not found:
        raise ConfigurationError(f"{shipped('training/gate')} holds no pairs; name files, or install slotcache again")
    return found
