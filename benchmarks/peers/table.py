"""Prints the figures of all caches side by side."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table


def show(told: dict[str, Any], console: Console) -> None:
    """Print tables of the pairs and of the lookups, and below them what has to be known to read them."""
    measured = {name: figures for name, figures in told["caches"].items() if "failed" not in figures}
    if measured:
        console.print(_pairs(measured))
        console.print(_lookups(measured))
    if not told.get("one_run", True):
        console.print("not of one run: some figures are kept from an earlier one or missing; --again measures them all")
    for name, figures in told["caches"].items():
        if "failed" in figures:
            console.print(f"{name}: no figures, {figures['failed']}", markup=False)
            continue
        changed = f"; changed: {figures['changed']}" if figures["changed"] else ""
        versions = ", ".join(f"{package} {number}" for package, number in figures["versions"].items())
        console.print(f"{name}: {versions}; {figures['settings']}{changed}", markup=False, highlight=False)


def _pairs(measured: dict[str, Any]) -> Table:
    table = Table(title="Gate pairs: served, of those that must not share an answer and of those that may")
    table.add_column("file")
    for name in measured:
        table.add_column(name, justify="right")
    files = next(iter(measured.values()))["pairs"]
    for file in [*files, "all"]:
        cells = []
        for figures in measured.values():
            of_file = totals(figures["pairs"]) if file == "all" else figures["pairs"][file]
            cells.append(f"{share(of_file, 'false_hits', 'must_not')} / {share(of_file, 'hits', 'may')}")
        table.add_row(file, *cells, end_section=file == list(files)[-1])
    return table


def totals(pairs: dict[str, dict[str, int]]) -> dict[str, int]:
    """Counts over all files.

    >>> totals({"a": {"hits": 1, "may": 2}, "b": {"hits": 0, "may": 3}})
    {'hits': 1, 'may': 5}
    """
    names = next(iter(pairs.values()))
    return {name: sum(of_file[name] for of_file in pairs.values()) for name in names}


def share(counts: dict[str, int], part: str, whole: str) -> str:
    """A count as a percentage of another.

    >>> share({"hits": 1, "may": 8}, "hits", "may")
    '12.5 %'
    """
    return f"{100 * counts[part] / counts[whole]:.1f} %" if counts[whole] else "-"


def _lookups(measured: dict[str, Any]) -> Table:
    table = Table(title="Lookups, milliseconds p50 / p95; wrong: served though nothing of the kind is stored")
    for column in (
        "cache",
        "entries",
        "a hit",
        "asked again: served",
        "new wording",
        "its processor time",
        "wrong",
        "encoder alone",
    ):
        table.add_column(column, justify="left" if column == "cache" else "right")
    for name, figures in measured.items():
        for at in figures["sizes"]:
            last = at is figures["sizes"][-1]
            if "not_reached" in at:
                table.add_row(name, f"{at['entries']:,}", f"not reached: {at['not_reached']}", end_section=last)
                continue
            table.add_row(
                name,
                f"{at['entries']:,}",
                _times(at["hit_ms"]),
                f"{at['asked_again_served']} of {at['asked_again']}",
                _times(at["new_wording_ms"]),
                f"{at['new_wording_cpu_ms']:.3f}",
                f"{at['new_wording_served']} of {at['new_wordings']}",
                _times(at["encoder_alone_ms"]),
                end_section=last,
            )
    return table


def _times(figures: dict[str, float] | None) -> str:
    if figures is None:
        return "-"
    return f"{figures['p50']:.3f} / {figures['p95']:.3f}"
