"""An environment of its own for every peer, made on demand below a cache folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Final

RUNTIME: Final = ("numpy", "onnxruntime", "tokenizers")
"""What the encoder needs in every environment."""

_SECONDS: Final = 900


class CannotInstallError(Exception):
    """A peer that cannot be installed here; the message says why."""


def python_of(room: Path) -> Path:
    """The interpreter of an environment."""
    return room / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def furnish(room: Path, packages: tuple[str, ...]) -> Path:
    """Make an environment with some packages, unless it is there already.

    Args:
        room: Where.
        packages: What pip is to install.

    Returns:
        Its interpreter.

    Raises:
        CannotInstallError: pip could not.
    """
    wanted = "\n".join(packages)
    done = room / "installed.txt"
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return python_of(room)
    shutil.rmtree(room, ignore_errors=True)
    venv.create(room, with_pip=True)
    _pip(python_of(room), "install", *packages)
    done.write_text(wanted, encoding="utf-8")
    return python_of(room)


def unpack(python: Path, package: str, into: Path) -> Path:
    """The files of a package's wheel, without installing it.

    Raises:
        CannotInstallError: pip could not fetch it.
    """
    if not into.is_dir():
        fetched = into.with_suffix(".part")
        shutil.rmtree(fetched, ignore_errors=True)
        _pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(fetched), package)
        with zipfile.ZipFile(next(fetched.glob("*.whl"))) as wheel:
            wheel.extractall(fetched)
        fetched.rename(into)
    return into


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstallError(f"pip {arguments[0]} {arguments[-1]}: {error}") from None
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise CannotInstallError(f"pip {arguments[0]} {arguments[-1]}: {told[-1] if told else 'failed without a word'}")
