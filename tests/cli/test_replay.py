from __future__ import annotations

import json
from pathlib import Path

import pytest

QUESTIONS = ["how do i renew a book", "how can i renew a book", "how do i renew a dvd"]


def _file(tmp_path: Path, rows: list[dict]) -> Path:
    path = tmp_path / "traffic.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _labelled(*answers: str) -> list[dict]:
    return [{"text": text, "answer": answer} for text, answer in zip(QUESTIONS, answers, strict=True)]


def test_replay_json(invoke, library, tmp_path) -> None:
    path = _file(tmp_path, _labelled("A", "A", "B"))
    told = json.loads(invoke("replay", path, "--domain", library, "--json").stdout)
    assert (told["asked"], told["hits"], told["false_hits"], told["saved"]["calls"]) == (3, 1, [], 1)


def test_replay_unlabelled_file_has_no_false_hits_to_tell(invoke, library, tmp_path) -> None:
    path = _file(tmp_path, [{"text": text} for text in QUESTIONS])
    told = json.loads(invoke("replay", path, "--domain", library, "--json").stdout)
    assert (told["hits"], told["false_hits"]) == (1, None)


@pytest.mark.parametrize(("answers", "code"), [("AAB", 0), ("ACB", 1)])
def test_replay_fails_on_a_false_hit(invoke, library, tmp_path, answers: str, code: int) -> None:
    assert invoke("replay", _file(tmp_path, _labelled(*answers)), "--domain", library).exit_code == code


@pytest.mark.parametrize(
    "expected", ["not_found", "model calls", "1 of 3 (33.3%)", "every false hit of slotcache", "how can i renew a book"]
)
def test_replay_shows(invoke, library, tmp_path, expected: str) -> None:
    assert expected in invoke("replay", _file(tmp_path, _labelled("A", "C", "B")), "--domain", library).stdout


@pytest.mark.parametrize("arguments", [[], ["file.jsonl", "--demo"]])
def test_replay_needs_one_source(invoke, arguments: list[str]) -> None:
    assert invoke("replay", *arguments).exit_code == 2
