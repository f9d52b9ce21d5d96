"""What the commands that train share: where versions go, progress, and how a result is told."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from slotcache.cli.output import errors

if TYPE_CHECKING:
    from slotcache.learning.retrain import Result

RootOption = Annotated[
    Path | None,
    typer.Option("--out", help="Folder of versions; SLOTCACHE_MODELS or the one in your data folder when absent."),
]

BAD_LABELS = 4
BUSY = 6
_CODES = {"promoted": 0, "passed": 0, "nothing_new": 0, "refused": 3}
_UNFIT_SHOWN = 5


class StagesShown:
    """One line a stage on standard error; on a terminal, a bar for the stage that is going on."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal)
        self._task: TaskID | None = None
        self._started = time.perf_counter()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def stage(self, what: str, total: int) -> None:
        """Begin a stage of so many steps; 0 when nobody knows."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(what, total=total or None)
        if not self._quiet:
            errors.print(f"[{time.perf_counter() - self._started:6.1f} s] {what}")

    def step(self, _: object) -> None:
        """One step of the stage is done."""
        if self._task is not None:
            self._bar.advance(self._task)


@contextmanager
def guarded(root: Path) -> Iterator[None]:
    """One run at a time in a folder of versions (exit status 6), and labels that cannot be used as exit status 4."""
    from filelock import FileLock, Timeout

    from slotcache.errors import LabelsError
    from slotcache.learning.promotion import WORK

    work = root / WORK
    work.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work / "lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        errors.print(f"slotcache: another run is going on in {root}; wait for it, or name another folder with --out")
        raise typer.Exit(BUSY) from None
    try:
        yield
    except LabelsError as error:
        errors.print(f"slotcache: {error}")
        raise typer.Exit(BAD_LABELS) from None
    finally:
        lock.release()


def exit_code(result: Result) -> int:
    """Exit status of a run, for schedulers."""
    return _CODES[result.ended.value]


def show_result(result: Result, *, unfit: Sequence[str] = ()) -> None:
    """Tell people what became of a run."""
    from slotcache.cli.output import console

    for problem in result.labels.contradictions:
        console.print(f"left out: {problem}")
    if unfit:
        console.print(f"left out: {len(unfit)} base examples do not fit the domain")
        for problem in unfit[:_UNFIT_SHOWN]:
            console.print(f"    {problem}")
    for refusal in result.verdict.get("refusals", ()):
        console.print(f"refused ({refusal['ground']}): {refusal['summary']}")
        for case in refusal["cases"]:
            console.print(f"    {case}")
    for note in result.verdict.get("notes", ()):
        console.print(f"note: {note}")
    for name in ("champion", "challenger"):
        figures = result.verdict.get(name)
        if figures:
            console.print(f"{name:>10}: {_figures(figures)}")
    told = {
        "promoted": f"promoted: version {result.version} is in use",
        "passed": f"would be promoted: version {result.version} passed (dry run; {result.folder})",
        "refused": f"refused: version {result.version} stays in {result.folder}",
        "nothing_new": f"nothing new: version {result.version} was made from the same inputs",
    }
    console.print(told[result.ended.value])


def _figures(measured: dict[str, object]) -> str:
    hits, coverage = measured["hits"], measured["coverage"]
    assert isinstance(hits, dict)
    assert isinstance(coverage, dict)
    keyed, total = (sum(cell[at] for cell in coverage.values()) for at in (0, 1))
    false_hits, wrong = measured["false_hits"], measured["wrong_keys"]
    assert isinstance(false_hits, list)
    assert isinstance(wrong, list)
    return (
        f"{len(false_hits)} false hits, {hits['count']} of {hits['total']} pairs that may meet do, "
        f"{keyed} of {total} labelled questions keyed, {len(wrong)} under a wrong key, "
        f"p95 {measured['p95_milliseconds']} ms"
    )
