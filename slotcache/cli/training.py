"""What the commands that train share: where versions go, progress, and how a result is told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, NoReturn, Self

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from slotcache.cli.output import errors

if TYPE_CHECKING:
    from slotcache.learning.retrain import Job, Result

RootOption = Annotated[
    Path | None,
    typer.Option("--out", help="Folder of versions; SLOTCACHE_MODELS or the one in your data folder when absent."),
]

RekeyedOption = Annotated[
    str | None, typer.Option("--store", help="A store to re-key along with the switch, so that hits go on.")
]
EncoderFromOption = Annotated[
    Path | None,
    typer.Option(help="Model folder whose encoder is kept; that of the model in use, or else the shipped one."),
]
SeedOption = Annotated[int, typer.Option(help="Fixes everything random.")]
LatencyOption = Annotated[float, typer.Option(min=0.1, help="95 % of the questions must be read within this time.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Train and judge, and change nothing for readers.")]
LATENCY_MS = 50.0

BAD_LABELS = 4
BUSY = 6
_CODES = {"promoted": 0, "passed": 0, "nothing_new": 0, "refused": 3}
_SHOWN = 10


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
        self.hide()
        self._task = self._bar.add_task(what, total=total or None)
        if not self._quiet:
            errors.print(f"[{time.perf_counter() - self._started:6.1f} s] {what}")

    def hide(self) -> None:
        """End the stage's bar: what comes next shows one of its own."""
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None

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


def make_job(source: str | Path, root: Path, *, encoder_from: Path | None, seed: int, latency_ms: float) -> Job:
    """What to retrain, for a domain and the folder of its versions."""
    from slotcache.domain.loader import load_domain
    from slotcache.learning import places
    from slotcache.learning.gate import Bounds
    from slotcache.learning.retrain import Job

    loaded = load_domain(source)
    return Job(
        loaded,
        places.base_for(source, loaded, seed=seed),
        places.encoder_for(loaded.name, root, encoder_from),
        places.champion_for(loaded.name, root),
        root,
        bounds=Bounds(latency=latency_ms / 1e3),
        seed=seed,
    )


def tell_and_exit(result: Result, job: Job, *, as_json: bool) -> NoReturn:
    """Tell what became of a run, and end with its exit status, for schedulers.

    Raises:
        typer.Exit: always.
    """
    if as_json:
        print(json.dumps({**result.as_dict(), "unfit_base_examples": len(job.base.unfit)}))
    else:
        show_result(result, unfit=job.base.unfit)
    raise typer.Exit(_CODES[result.ended.value])


def show_result(result: Result, *, unfit: Sequence[str] = ()) -> None:
    """Tell people what became of a run."""
    from slotcache.cli.output import console

    labels = result.labels
    if labels.examples or labels.pairs or labels.repeated:
        console.print(
            f"labels: {len(labels.examples)} questions, {len(labels.pairs)} pairs, {len(labels.personal)} personal; "
            f"{labels.repeated} said what was known already"
        )
    for problem in labels.taken_out:
        console.print(f"left out, since what it uses was taken out of the domain: {problem}", markup=False)
    for problem in labels.contradictions:
        console.print(f"left out: {problem}")
    if unfit:
        console.print(f"left out: {len(unfit)} base examples do not fit the domain")
        _list(unfit)
    for refusal in result.verdict.get("refusals", ()):
        console.print(f"refused ({refusal['ground']}): {refusal['summary']}")
        _list(refusal["cases"])
    notes = result.verdict.get("notes", ())
    if notes:
        console.print(f"notes: {len(notes)}")
        _list(notes)
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


def _list(lines: Sequence[str]) -> None:
    from slotcache.cli.output import console

    for line in lines[:_SHOWN]:
        console.print(f"    {line}")
    if len(lines) > _SHOWN:
        console.print(f"    and {len(lines) - _SHOWN} more; --json prints them")


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
