from __future__ import annotations

import json

import pytest

from slotcache.shipped import shipped


@pytest.mark.parametrize("name", ["training/groups", "training/gate"])
def test_shipped_folder_holds_json_lines(name: str) -> None:
    (first, *_) = sorted(shipped(name).glob("*.jsonl"))
    assert isinstance(json.loads(first.read_text(encoding="utf-8").partition("\n")[0]), dict)


def test_shipped_prefers_the_wheel(tmp_path, monkeypatch) -> None:
    (tmp_path / "slotcache" / "_training" / "gate").mkdir(parents=True)
    monkeypatch.setattr("slotcache.shipped._PACKAGE", tmp_path / "slotcache")
    assert shipped("training/gate") == tmp_path / "slotcache" / "_training" / "gate"


def test_shipped_falls_back_on_the_checkout(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("slotcache.shipped._PACKAGE", tmp_path / "slotcache")
    assert shipped("training/gate") == tmp_path / "training" / "gate"
