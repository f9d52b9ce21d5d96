"""The walk-through in docs/your_own_business.md, command by command, as a reader would type them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slotcache.learning.examples import Example
from slotcache.learning.heads import Settings, fit
from slotcache.learning.model_writer import assemble
from slotcache.parsing.encoder import Encoder
from slotcache.parsing.ngrams import Ngrams
from tests.conftest import library_examples, write_tiny_encoder

PAGE = Path(__file__).parent.parent.parent / "docs" / "your_own_business.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What all commands print, run one after another; a tiny encoder stands in for the shipped one."""
    folder = tmp_path_factory.mktemp("walk")
    texts = [example.text for example in library_examples()]
    shape = write_tiny_encoder(folder / "encoder", texts)
    seed = [Example(text, f"intent_{at % 2}") for at, text in enumerate(texts)]
    heads = fit(seed, seed, Encoder(folder / "encoder", shape).many, settings=Settings(ngrams=Ngrams(64)))
    assemble(folder / "encoder", folder / "models" / "1", shape, heads, version="1", domain="shipped", provenance={})
    command = folder / "slotcache"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from slotcache.cli import main; main()' \"$@\"\n")
    command.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    ran = subprocess.run(
        ["sh", "-e", "-c", "".join(BLOCKS)],
        cwd=folder,
        env={**environment, "PATH": f"{folder}:{os.environ['PATH']}", "SLOTCACHE_MODELS": str(folder / "models")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "expected",
    [
        "0 to look at",
        '"key": "hire_price(aspect=cost, kind=electric)"',
        "is in use",
        "hit (learned)",
        "hire_price(aspect=cost, kind=mountain)",
        "re-keyed: unchanged 2",
    ],
)
def test_your_own_business_gets_from_nothing_to_its_first_hit(said: str, expected: str) -> None:
    assert expected in said
