"""Labels that may be wrong."""

from __future__ import annotations

from collections.abc import Callable

from slotcache.reporting.judged import Judged
from slotcache.reporting.suspects import suspects

Make = Callable[..., Judged]


def test_suspects_one_question_under_two_labels(judged: Make) -> None:
    found = suspects([judged("renew()", None, "Can I?"), judged("fine()", None, "can i? ")])
    assert {(s.label, s.rather, s.why) for s in found} == {
        ("renew()", "fine()", "contradicts"),
        ("fine()", "renew()", "contradicts"),
    }


def test_suspects_confident_reading_of_a_model_casts_doubt(judged: Make) -> None:
    (found,) = suspects([judged("renew()", "fine()", confidence=0.97, model="m-1")])
    assert (found.rather, found.why) == ("fine()", "confident")


def test_suspects_unsure_reading_does_not(judged: Make) -> None:
    assert suspects([judged("renew()", "fine()", confidence=0.6, model="m-1")]) == ()
