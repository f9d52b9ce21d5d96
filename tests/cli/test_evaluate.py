from __future__ import annotations

import json
from pathlib import Path

import pytest

SAME = {"a": "how do i renew a book", "b": "how can i renew a book", "same": True}
APART = {"a": "how do i renew a book", "b": "how do i renew a dvd", "same": False}
MERGED = {"a": "how do i renew a book", "b": "how do i renew a book", "same": False}


def _file(tmp_path: Path, *rows: dict) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("rows", "code"), [([SAME, APART], 0), ([SAME, MERGED], 1)])
def test_evaluate_pairs_fails_on_a_false_hit(invoke, library, tmp_path, rows: list[dict], code: int) -> None:
    assert invoke("eval", "pairs", _file(tmp_path, *rows), "--domain", library).exit_code == code


def test_evaluate_pairs_json(invoke, library, tmp_path) -> None:
    told = json.loads(
        invoke("eval", "pairs", _file(tmp_path, SAME, APART, MERGED), "--domain", library, "--json").stdout
    )
    assert told["shared"]["false_hits"]["count"] == told["same_customer"]["false_hits"]["count"] == 1
    assert [hit["b"] for hit in told["false_hits"]] == [MERGED["b"]]


def test_evaluate_pairs_lists_false_and_missed(invoke, library, tmp_path) -> None:
    missed = {"a": "how do i renew a book", "b": "zeppelin", "same": True}
    shown = invoke("eval", "pairs", _file(tmp_path, MERGED, missed), "--domain", library).stdout
    assert "false hits (1)" in shown
    assert "missed pairs (1 of 1)" in shown


def test_evaluate_intents_lists_keys_under_which_labels_meet(invoke, library, tmp_path) -> None:
    rows = [{"text": "how do i renew a book", "intent": "A"}, {"text": "how can i renew a book", "intent": "B"}]
    result = invoke("eval", "intents", _file(tmp_path, *rows), "--domain", library)
    assert result.exit_code == 1
    assert "keys under which labels meet (1)" in result.stdout


def test_evaluate_intents_json(invoke, library, tmp_path) -> None:
    rows = [{"text": "how do i renew a book", "intent": "A"}, {"text": "zeppelin", "intent": "B"}]
    told = json.loads(invoke("eval", "intents", _file(tmp_path, *rows), "--domain", library, "--json").stdout)
    assert (told["covered"]["count"], told["covered"]["total"], told["merges"]) == (1, 2, [])


@pytest.mark.parametrize(("share", "code"), [("0.4", 1), ("0.5", 0)])
def test_evaluate_scope_fails_above_the_share(invoke, library, tmp_path, share: str, code: int) -> None:
    rows = _file(tmp_path, {"text": "how do i renew a book"}, {"text": "zeppelin"})
    assert invoke("eval", "scope", rows, "--domain", library, "--at-most", share).exit_code == code


@pytest.mark.parametrize(("text", "code"), [("how do i renew a book", 1), ("zeppelin", 0)])
def test_evaluate_personal_fails_on_a_shared_key(invoke, library, tmp_path, text: str, code: int) -> None:
    assert invoke("eval", "personal", _file(tmp_path, {"text": text}), "--domain", library).exit_code == code


def test_evaluate_bad_file_is_one_message(invoke, library, tmp_path) -> None:
    result = invoke("eval", "pairs", _file(tmp_path, {"a": "x"}), "--domain", library)
    assert result.exit_code == 2
    assert "rows.jsonl:1: the row lacks 'b', 'same'" in result.stderr


def test_evaluate_pairs_prints_a_baseline_beside(invoke, library, tmp_path) -> None:
    told = json.loads(invoke("eval", "pairs", _file(tmp_path, SAME, APART), "--domain", library, "--json").stdout)
    # The pair that must not meet shares as many words as the one that may.
    assert told["baselines"]["bag of words"]["auc"] == 0.5
