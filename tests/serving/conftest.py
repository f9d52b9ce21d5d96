"""Bots behind a proxy, closed when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.serving.harness import Bot


@pytest.fixture
async def make_bot() -> AsyncIterator[Callable[..., Bot]]:
    made: list[Bot] = []

    def make(settings: dict[str, Any] | None = None, **options: Any) -> Bot:
        made.append(Bot(settings, **options))
        return made[-1]

    yield make
    for bot in made:
        await bot.close()


@pytest.fixture
async def bot(make_bot: Callable[..., Bot]) -> Bot:
    return make_bot()
