"""SIGKILL anywhere in retraining, promotion or re-keying leaves readers that read and a job that can be finished."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
SERVED = "borrow_item(aspect=eligibility, medium=book) Yes."
STRIDE = 2
"""Every second point; `python -m tests.learning.kill_points VERSIONS SCRATCH 1` takes all."""


@pytest.fixture(scope="module")
def kills(first_version: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    scratch = tmp_path_factory.mktemp("killed")
    ran = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.learning.kill_points",
            str(first_version),
            str(scratch),
            str(STRIDE),
        ],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.timeout(400)
def test_killed_at_many_points(kills: list[dict[str, Any]]) -> None:
    assert len([kill for kill in kills if kill["status"] == -9]) >= 10


@pytest.mark.timeout(400)
def test_killed_run_leaves_readers_with_their_hits(kills: list[dict[str, Any]]) -> None:
    assert {kill["seen"] for kill in kills} == {SERVED}


@pytest.mark.timeout(400)
def test_killed_run_is_finished_by_the_next(kills: list[dict[str, Any]]) -> None:
    assert {(kill["again"], kill["then"]) for kill in kills} <= {("promoted", SERVED), ("nothing_new", SERVED)}
