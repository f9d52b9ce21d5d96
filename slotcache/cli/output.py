"""What commands print with: one console, tables of one look, a progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

Item = TypeVar("Item")

_PIPED_WIDTH = 160
"""Columns when the output goes to a file or a pipe, which have no width of their own."""

# Questions and keys may hold [brackets]; they are shown, never interpreted.
console = Console(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
errors = Console(stderr=True, markup=False, highlight=False, emoji=False)


def table(*columns: str, title: str) -> Table:
    """An empty table."""
    made = Table(title=title, box=box.SIMPLE_HEAD, show_header=any(columns), pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def show(*tables: Table) -> None:
    """Print tables, each below its title."""
    for made in tables:
        # A title of the table's own would be wrapped to the width of its columns.
        title, made.title = made.title, None
        console.print(Text(str(title), style="bold"))
        console.print(made)


def counts(title: str, rows: Iterable[tuple[str, int]]) -> Table:
    """A table of counts by name."""
    made = table("", "", title=title)
    for name, count in rows:
        made.add_row(name, str(count))
    return made


@contextmanager
def progress(what: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[Item], Item]]:
    """A progress bar on standard error; call what it gives with each finished item, which comes back unchanged.

    It shows on a terminal only, so that logs stay readable.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def step(item: Item) -> Item:
            bar.advance(task)
            return item

        yield step
