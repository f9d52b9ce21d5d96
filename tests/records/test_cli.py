"""`slotcache records`: what one machine exports another imports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slotcache.cli.records import app
from slotcache.errors import ConfigurationError
from slotcache.events import LookedUp
from slotcache.records import TrafficRecord, read_records


@pytest.fixture
def exported(tmp_path: Path, looked_up: Callable[..., LookedUp]) -> Path:
    with TrafficRecord(tmp_path / "a.db") as record:
        record(looked_up("from a"))
    done = CliRunner().invoke(app, ["export", str(tmp_path / "a.db"), "--out", str(tmp_path / "a.jsonl")])
    assert done.exit_code == 0
    return tmp_path / "a.jsonl"


def test_cli_records_import_merges_a_file(exported: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["import", str(tmp_path / "b.db"), str(exported)])
    assert "1 added, 0 known already" in done.output
    assert [r.text for r in read_records(tmp_path / "b.db")] == ["from a"]


def test_cli_records_import_reads_standard_input(exported: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["import", str(tmp_path / "b.db")], input=exported.read_text(encoding="utf-8"))
    assert "1 added" in done.output


def test_cli_records_missing_file_is_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["import", str(tmp_path / "b.db"), str(tmp_path / "none")])
    assert isinstance(done.exception, ConfigurationError)
