"""constraints.txt pins everything that pyproject.toml names, at the versions that the tests run with."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
PINS = {canonicalize_name(name): pinned for name, _, pinned in (line.partition("==") for line in LINES)}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMED = sorted(
    {
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra if "slotcache" not in line),
    }
)


@pytest.mark.parametrize("line", LINES)
def test_constraints_line_is_an_exact_version_without_address(line: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)


@pytest.mark.parametrize("line", NAMED)
def test_constraints_pin_every_requirement_within_its_range(line: str) -> None:
    requirement = Requirement(line)
    assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("name", sorted(PINS))
def test_constraints_are_what_is_installed(name: str) -> None:
    try:
        installed = version(name)
    except PackageNotFoundError:
        pytest.skip("not part of this environment")
    assert installed.partition("+")[0] == PINS[name]
