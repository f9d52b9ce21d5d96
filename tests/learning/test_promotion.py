"""Promotion: one step, reversible, and never a version that is not whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.errors import ModelError
from slotcache.learning.promotion import WORK, install, keep, previous, switch, versions
from slotcache.learning.retrain import Job, run
from slotcache.model_files import find_model, make_current, read_manifest
from tests.learning.conftest import hooks, label, rows

LABEL = label("is it ok to borrow a movie", "borrow_item", aspect="eligibility", medium="dvd")


@pytest.fixture
def root(tiny_model: Path) -> Path:
    make_current(tiny_model.parent, read_manifest(tiny_model))
    return tiny_model.parent


@pytest.fixture
def second(root: Path, edit_manifest: Callable[..., None]) -> Path:
    """A finished model that is not installed yet."""
    folder = root / WORK / "run" / "challenger"
    shutil.copytree(root / "1", folder)
    edit_manifest(folder, version="2", provenance={"parent": "1"})
    return folder


def test_promotion_installs_without_switching(root: Path, second: Path) -> None:
    install(second, root)
    assert find_model(root, domain="library") == root / "1"


def test_promotion_switches(root: Path, second: Path) -> None:
    install(second, root)
    switch(root, "2")
    assert [(v.manifest.version, v.in_use) for v in versions(root)] == [("1", False), ("2", True)]


def test_promotion_refuses_a_damaged_version(root: Path, second: Path) -> None:
    place = install(second, root)
    (place / "heads.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="damaged"):
        switch(root, "2")
    assert find_model(root, domain="library") == root / "1"


@pytest.mark.parametrize("version", ["3", "../1", ".work"])
def test_promotion_refuses_a_version_that_is_not_there(root: Path, version: str) -> None:
    with pytest.raises(ModelError, match=r"holds no version .*; it holds 1"):
        switch(root, version)


def test_promotion_refuses_another_model_of_the_same_version(root: Path, second: Path) -> None:
    shutil.copytree(root / "1", root / "2")
    (root / "2" / "manifest.json").write_text(
        (second / "manifest.json").read_text().replace('"files": {', '"files": {"x.json": "0", ')
    )
    with pytest.raises(ModelError, match="another model of the same version"):
        install(second, root)


def test_promotion_keeps_what_was_in_use_elsewhere(root: Path, tmp_path: Path) -> None:
    keep(root / "1", tmp_path / "mine")
    assert read_manifest(tmp_path / "mine" / "1") == read_manifest(root / "1")


def test_promotion_knows_the_version_before(root: Path, second: Path) -> None:
    install(second, root)
    switch(root, "2")
    assert previous(root, "library") == "1"


def test_promotion_has_nothing_before_the_first(root: Path) -> None:
    with pytest.raises(ModelError, match="is the first"):
        previous(root, "library")


def test_promotion_says_when_the_version_before_is_gone(root: Path, second: Path) -> None:
    install(second, root)
    switch(root, "2")
    shutil.rmtree(root / "1")
    with pytest.raises(ModelError, match=r"not in .* any more"):
        previous(root, "library")


def test_promotion_of_a_retrained_model_can_be_undone(make_job: Callable[..., Job], champion: Path) -> None:
    job = make_job()
    run(job, rows(LABEL), hooks=hooks())
    assert previous(job.root, "library") == champion.name
