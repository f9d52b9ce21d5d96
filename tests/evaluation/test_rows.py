from __future__ import annotations

from pathlib import Path

import pytest

from slotcache.errors import ConfigurationError
from slotcache.evaluation.rows import read_rows


def _file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    return path


def test_rows_pass_over_empty_lines(tmp_path) -> None:
    assert read_rows([_file(tmp_path, b'{"text": "a"}\n\n  \n{"text": "b"}')], needs=("text",)) == [
        {"text": "a"},
        {"text": "b"},
    ]


def test_rows_of_several_files_add_up(tmp_path) -> None:
    path = _file(tmp_path, b'{"text": "a"}\n')
    assert len(read_rows([path, path])) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "a"}\n{oops\n', "rows.jsonl:2: not JSON"),
        (b"[1]\n", "rows.jsonl:1: expected a JSON object"),
        (b'{"a": "x"}\n', "rows.jsonl:1: the row lacks 'text'"),
        (b"\xff\n", "cannot be read"),
    ],
)
def test_rows_error_names_the_line(tmp_path, content: bytes, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_rows([_file(tmp_path, content)], needs=("text",))


def test_rows_missing_file(tmp_path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.jsonl: cannot be read"):
        read_rows([tmp_path / "nowhere.jsonl"])
