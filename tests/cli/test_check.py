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
