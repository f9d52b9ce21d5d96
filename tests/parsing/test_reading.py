"""Which of several readings comes first."""

from __future__ import annotations

from itertools import permutations

from slotcache.parsing.reading import Reading, _rank


def test_reading_equal_readings_come_in_one_order_the_fuller_first() -> None:
    plain = Reading("change", {"aspect": "how"}, evoked=2, heard=1)
    fuller = Reading("change", {"aspect": "how", "edit": "change"}, evoked=2, heard=1)
    other = Reading("change", {"aspect": "why"}, evoked=2, heard=1)
    assert all(sorted(found, key=_rank) == [fuller, plain, other] for found in permutations([plain, fuller, other]))
