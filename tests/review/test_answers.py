from __future__ import annotations

import json
from pathlib import Path

from slotcache import Scope
from slotcache.review.acts import key_id
from slotcache.review.answers import Answers
from slotcache.review.weigh import Why
from tests.review.conftest import Room

BORROW = "borrow_item(aspect=eligibility, medium=dvd)"
OTHER = "borrow_item(aspect=eligibility, medium=book)"


def test_answers_key_waits_when_nobody_may_fill_it(room: Room) -> None:
    room.cache.core.store.note_waiting(BORROW, now=room.clock())
    (item,) = room.desk.answers.items()  # type: ignore[union-attr]
    assert (item.text, item.why, item.traffic) == (BORROW, Why.WAITING, 1.0)


def test_answers_key_with_somebodys_number_does_not_wait(room: Room) -> None:
    room.cache.core.store.note_waiting("borrow_item(reference=10234567)", now=room.clock())
    assert room.desk.answers.items() == []  # type: ignore[union-attr]


def test_answers_approved_key_waits_no_more(room: Room) -> None:
    room.cache.core.store.note_waiting(BORROW, now=room.clock())
    room.cache.approve("can i borrow a dvd", "Two.", author="kim")
    assert room.desk.answers.items() == []  # type: ignore[union-attr]


def test_answers_conflict_of_a_rekeying_is_shown_with_both_answers(room: Room, tmp_path: Path) -> None:
    room.ask("can i borrow a dvd", "Two at a time.")
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    row = {
        "source": "a" * 56, "target": entry.id, "fate": "conflict", "key": OTHER, "new_key": BORROW, "reason": "newer",
        "question": "may i borrow a dvd", "loser": "Three.", "winner": "Two at a time.",
    }  # fmt: skip
    (tmp_path / "rekey-1.done").write_text("\n" + json.dumps(row))
    answers = Answers(room.cache.core, journals=tmp_path)
    (conflict,) = answers.state(BORROW).conflicts
    assert (conflict.served, conflict.not_served) == ("Two at a time.", "Three.")
    assert [item.why for item in answers.items()] == [Why.CONFLICT]
    answers.approve(entry.id, author="kim", answer="Three.")
    assert answers.items() == []
    assert room.cache.get("can i borrow a dvd", Scope()).answer == "Three."


def test_answers_key_is_found_by_its_id(room: Room) -> None:
    room.cache.core.store.note_waiting(BORROW, now=room.clock())
    assert room.desk.answers.key_of(key_id(BORROW)) == BORROW  # type: ignore[union-attr]
    assert room.desk.answers.key_of(key_id(OTHER)) is None  # type: ignore[union-attr]
