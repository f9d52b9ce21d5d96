from __future__ import annotations

import json
from pathlib import Path

import pytest


def _domain(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(text, encoding="utf-8")
    return path


_SHOP = """\
name: shop
concepts:
  open: [open~]
  spare: [spare]
slots:
  day:
    values:
      weekday: [on weekdays]
      weekend: [on weekends]
intents:
  hours:
    frames: [open]
    slots:
      day: {values: [weekday]}
"""


def test_check_names_line_and_part(invoke, tmp_path) -> None:
    shown = invoke("check", _domain(tmp_path, _SHOP)).stdout.splitlines()
    assert shown[:2] == [
        "shop.yaml:9: slots.day.values.weekend: no intent accepts this value; every question with it abstains "
        "[unreachable_value]",
        "shop.yaml:4: concepts.spare: no frame, intent or phrase refers to this concept [unused_concept]",
    ]


def test_check_json(invoke, tmp_path) -> None:
    told = json.loads(invoke("check", _domain(tmp_path, _SHOP), "--json").stdout)
    assert [finding["kind"] for finding in told["findings"]] == ["unreachable_value", "unused_concept"]


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1)])
def test_check_strict_fails_on_findings(invoke, tmp_path, options: list[str], code: int) -> None:
    assert invoke("check", _domain(tmp_path, _SHOP), *options).exit_code == code


def test_check_phrase_that_cannot_be_read_fails(invoke, tmp_path) -> None:
    result = invoke("check", _domain(tmp_path, _SHOP.replace("[spare]", "[a||b]")))
    assert result.exit_code == 2
    assert "shop.yaml:4: concepts.spare: 'a||b' has an empty alternative" in result.stdout


def test_check_tells_intents_without_examples(invoke, tmp_path) -> None:
    examples = tmp_path / "examples.jsonl"
    examples.write_text('{"text": "x", "intent": "other"}\n')
    assert (
        "intents.hours: no labelled example" in invoke("check", _domain(tmp_path, _SHOP), "--examples", examples).stdout
    )


def test_check_says_once_what_many_examples_have_in_common(invoke, tmp_path) -> None:
    examples = tmp_path / "examples.jsonl"
    examples.write_text(3 * '{"text": "x", "intent": "hour"}\n')
    shown = invoke("check", _domain(tmp_path, _SHOP), "--examples", examples).stdout
    assert f"{examples}:1 and 2 more: the domain has no intent 'hour'; did you mean 'hours'? [bad_label]" in shown


def test_check_reads_the_pairs_of_the_gate(invoke, tmp_path) -> None:
    """In a folder of its own; two pairs that must not share an answer, one that does and one that shows nothing."""
    folder = tmp_path / "shop"
    folder.mkdir()
    _domain(folder, _SHOP)
    (folder / "gate.jsonl").write_text(
        '{"a": "open on weekdays", "b": "opens on weekdays", "same": false}\n{"a": "x", "b": "y", "same": false}\n'
    )
    told = json.loads(invoke("check", folder, "--json").stdout)
    assert [finding["kind"] for finding in told["findings"]][-2:] == ["pair_meets", "no_key"]


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("      day: {", "      dya: {", "slot 'dya' is not defined, did you mean 'day'?"),
        ("[weekday]}", "[weekdays]}", "slot 'day' has no value 'weekdays', did you mean 'weekday'"),
        ("[weekday]}", "[x]}", "slot 'day' has no value 'x' (known are weekday, weekend)"),
        ("[open]", "[opne]", "names an unknown concept 'opne', did you mean 'open'?"),
    ],
)
def test_check_says_what_may_have_been_meant(invoke, tmp_path, wrong: str, right: str, said: str) -> None:
    refused = invoke("check", _domain(tmp_path, _SHOP.replace(wrong, right)))
    assert (refused.exit_code, said in " ".join(refused.stderr.split())) == (2, True)
