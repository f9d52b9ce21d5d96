"""Several processes over one SQLite file: one fills, the others wait, and a dead one is not waited for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import tests

ROOT = Path(tests.__path__[0]).parent


def ask(path: Path, *, seconds: float, lease: float = 60.0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.cache.filler", str(path), str(seconds), str(lease)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate(timeout=60)
    return output.split("\n")[:-1]


def test_processes_share_one_call(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite3"
    first = ask(path, seconds=3.0)
    assert first.stdout is not None
    assert first.stdout.readline() == "calling\n"
    others = [ask(path, seconds=1.0) for _ in range(2)]
    assert said(first) == ["yes None"]
    assert [said(other) for other in others] == [["yes coalesced"]] * 2


def test_processes_do_not_wait_for_one_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite3"
    first = ask(path, seconds=60.0, lease=1.0)
    assert first.stdout is not None
    assert first.stdout.readline() == "calling\n"
    first.kill()
    first.communicate(timeout=30)
    assert said(ask(path, seconds=0.0, lease=1.0)) == ["calling", "yes None"]
