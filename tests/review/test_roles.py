"""What an analyst may not do, and a lead may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slotcache import Scope
from slotcache.review.acts import key_id, question_id
from slotcache.review.sessions import Sessions
from slotcache.review.users import Role, add_user, read_users, set_role
from tests.review.conftest import PASSWORD, Client, Person, Room

NABBING = "can i nab a dvd"
BORROWING = "can i borrow a dvd"
BORROW = "borrow_item(aspect=eligibility, medium=dvd)"


@pytest.fixture
def kim(client: Client) -> Person:
    """Leads."""
    return client("kim")


@pytest.fixture
def lee(client: Client) -> Person:
    """An analyst."""
    return client("lee")


def proposed(room: Room, person: Person) -> str:
    """The page of a synonym that somebody proposed."""
    room.ask(NABBING)
    room.refresh()
    sent = person.send(
        f"/question/{question_id(NABBING)}/teach", what="synonym", target="borrow", phrase="nab", id="proposal-1"
    )
    return str(sent.headers["location"]).partition("?")[0]


def quarantined(room: Room) -> None:
    room.ask(BORROWING)
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    room.cache.report_false_hit(entry.id)


def approve(room: Room, person: Person) -> Any:
    return person.send(f"/key/{key_id(BORROW)}/approve", key=BORROW, answer="Three.", place="0", id="approval-1")


def answer(room: Room) -> str | None:
    return room.cache.get(BORROWING, Scope()).answer


def test_roles_analyst_approves_no_answer(room: Room, lee: Person) -> None:
    sent = approve(room, lee)
    assert (sent.status_code, answer(room)) == (403, None)
    assert "role “lead”" in sent.text


def test_roles_analyst_edits_no_answer(room: Room, lee: Person) -> None:
    room.ask(BORROWING)
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    form = {"key": BORROW, "entry": entry.id, "was": entry.answer, "answer": "Three."}
    assert lee.send(f"/key/{key_id(BORROW)}/approve", **form).status_code == 403
    assert answer(room) == "Two at a time."


def test_roles_analyst_takes_no_approval_back(room: Room, kim: Person, lee: Person) -> None:
    approve(room, kim)
    assert lee.send("/undo", act="approval-1").status_code == 403
    assert answer(room) == "Three."


def test_roles_analyst_reports_a_wrong_answer_which_leaves_recall(room: Room, lee: Person) -> None:
    room.ask(BORROWING)
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    lee.send(f"/key/{key_id(BORROW)}/report", key=BORROW, entry=entry.id)
    assert answer(room) is None


@pytest.mark.parametrize(("name", "left"), [("lee", 1), ("kim", 0)])
def test_roles_leads_alone_end_a_quarantine(room: Room, client: Client, name: str, left: int) -> None:
    quarantined(room)
    client(name).send(f"/key/{key_id(BORROW)}/clear", key=BORROW)
    assert len(room.cache.core.store.quarantines()) == left


def test_roles_analyst_ends_no_quarantine_by_taking_a_report_back(room: Room, lee: Person) -> None:
    room.ask(BORROWING)
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    lee.send(f"/key/{key_id(BORROW)}/report", key=BORROW, entry=entry.id, id="report-1")
    assert lee.send("/undo", act="report-1").status_code == 403
    assert len(room.cache.core.store.quarantines()) == 1


@pytest.mark.parametrize(("name", "taken"), [("lee", False), ("kim", True)])
def test_roles_leads_alone_accept_proposals(room: Room, lee: Person, client: Client, name: str, taken: bool) -> None:
    page = proposed(room, lee)
    client(name).send(f"{page}/accept", seen="1")
    assert [one.accepted for one in room.desk.proposals()] == ["kim" if taken else ""]


@pytest.mark.parametrize("which", ["acceptance", "proposal"])
def test_roles_analyst_takes_no_accepted_proposal_back(room: Room, kim: Person, lee: Person, which: str) -> None:
    page = proposed(room, lee)
    kim.send(f"{page}/accept", seen="1")
    (one,) = room.desk.proposals()
    sent = lee.send("/undo", act=one.act if which == "acceptance" else "proposal-1")
    assert sent.status_code == 403
    assert [one.accepted for one in room.desk.proposals()] == ["kim"]


def test_roles_analyst_takes_back_a_proposal_that_nobody_accepted(room: Room, lee: Person) -> None:
    proposed(room, lee)
    lee.send("/undo", act="proposal-1")
    assert room.desk.proposals() == []


def test_roles_analyst_labels_and_takes_back(room: Room, lee: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    lee.label(NABBING, "scope", id="label-1")
    lee.send("/undo", act="label-1")
    assert [row.get("retract") for row in room.labels.rows()] == [True]


FORMS = ("/approve", "/clear", "/accept")


@pytest.mark.parametrize("path", [f"/key/{key_id(BORROW)}?key={BORROW}", "proposal"])
@pytest.mark.parametrize(("name", "shown"), [("kim", True), ("lee", False)])
def test_roles_pages_offer_only_what_one_may_do(room: Room, client: Client, path: str, name: str, shown: bool) -> None:
    person = client(name)
    where = proposed(room, person) if path == "proposal" else path
    quarantined(room)
    page = person.http.get(where).text
    assert any(f'{form}"' in page for form in FORMS) is shown


def test_roles_hold_from_the_next_click_on(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    sessions = Sessions(lambda: read_users(path))
    cookie = sessions.write(sessions.begin("kim"))
    set_role(path, "kim", Role.ANALYST)
    session = sessions.read(cookie)
    assert session is not None
    assert sessions.role(session.name) is Role.ANALYST
