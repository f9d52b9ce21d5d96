from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import slotcache


def _imported_for_types() -> set[str]:
    tree = ast.parse(Path(slotcache.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_public_names_are_sorted_and_few() -> None:
    assert sorted(slotcache.__all__) == slotcache.__all__
    assert len(slotcache.__all__) <= 25


def test_public_names_are_known_to_type_checkers() -> None:
    assert _imported_for_types() == set(slotcache.__all__)


@pytest.mark.parametrize("name", slotcache.__all__)
def test_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(slotcache, name).__doc__


def test_public_names_are_what_dir_shows() -> None:
    assert dir(slotcache) == slotcache.__all__


def test_public_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = slotcache.Nothing


def test_public_import_is_light() -> None:
    script = "import slotcache, sys; print(*sorted({'numpy', 'spacy', 'pydantic', 'redis'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout.strip() == b""


def test_serving_imports_neither_scikit_learn_nor_torch() -> None:
    script = (
        "import sys\n"
        "from slotcache import AsyncSlotCache, MemoryStore, Parser, SlotCache\n"
        "SlotCache(Parser.load(), MemoryStore()).get('can i cancel my order?')\n"
        "print(*sorted({'sklearn', 'scipy', 'torch', 'onnx', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout.strip() == b""
