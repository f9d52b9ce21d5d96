"""Runs the checks of the LiteLLM adapter in a process of their own.

LiteLLM leaves event loops and threads open, which would turn up as warnings in whatever test comes after it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).with_name("litellm_checks.py")
ROOT = Path(__file__).parents[3]


def test_litellm_adapter_does_what_it_says() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:unraisableexception",
        "-p",
        "no:cacheprovider",
        str(CHECKS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
