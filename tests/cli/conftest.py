"""The command as users start it, and the small second domain that its tests read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def library() -> Path:
    """A domain file of another business."""
    return Path(__file__).parent.parent / "domains" / "library.yaml"


@pytest.fixture
def slotcache(tmp_path: Path) -> Run:
    """Runs `slotcache` in a process of its own, in a folder of its own."""

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        named = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        return subprocess.run(
            [sys.executable, "-c", "from slotcache.cli import main; main()", *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**named, "XDG_DATA_HOME": str(tmp_path / "data"), **environment},
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `slotcache` within the test."""
    from slotcache.cli.app import app

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])
