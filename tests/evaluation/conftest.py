"""Questions to a small library's desk, read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.evaluation.sight import Sight, look
from slotcache.parsing.parser import Parser


@pytest.fixture(scope="session")
def desk() -> Parser:
    """A parser without a model."""
    return Parser.load(Path(__file__).parent.parent / "domains" / "library.yaml")


@pytest.fixture(scope="session")
def seen(desk: Parser) -> Callable[[str], Sight]:
    """How the desk's parser sees a question."""
    return lambda text: look(desk, text)
