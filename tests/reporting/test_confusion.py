"""Matrices that keep what was confused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slotcache.reporting import confusion
from slotcache.reporting.judged import Judged

Make = Callable[..., Judged]


@pytest.fixture
def some(judged: Make) -> list[Judged]:
    return [
        judged("renew(timing=before)", "renew(timing=before)", "a"),
        judged("renew(timing=before)", "renew(timing=after)", "b", traffic=40.0, harmful=True),
        judged("renew(timing=before)", "renew(timing=after)", "c", traffic=2.0),
        judged("renew(timing=before)", "fine()", "d", traffic=9.0),
        judged("fine()", None, "e"),
        judged(None, "fine()", "f", harmful=True),
    ]


def test_confusion_keys_count_traffic_and_harm_of_a_cell(some: list[Judged]) -> None:
    cell = confusion.keys(some).cells[0]
    assert (cell.gold, cell.read) == ("renew(timing=before)", "renew(timing=after)")
    assert (cell.count, cell.accepted, cell.traffic, cell.harm, cell.questions) == (2, 2, 42.0, 40.0, (1, 2))


def test_confusion_right_readings_make_no_cell(some: list[Judged]) -> None:
    assert all(cell.gold != cell.read for cell in confusion.keys(some).cells)


def test_confusion_slot_looks_only_where_the_intent_was_right(some: list[Judged]) -> None:
    (timing,) = confusion.slots(some)
    assert [(c.gold, c.read, c.count) for c in timing.cells] == [("before", "after", 2)]


def test_confusion_slot_that_a_key_lacks_is_shown_as_absent(judged: Make) -> None:
    (matrix,) = confusion.slots([judged("renew(timing=before)", "renew()")])
    assert matrix.cells[0].read == confusion.ABSENT


def test_confusion_row_keeps_three_outcomes_apart(some: list[Judged]) -> None:
    rows = {row.name: row for row in confusion.intents(some).rows}
    assert [rows["renew"].right.count, rows["renew"].abstained.count, rows["renew"].wrong.count] == [1, 0, 3]
    assert [rows["fine"].right.count, rows["fine"].abstained.count, rows["fine"].wrong.count] == [0, 1, 0]


def test_confusion_row_names_what_it_is_most_confused_with(some: list[Judged]) -> None:
    assert {row.name: row.most_confused_with for row in confusion.intents(some).rows}["renew"] == "fine"


def test_confusion_worst_cell_comes_first(some: list[Judged]) -> None:
    harms = [cell.harm for cell in confusion.keys(some).cells]
    assert harms == sorted(harms, reverse=True)
