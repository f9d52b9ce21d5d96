"""Right, abstained, wrong; and what a wrong key costs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slotcache.reporting.judged import Answers, Gold, Judged, Read, Verdict, verdict

BEFORE, AFTER = "renew_loan(timing=before_due)", "renew_loan(timing=after_due)"
Make = Callable[..., Judged]


@pytest.mark.parametrize(
    ("gold", "read", "expected"),
    [
        (BEFORE, BEFORE, Verdict.RIGHT),
        (BEFORE, AFTER, Verdict.WRONG),
        (BEFORE, None, Verdict.ABSTAINED),
        (None, None, Verdict.RIGHT),
        (None, BEFORE, Verdict.WRONG),
    ],
)
def test_judged_verdict(judged: Make, gold: str | None, read: str | None, expected: Verdict) -> None:
    assert judged(gold, read).verdict is expected


def test_judged_label_without_slots_speaks_of_the_intent_only() -> None:
    assert verdict(Gold("renew_loan"), Read(BEFORE, "renew_loan", {"timing": "before_due"})) is Verdict.RIGHT


@pytest.mark.parametrize(
    ("held", "owner", "harmful"),
    [
        ({}, "shared", True),
        ({BEFORE: "x", AFTER: "y"}, "shared", True),
        ({BEFORE: "x", AFTER: "x"}, "shared", False),
        ({AFTER: "x"}, "shared", True),
        ({}, "never", False),
    ],
)
def test_judged_harm_is_a_different_answer_that_would_be_served(
    held: dict[str, str], owner: str, harmful: bool
) -> None:
    answers = Answers()
    for key, digest in held.items():
        answers.add(key, digest)
    gold = Gold("renew_loan", {"timing": "before_due"})
    read = Read(AFTER, "renew_loan", {"timing": "after_due"}, owner)
    assert answers.harmful(gold, read) is harmful


def test_judged_key_with_two_answers_is_never_taken_for_the_same() -> None:
    answers = Answers()
    for digest in ("x", "y"):
        answers.add(BEFORE, digest)
        answers.add(AFTER, digest)
    assert not answers.same(BEFORE, AFTER)
