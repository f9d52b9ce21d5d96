"""Merging the records of several machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.errors import ConfigurationError, StoreError
from slotcache.events import LookedUp
from slotcache.records import Record, TrafficRecord, export_lines, import_lines, read_records
from slotcache.records.files import Imported

Make = Callable[..., LookedUp]


@pytest.fixture
def two(tmp_path: Path, looked_up: Make) -> tuple[Path, Path]:
    paths = (tmp_path / "a.db", tmp_path / "b.db")
    for path in paths:
        with TrafficRecord(path, clock=lambda: 1_000.0) as record:
            record(
                looked_up(f"asked at {path.stem}", protected={"order": ("after",)}, candidates=(("renew_loan", 0.9),))
            )
    return paths


def test_files_records_of_two_machines_become_one(two: tuple[Path, Path]) -> None:
    assert import_lines(two[0], export_lines(two[1])) == Imported(1, 0)
    assert [r.text for r in read_records(two[0])] == ["asked at a", "asked at b"]


def test_files_importing_twice_adds_nothing(two: tuple[Path, Path]) -> None:
    import_lines(two[0], export_lines(two[1]))
    assert import_lines(two[0], export_lines(two[1])) == Imported(0, 1)


def test_files_line_gives_the_record_back(two: tuple[Path, Path]) -> None:
    (record,) = read_records(two[0])
    assert Record.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"id": 3, "at": 1, "kind": "lookup"}', '{"id": "x", "at": 1, "kind": "?"}', "x"]
)
def test_files_bad_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigurationError, match=r"lines:2: "):
        import_lines(tmp_path / "c.db", ["", line], name="lines")


def test_files_missing_record_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such traffic record"):
        list(read_records(tmp_path / "none.db"))


def test_files_other_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("not a database at all, and long enough to be looked at" * 20, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        list(read_records(path))


def test_files_since_leaves_older_records_out(two: tuple[Path, Path]) -> None:
    assert list(read_records(two[0], since=4e9 + 1)) == []
