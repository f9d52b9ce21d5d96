from __future__ import annotations

import pytest

from slotcache.parsing.types import Owner
from slotcache.testing import (
    FakeClock,
    FakeModel,
    ScriptedParser,
    assert_not_shared,
    assert_shared,
    memory_cache,
    reading,
)

PARSER = ScriptedParser(
    {
        "can i cancel?": "cancel_order(aspect=eligibility)",
        "may i call it off?": "cancel_order(aspect=eligibility)",
        "how do i cancel?": "cancel_order(aspect=how)",
        "can i not cancel?": reading("can i not cancel?", "cancel_order(aspect=eligibility)", fingerprint=("not",)),
        "where is it?": reading("where is it?", "track_order()", owner=Owner.NEVER),
    }
)


@pytest.mark.parametrize("other", ["how do i cancel?", "can i not cancel?", "where is it?", "something else"])
def test_assert_not_shared_accepts_different_questions(other: str) -> None:
    assert_not_shared("can i cancel?", other, parser=PARSER)


def test_assert_not_shared_fails_for_one_question_and_names_the_key() -> None:
    with pytest.raises(AssertionError, match="aspect=eligibility"):
        assert_not_shared("can i cancel?", "may i call it off?", parser=PARSER)


def test_assert_not_shared_notices_a_verbatim_repeat_of_one_customer() -> None:
    with pytest.raises(AssertionError, match="verbatim"):
        assert_not_shared("Something else", "something  else", parser=PARSER)


def test_assert_shared_accepts_one_question() -> None:
    assert_shared("can i cancel?", "may i call it off?", parser=PARSER)


def test_assert_shared_fails_for_different_questions_and_says_why() -> None:
    with pytest.raises(AssertionError, match="guard_mismatch"):
        assert_shared("can i cancel?", "can i not cancel?", parser=PARSER)


def test_fake_model_raises_what_it_was_told_to() -> None:
    with memory_cache(PARSER) as cache, pytest.raises(OSError, match="down"):
        cache.get_or_call("can i cancel?", FakeModel(error=OSError("down")))


def test_fake_clock_moves_when_told() -> None:
    clock = FakeClock(5.0)
    clock.advance(2.5)
    assert clock() == 7.5
