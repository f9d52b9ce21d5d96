from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.domain.loader import load_domain
from slotcache.evaluation.composition import LEAST_TELLING, composition
from slotcache.evaluation.pairs import pairs_from
from slotcache.evaluation.rows import read_rows
from slotcache.evaluation.sets import REGRESSIONS, gate_files
from slotcache.records import TrafficRecord

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


def test_evaluate_pairs_errors_name_their_stage(invoke, library, tmp_path) -> None:
    missed = {"a": "how do i renew a book", "b": "zeppelin", "same": True}
    told = json.loads(invoke("eval", "pairs", _file(tmp_path, MERGED, missed), "--domain", library, "--json").stdout)
    assert [error["causes"][0]["stage"] for error in told["missed"]] == ["guard"]
    assert told["false_hits"][0]["causes"][0]["stage"] == "normalise"
    assert told["missed_by_cause"][0]["cause"] == "residue"


def test_evaluate_pairs_curve_bounds_the_risk(invoke, library, tmp_path) -> None:
    told = json.loads(invoke("eval", "pairs", _file(tmp_path, SAME, MERGED), "--domain", library, "--json").stdout)
    (point,) = told["coverage_risk"]["points"]
    assert (point["accepted"], point["wrong"]) == (2, 1)
    assert point["high"] > 0.98


def test_evaluate_intents_by_key(invoke, library, tmp_path) -> None:
    rows = [{"text": "how do i renew a book", "key": "renew_loan(aspect=how, medium=dvd)"}]
    result = invoke("eval", "intents", _file(tmp_path, *rows), "--domain", library, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["wrong_keys"][0]["cause"] == "wrong medium"


@pytest.mark.parametrize(("rows", "code"), [([SAME, APART], 0), ([SAME, APART, MERGED], 1)])
def test_evaluate_gate_fails_on_a_planted_false_hit(invoke, library, tmp_path, rows: list[dict], code: int) -> None:
    first, second = tmp_path / "first.jsonl", _file(tmp_path, *rows)
    first.write_text(json.dumps(SAME), encoding="utf-8")
    result = invoke("eval", "gate", first, second, "--domain", library)
    assert result.exit_code == code
    assert "first.jsonl" in result.stdout


def test_evaluate_gate_shipped_pairs_are_many_and_varied() -> None:
    sampled = [file for file in gate_files() if file.name != REGRESSIONS]
    pairs = pairs_from(read_rows(sampled, needs=("a", "b", "same")))
    same = sum(pair.same for pair in pairs)
    made = composition(pairs, function_words=load_domain("order_support").function_words)
    assert len(pairs) - same >= 1_500
    assert same >= 1_000
    assert made.telling.rate >= LEAST_TELLING
    assert made.frames == ()


def test_evaluate_all_fails_on_a_false_hit_and_on_a_leak(invoke, library, tmp_path) -> None:
    leak = {"text": "how do i renew a book", "personal": True}
    out = tmp_path / "out" / "all.json"
    result = invoke("eval", "all", _file(tmp_path, MERGED, leak), "--domain", library, "--out", out)
    assert result.exit_code == 1
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["failures"] == ["1 false hits among the pairs", "1 personal questions under a shared key in rows.jsonl"]
    assert "absent: traffic" in result.stdout


def test_evaluate_all_runs_every_kind(invoke, library, tmp_path) -> None:
    rows = [
        SAME,
        APART,
        {"text": "how do i renew a book", "intent": "renew_loan", "slots": {"aspect": "how", "medium": "book"}},
        {"text": "zeppelin", "intent": "out_of_scope"},
        {"text": "zeppelin", "personal": True},
        {"text": "how do i renew a book", "time": "2026-01-01T00:00:00Z", "answer": "at the desk"},
        {"text": "how do i renew a book", "key": "renew_loan(aspect=how, medium=book)", "right": True},
    ]
    result = invoke("eval", "all", _file(tmp_path, *rows), "--domain", library, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["absent"], told["failures"]) == (0, [], [])
    assert told["sets"]["labelled questions"]["rows.jsonl"]["wrong"]["count"] == 0


TRAFFIC = [
    {"text": "how do i renew a book", "time": "2026-01-01T00:00:00Z", "question": "renew"},
    {"text": "how can i renew a dvd", "time": "2026-01-01T00:01:00Z", "question": "renew"},
]


def test_evaluate_traffic_replays_labelled_questions(invoke, library, tmp_path) -> None:
    told = json.loads(invoke("eval", "traffic", _file(tmp_path, *TRAFFIC), "--domain", library, "--json").stdout)
    assert (told["keyed_misses"], told["missed_hits"]["count"]) == (2, 1)
    assert told["causes"] == [{"cause": "slots", "detail": "medium", "count": 1}]


def _record(tmp_path: Path, library: Path) -> Path:
    path = tmp_path / "traffic.db"
    with TrafficRecord(path) as record:
        cache = SlotCache(Parser.load(library), MemoryStore(), observers=[record])
        for row in TRAFFIC:
            cache.get_or_call(row["text"], lambda text: f"said to {text}", Scope(tenant="acme"))
    return path


def test_evaluate_traffic_takes_a_record_as_it_is(invoke, library, tmp_path) -> None:
    waiting = tmp_path / "waiting.jsonl"
    result = invoke("eval", "traffic", _record(tmp_path, library), "--to-label", waiting, "--json")
    assert [pair["detail"] for pair in json.loads(result.stdout)["unlabelled"]] == ["medium"]
    (row,) = map(json.loads, waiting.read_text(encoding="utf-8").splitlines())
    assert row == {"a": TRAFFIC[0]["text"], "b": TRAFFIC[1]["text"], "tag": "slots medium"}


def test_evaluate_traffic_takes_labels_for_a_record(invoke, library, tmp_path) -> None:
    labels = _file(tmp_path, *({"text": row["text"], "key": "renew_loan(aspect=how)"} for row in TRAFFIC))
    told = json.loads(invoke("eval", "traffic", _record(tmp_path, library), "--labels", labels, "--json").stdout)
    assert (told["missed_hits"]["count"], told["unlabelled"]) == (1, [])


def test_evaluate_sample_and_judged(invoke, library, tmp_path) -> None:
    drawn = tmp_path / "drawn.jsonl"
    rows = _file(tmp_path, {"text": "how do i renew a book"}, {"text": "zeppelin"})
    result = invoke("eval", "sample", rows, "--domain", library, "--n", "2", "--out", drawn)
    assert "only 1 questions have a key" in result.stderr
    (row,) = map(json.loads, drawn.read_text(encoding="utf-8").splitlines())
    assert row == {"text": "how do i renew a book", "key": "renew_loan(aspect=how, medium=book)"}


@pytest.mark.parametrize(("wrong", "code"), [(0, 0), (4, 1)])
def test_evaluate_judged_fails_by_the_upper_bound(invoke, tmp_path, wrong: int, code: int) -> None:
    rows = [{"text": str(at), "key": "a()", "right": at >= wrong} for at in range(600)]
    assert invoke("eval", "judged", _file(tmp_path, *rows)).exit_code == code


@pytest.mark.parametrize(("target", "command"), [("test", "slotcache eval gate"), ("eval", "slotcache eval all")])
def test_evaluate_make_runs_it(target: str, command: str) -> None:
    root = Path(__file__).parent.parent.parent
    planned = subprocess.run(["make", "-n", target], cwd=root, capture_output=True, text=True, check=True)
    assert command in planned.stdout


def test_evaluate_ci_runs_make_test() -> None:
    script = (Path(__file__).parent.parent.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert "\ntimeout 840 make test\n" in script
