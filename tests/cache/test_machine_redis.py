"""The same state machine over a Redis store: whatever is done in whatever order, cache and model agree."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.cache.test_machine import CacheMachine

pytestmark = pytest.mark.server


class RedisCacheMachine(CacheMachine):
    """Fewer runs than over the local stores: every step goes to a server."""

    stores = ("redis",)


RedisCacheMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestRedisCacheMachine = RedisCacheMachine.TestCase
