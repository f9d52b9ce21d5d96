"""Runs the retraining job with a re-keyed store, killed with SIGKILL before its n-th change to the disk.

For n in steps of a stride; a stride of 1 takes every point there is.

After each kill a reader starts, as a bot would, and must read with a whole version; a second run must then finish the
job. Prints one JSON object a kill. A process of its own, since it forks.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.learning.rekey import Journal, Rekeying
from slotcache.learning.retrain import Ended, Job, run
from slotcache.model_files import model_in
from slotcache.parsing.parser import Parser
from slotcache.stores.sqlite import SqliteStore
from tests.learning.conftest import LIBRARY, NOW, SETTINGS, hooks, label, rows

LABELS = rows(
    label("is it ok to borrow a movie", "borrow_item", aspect="eligibility", medium="dvd"),
    {"patch": {"concepts": {"borrow": ["nab~"]}}},
)
LIBRARY_FILE = Path(__file__).parent.parent / "domains" / "library.yaml"
TEXT = "can i borrow a book"
SCOPE = Scope(tenant="town", customer="kim")


def job(root: Path, base: Any) -> Job:
    champion = model_in(root, "library")
    assert champion is not None
    return Job(LIBRARY, base, champion, champion, root, settings=SETTINGS)


def work(root: Path, base: Any) -> Ended:
    store = SqliteStore(root / "answers.db")
    made: list[Rekeying] = []

    def before(parser: Parser) -> None:
        made.append(Rekeying(store, parser, Journal(root / ".work" / "rekey.jsonl"), clock=lambda: NOW))
        list(made[0].build())
        made[0].withdraw()

    def after(_: Parser) -> None:
        list(made[0].finish())

    return run(job(root, base), LABELS, hooks=hooks(before_switch=before, after_switch=after)).ended


def killed_before(n: int) -> None:
    """Have this process die before its n-th change to the disk."""
    left = n

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def doing(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*arguments, **options)

        return doing

    os.replace = counted(os.replace)
    os.rename = counted(os.rename)
    shutil.copyfile = counted(shutil.copyfile)
    shutil.rmtree = counted(shutil.rmtree)
    np.save = counted(np.save)
    Path.write_text = counted(Path.write_text)  # type: ignore[method-assign]
    SqliteStore.put = counted(SqliteStore.put)  # type: ignore[method-assign]
    SqliteStore.retire = counted(SqliteStore.retire)  # type: ignore[method-assign]


def in_child(work: Callable[[], str]) -> tuple[int, str]:
    """Run something in a forked process; its exit status or signal, and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            said = work()
        except BaseException as error:
            said = f"failed: {error!r}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said


def prepare(root: Path) -> None:
    """One answer of the present generation."""
    with SlotCache(Parser.load(LIBRARY_FILE, model=root), SqliteStore(root / "answers.db"), clock=lambda: NOW) as cache:
        assert cache.put(TEXT, Answer("Yes."), SCOPE).stored


def look(root: Path) -> str:
    """What a reader that starts now reads and is served."""
    parser = Parser.load(LIBRARY_FILE, model=root)
    with SlotCache(parser, SqliteStore(root / "answers.db"), clock=lambda: NOW) as cache:
        return f"{parser.parse(TEXT).key} {cache.get(TEXT, SCOPE).answer}"


def main(master: Path, scratch: Path) -> None:
    """Kill at every point in turn until the job is done before it is killed."""
    from slotcache.learning.base import Base, split
    from tests.learning.conftest import GATE, PERSONAL, examples

    fit, calibration, test = split(examples(), seed=1)
    base = Base(fit, calibration, test, GATE, PERSONAL)
    n, stride = 1 - int(sys.argv[3]), int(sys.argv[3])
    while True:
        n += stride
        root = Path(shutil.copytree(master, scratch / str(n)))

        def die(at: int = n, root: Path = root) -> str:
            killed_before(at)
            return work(root, base).value

        in_child(lambda root=root: str(prepare(root)))  # type: ignore[misc]
        status, said = in_child(die)
        _, seen = in_child(lambda root=root: look(root))  # type: ignore[misc]
        _, again = in_child(lambda root=root: work(root, base).value)  # type: ignore[misc]
        _, then = in_child(lambda root=root: look(root))  # type: ignore[misc]
        print(
            json.dumps({"n": n, "status": status, "said": said, "seen": seen, "again": again, "then": then}), flush=True
        )
        shutil.rmtree(root)
        if status == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
