from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "spacy", "pydantic", "onnxruntime", "sklearn", "scipy", "torch", "redis", "httpx", "uvicorn")


@pytest.mark.parametrize(
    "command",
    [
        "ask",
        "replay",
        "serve",
        "parse",
        "explain",
        "check",
        "eval",
        "doctor",
        "answers",
        "invalidate",
        "switch",
        "quarantine",
    ],
)
def test_app_help_names_command(invoke, command: str) -> None:
    assert f" {command} " in invoke("--help").output


def test_app_imports_nothing_heavy_until_a_command_runs() -> None:
    script = (
        "import sys\n"
        "from slotcache.cli.app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        f"print('imported', *sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stderr.decode().split() == ["imported"]


def test_app_error_is_one_message(invoke) -> None:
    result = invoke("check", "no-such-domain")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("slotcache: no-such-domain: no such domain")


def test_app_version(invoke) -> None:
    assert invoke("--version").output.startswith("slotcache 0.")
