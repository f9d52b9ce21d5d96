"""Finding a model folder, and refusing one that is not what its manifest says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache import model_files
from slotcache.errors import ModelError
from slotcache.model_files import check_labels, find_model, make_current, read_manifest, verify


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(model_files.ENVIRONMENT, raising=False)
    monkeypatch.setattr(model_files, "user_models", lambda: tmp_path / "user")
    monkeypatch.setattr(model_files, "shipped", lambda name: tmp_path / "shipped" / name)


def copy(model: Path, to: Path, edit: Callable[..., None], **changes: object) -> Path:
    shutil.copytree(model, to)
    edit(to, **changes)
    return to


def test_find_model_takes_a_folder_that_is_a_model(tiny_model: Path) -> None:
    assert find_model(tiny_model, domain="library") == tiny_model


def test_find_model_takes_the_latest_of_several_versions(tiny_model: Path, edit_manifest: Callable[..., None]) -> None:
    latest = copy(tiny_model, tiny_model.parent / "10", edit_manifest, version="10")
    copy(tiny_model, tiny_model.parent / "9", edit_manifest, version="9")
    assert find_model(tiny_model.parent, domain="library") == latest


def test_find_model_takes_the_version_that_was_made_current(
    tiny_model: Path, edit_manifest: Callable[..., None]
) -> None:
    copy(tiny_model, tiny_model.parent / "2", edit_manifest, version="2")
    make_current(tiny_model.parent, read_manifest(tiny_model))
    assert find_model(tiny_model.parent, domain="library") == tiny_model


def test_find_model_refuses_a_current_version_that_is_gone(tiny_model: Path) -> None:
    make_current(tiny_model.parent, read_manifest(tiny_model))
    shutil.rmtree(tiny_model)
    with pytest.raises(ModelError, match=r"names '1', which is not there"):
        find_model(tiny_model.parent, domain="library")


@pytest.mark.parametrize("text", ["[]", "{", '{"library": 1}'])
def test_find_model_refuses_a_malformed_pointer(tiny_model: Path, text: str) -> None:
    (tiny_model.parent / model_files.CURRENT).write_text(text)
    with pytest.raises(ModelError, match=r"current\.json"):
        find_model(tiny_model.parent, domain="library")


def test_make_current_keeps_the_choice_of_other_domains(tiny_model: Path, edit_manifest: Callable[..., None]) -> None:
    other = copy(tiny_model, tiny_model.parent / "2", edit_manifest, version="2", domain="garden")
    for folder in (tiny_model, other):
        make_current(tiny_model.parent, read_manifest(folder))
    assert [find_model(tiny_model.parent, domain=name) for name in ("library", "garden")] == [tiny_model, other]


@pytest.mark.parametrize("places", [("environment", "user", "shipped"), ("user", "shipped"), ("shipped",)])
def test_find_model_looks_in_the_documented_order(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: tuple[str, ...]
) -> None:
    roots = {"environment": tmp_path / "mine", "user": tmp_path / "user", "shipped": tmp_path / "shipped" / "models"}
    monkeypatch.setenv(model_files.ENVIRONMENT, str(roots["environment"]))
    for place in places:
        shutil.copytree(tiny_model, roots[place] / "1")
    assert find_model(domain="library") == roots[places[0]] / "1"


def test_find_model_never_takes_a_model_of_another_domain(tiny_model: Path) -> None:
    with pytest.raises(ModelError, match=r"no model for the domain 'order_support'.*set SLOTCACHE_MODELS"):
        find_model(tiny_model.parent, domain="order_support")


def test_verify_returns_the_manifest_of_an_intact_folder(tiny_model: Path) -> None:
    assert verify(tiny_model).version == "1"


@pytest.mark.parametrize("name", ["encoder.onnx", "heads.onnx", "tokenizer.json"])
def test_verify_notices_one_changed_byte(tiny_model: Path, name: str) -> None:
    data = bytearray((tiny_model / name).read_bytes())
    data[len(data) // 2] ^= 1
    (tiny_model / name).write_bytes(data)
    with pytest.raises(ModelError, match=rf"{name} is damaged.*install the model again"):
        verify(tiny_model)


def test_verify_notices_a_missing_file(tiny_model: Path) -> None:
    (tiny_model / "heads.onnx").unlink()
    with pytest.raises(ModelError, match=r"heads\.onnx is missing"):
        verify(tiny_model)


def test_verify_refuses_a_manifest_without_a_needed_digest(
    tiny_model: Path, edit_manifest: Callable[..., None]
) -> None:
    edit_manifest(tiny_model, files={})
    with pytest.raises(ModelError, match=r"gives no digest for encoder\.onnx"):
        verify(tiny_model)


def test_verify_refuses_names_outside_of_the_folder(tiny_model: Path, edit_manifest: Callable[..., None]) -> None:
    edit_manifest(tiny_model, files={**read_manifest(tiny_model).files, "../secret": "0"})
    with pytest.raises(ModelError, match="outside of the folder"):
        verify(tiny_model)


def test_read_manifest_refuses_a_folder_without_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"it has no manifest\.json"):
        read_manifest(tmp_path)


def test_read_manifest_refuses_another_format(tiny_model: Path, edit_manifest: Callable[..., None]) -> None:
    edit_manifest(tiny_model, format=99)
    with pytest.raises(ModelError, match="format 99, this version reads 1"):
        read_manifest(tiny_model)


def test_read_manifest_names_the_malformed_entry(tiny_model: Path, edit_manifest: Callable[..., None]) -> None:
    edit_manifest(tiny_model, version="../1")
    with pytest.raises(ModelError, match="version: String should match"):
        read_manifest(tiny_model)


def test_read_manifest_refuses_text_that_is_not_json(tiny_model: Path) -> None:
    (tiny_model / "manifest.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        read_manifest(tiny_model)


def test_check_labels_accepts_a_domain_that_knows_more(tiny_model: Path) -> None:
    intents = dict.fromkeys(("renew_loan", "pay_fine", "join"))
    check_labels(verify(tiny_model), domain="library", intents=intents, slots={"timing": None, "who": None})


@pytest.mark.parametrize(
    ("domain", "intents", "slots", "message"),
    [
        ("garden", {"renew_loan": 0, "pay_fine": 0}, {"timing": 0}, "is for the domain 'library', not 'garden'"),
        ("library", {"renew_loan": 0}, {"timing": 0}, "reads pay_fine, which the domain does not have; retrain it"),
        ("library", {"renew_loan": 0, "pay_fine": 0}, {}, "reads timing, which the domain does not have; retrain it"),
    ],
)
def test_check_labels_refuses_labels_that_the_domain_lacks(
    tiny_model: Path, domain: str, intents: dict[str, int], slots: dict[str, int], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        check_labels(verify(tiny_model), domain=domain, intents=intents, slots=slots)
