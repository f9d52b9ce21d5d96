"""The gate's bounds: what may be worse, and by how much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slotcache.evaluation.bounds import proportion
from slotcache.learning.base import split
from slotcache.learning.calibrate import NEVER, Risks, calibrate
from slotcache.learning.examples import Example
from slotcache.learning.gate import (
    Bounds,
    Disputes,
    Measured,
    Questions,
    WrongKey,
    compare,
    disputes,
    measure,
)
from slotcache.parsing.parser import Parser
from tests.learning.conftest import GATE, LIBRARY, PERSONAL, examples

WRONG = {"q": WrongKey("q", "fines()", "renew_loan()")}
BASIS = Measured(
    (), proportion(9, 10), (), {}, {}, {"fines": proportion(40, 40), "renew_loan": proportion(160, 160)},
    proportion(0, 200), 0.001,
)  # fmt: skip


def cover(fines: int, renewals: int = 160) -> Measured:
    return replace(BASIS, covered={"fines": proportion(fines, 40), "renew_loan": proportion(renewals, 160)})


@pytest.mark.parametrize(
    ("challenger", "grounds"),
    [
        (BASIS, []),
        (cover(39), []),
        (cover(38), []),
        (cover(37), ["intent_regression", "coverage"]),
        (cover(40, 157), ["coverage"]),
        (replace(BASIS, wrong=WRONG), ["wrong_key"]),
        (replace(BASIS, disputed=WRONG), ["wrong_key"]),
        (replace(BASIS, outside=proportion(2, 200)), []),
        (replace(BASIS, outside=proportion(3, 200)), ["out_of_scope"]),
        (replace(BASIS, latency=0.05), []),
        (replace(BASIS, latency=0.051), ["latency"]),
    ],
)
def test_gate_refuses_beyond_its_bounds(challenger: Measured, grounds: list[str]) -> None:
    assert [refusal.ground for refusal in compare(BASIS, challenger).refusals] == grounds


def test_gate_does_not_hold_an_old_mistake_against_the_challenger() -> None:
    both = replace(BASIS, wrong=WRONG, disputed=WRONG)
    verdict = compare(both, both)
    assert (verdict.passed, verdict.notes) == (True, (f"still wrong: {WRONG['q']}",))


@pytest.mark.parametrize(
    ("count", "reviewed", "passed"), [(3, 3, True), (4, 4, False), (20, 100, True), (21, 100, False)]
)
def test_gate_refuses_labels_that_the_domain_reads_otherwise(count: int, reviewed: int, passed: bool) -> None:
    assert compare(BASIS, BASIS, Disputes(reviewed, (WRONG["q"],) * count)).passed is passed


def test_gate_knows_labels_that_contradict_protected_words() -> None:
    text = "can i renew a book after it is due"
    slots = {"aspect": "eligibility", "medium": "book", "timing": "before_due"}
    found = disputes(Parser(LIBRARY).parse, LIBRARY, [Example(text, "renew_loan", slots)])
    assert [wrong.text for wrong in found.protected] == [text]


def test_gate_measures_what_a_parser_does() -> None:
    asked = Questions(GATE, PERSONAL, tuple(examples()))
    found = measure(Parser(LIBRARY).parse, asked, timer=lambda: 0.0)
    assert (found.false_hits, found.leaks, found.wrong, found.hits.count) == ((), (), {}, 1)


def test_gate_counts_every_question_it_asks() -> None:
    asked = Questions(GATE, PERSONAL, tuple(examples()))
    seen: list[str] = []
    measure(Parser(LIBRARY).parse, asked, step=seen.append)
    assert len(seen) == len(asked)


def test_gate_refusal_names_the_cases() -> None:
    (refusal,) = compare(BASIS, replace(BASIS, wrong=WRONG), bounds=Bounds()).refusals
    assert refusal.cases == ("'q': read as renew_loan(), labelled fines()",)


def test_gate_notes_nothing_that_a_refusal_names() -> None:
    disputed = Disputes(4, tuple(replace(WRONG["q"], text=str(n)) for n in range(4)))
    measured = replace(BASIS, disputed={case.text: case for case in disputed.keys})
    verdict = compare(measured, measured, disputed)
    assert ([refusal.ground for refusal in verdict.refusals], verdict.notes) == (["disputed_labels"], ())


def test_calibrate_lets_the_learned_reader_add_no_key_on_few_examples(champion: Path) -> None:
    bars = calibrate(champion, LIBRARY, examples())
    assert (bars.alone, bars.choose) == (NEVER, NEVER)


def test_calibrate_lets_it_refuse_sooner_where_refusals_may_be_wrong(champion: Path) -> None:
    bars = calibrate(champion, LIBRARY, examples(), risks=Risks(refused=1.0))
    assert (bars.veto, bars.slot_veto) == (0.5, 0.5)


def test_base_split_is_the_same_twice_and_forgets_no_intent() -> None:
    first, second = split(examples(), seed=1), split(reversed(examples()), seed=1)
    assert [{e.text for e in part} for part in first] == [{e.text for e in part} for part in second]
    assert all({e.intent for e in part} == {e.intent for e in examples()} for part in first)


@pytest.mark.parametrize("former", [0.6, 0.95])
def test_calibrate_keeps_the_bar_of_the_model_before_while_nothing_speaks_against_it(
    champion: Path, former: float
) -> None:
    """These few examples alone would set it at 0.9; none of them is refused wrongly at either bar."""
    assert calibrate(champion, LIBRARY, examples(), former={"veto": former}).veto == former


def test_calibrate_gives_up_a_bar_that_refuses_too_much(champion: Path) -> None:
    tried = calibrate(champion, LIBRARY, examples(), risks=Risks(refused=-0.01), former={"veto": 0.6})
    assert tried.veto == calibrate(champion, LIBRARY, examples(), risks=Risks(refused=-0.01)).veto != 0.6
