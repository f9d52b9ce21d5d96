"""The pages without a browser: who gets in, forms, labels, answers, proposals."""

from __future__ import annotations

import logging

import pytest

from slotcache import Scope
from slotcache.review.acts import key_id, question_id
from slotcache.review.sessions import COOKIE
from tests.review.conftest import PASSWORD, Client, Person, Room

NABBING = "can i nab a dvd"
BORROW = "borrow_item(aspect=eligibility, medium=dvd)"


@pytest.mark.parametrize("path", ["/queue", "/next", "/labels", "/proposals", "/answers", "/question/q-1", "/key/k-1"])
def test_pages_are_closed_to_strangers(room: Room, path: str) -> None:
    stranger = Person(room, "nobody")
    assert stranger.http.get(path).headers["location"] == "/login"
    stranger.http.close()


@pytest.mark.parametrize(("name", "password"), [("kim", "wrong password"), ("nobody", PASSWORD)])
def test_pages_refuse_a_wrong_log_in_alike(room: Room, name: str, password: str) -> None:
    stranger = Person(room, name)
    answer = stranger.log_in(password)
    stranger.http.close()
    assert answer.status_code == 401
    assert "do not go together" in answer.text


def test_pages_limit_attempts_to_log_in(room: Room) -> None:
    stranger = Person(room, "kim")
    statuses = [stranger.log_in("wrong password").status_code for _ in range(6)]
    right = stranger.log_in().status_code
    room.timer.now += 301.0
    assert (statuses, right, stranger.log_in().status_code) == ([401] * 5 + [429], 429, 303)
    stranger.http.close()


def test_pages_take_no_form_from_another_page(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    answer = kim.http.post(f"/question/{question_id(NABBING)}/label", data={"say": "scope", "token": "0" * 64})
    assert answer.headers["location"] == "/login"
    assert room.labels.rows() == []


def test_pages_forged_session_is_nobodys(kim: Person) -> None:
    cookie = kim.http.cookies[COOKIE]
    kim.http.cookies.clear()
    kim.http.cookies.set(COOKIE, cookie[:-2] + ("aa" if cookie[-2:] != "aa" else "bb"))
    assert kim.http.get("/queue").headers["location"] == "/login"


def test_pages_cookie_is_kept_from_scripts_and_other_sites(room: Room) -> None:
    person = Person(room, "kim")
    said = person.log_in().headers["set-cookie"]
    person.http.close()
    assert "HttpOnly" in said
    assert "SameSite=lax" in said


@pytest.mark.parametrize("path", ["/login", "/queue", "/static/review.js", "/nowhere"])
def test_pages_carry_headers_that_keep_others_out(kim: Person, path: str) -> None:
    headers = kim.http.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")


def test_pages_show_what_customers_typed_as_text(room: Room, kim: Person) -> None:
    room.ask("can i nab <script>alert(1)</script>")
    room.refresh()
    page = kim.http.get("/queue").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_pages_log_nothing_of_what_customers_typed(room: Room, kim: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "slotcache")
    room.ask(NABBING)
    room.refresh()
    kim.label(NABBING, "scope")
    kim.http.get("/queue?q=nab")
    logged = [f"{one.getMessage()} {getattr(one, 'fields', '')}" for one in caplog.records if "slotcache" in one.name]
    assert any("labelled" in line for line in logged)
    assert not any("nab" in line for line in logged)


def test_pages_confirm_keeps_what_was_read_and_goes_on(room: Room, kim: Person) -> None:
    room.ask("can i borrow a dvd")
    room.ask(NABBING)
    room.refresh()
    answer = kim.label(
        "can i borrow a dvd", "confirm", intent="borrow_item", **{"slot.aspect": "eligibility", "slot.medium": "dvd"}
    )
    assert answer.headers["location"].startswith(f"/question/{question_id(NABBING)}")
    (row,) = room.labels.rows()
    assert (row["intent"], row["slots"], row["labeller"]) == (
        "borrow_item",
        {"aspect": "eligibility", "medium": "dvd"},
        "kim",
    )


@pytest.mark.parametrize(
    ("say", "row"),
    [("scope", {"intent": "out_of_scope", "slots": {}}), ("personal", {"personal": True}), ("leave", None)],
)
def test_pages_one_key_labels(room: Room, kim: Person, say: str, row: dict[str, object] | None) -> None:
    room.ask(NABBING)
    room.refresh()
    kim.label(NABBING, say)
    rows = room.labels.rows()
    assert room.desk.queue.page() == []
    assert [one.items() >= row.items() for one in rows] == ([] if row is None else [True])  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"intent": "borow_item"}, "did you mean &#39;borrow_item&#39;"),
        ({"intent": "borrow_item", "slot.medium": "vinyl"}, "no value &#39;vinyl&#39;"),
        ({"intent": "renew_loan", "slot.medium": "dvd"}, "get aspect=how"),
    ],
)
def test_pages_label_that_cannot_be_used_says_the_fix(
    room: Room, kim: Person, form: dict[str, str], problem: str
) -> None:
    room.ask(NABBING)
    room.refresh()
    answer = kim.label(NABBING, "label", **form)
    assert answer.status_code == 422
    assert problem in answer.text
    assert room.labels.rows() == []


def test_pages_second_of_two_analysts_is_told(room: Room, kim: Person, client: Client) -> None:
    room.ask(NABBING)
    room.refresh()
    lee = client("lee")
    kim.label(NABBING, "scope", seen="0")
    answer = lee.label(NABBING, "personal", seen="0")
    assert answer.status_code == 409
    assert "kim said <b>out of scope</b>" in answer.text
    assert [row.get("labeller") for row in room.labels.rows()] == ["kim"]


def test_pages_form_sent_twice_counts_once(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    for _ in range(2):
        assert kim.label(NABBING, "scope", seen="0", id="form-1").status_code == 303
    assert len(room.labels.rows()) == 1


def test_pages_two_analysts_are_given_different_questions(room: Room, kim: Person, client: Client) -> None:
    for text in (NABBING, "can i pinch a book"):
        room.ask(text)
    room.refresh()
    lee = client("lee")
    places = {person.http.get("/next").headers["location"] for person in (kim, lee)}
    assert len(places) == 2


def test_pages_undo_puts_the_question_back(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    kim.label(NABBING, "scope", id="label-1")
    kim.send("/undo", act="label-1")
    assert [item.text for item in room.desk.queue.page()] == [NABBING]


def test_pages_pair_is_kept_for_the_gate(room: Room, kim: Person) -> None:
    room.ask("can i borrow a dvd")
    room.ask(NABBING)
    room.refresh()
    assert (
        "can i borrow a dvd"
        not in kim.http.get(f"/question/{question_id('can i borrow a dvd')}").text.split("Nearest")[1]
    )
    kim.send(f"/question/{question_id(NABBING)}/pair", other="can i borrow a dvd", same="yes")
    (row,) = room.labels.rows()
    assert (row["a"], row["b"], row["same"]) == (NABBING, "can i borrow a dvd", True)


def test_pages_redacted_question_is_labelled_with_a_stand_in(room: Room, kim: Person) -> None:
    room.ask("can i nab 10234567", customer="c-9")
    room.refresh()
    kim.label("can i nab <order_number>", "scope")
    assert [row["text"] for row in room.labels.rows()] == ["can i nab 100200300"]


def test_pages_report_takes_the_answer_back_at_once(room: Room, kim: Person) -> None:
    for _ in range(2):
        room.ask("can i borrow a dvd")
    room.refresh()
    assert room.cache.get("can i borrow a dvd", Scope()).hit
    kim.send(f"/question/{question_id('can i borrow a dvd')}/report", note="three, not two")
    assert room.cache.get("can i borrow a dvd", Scope()).hit is False
    assert [one.key for one in room.cache.core.store.quarantines()] == [BORROW]


def test_pages_edited_answer_is_approved_and_served(room: Room, kim: Person) -> None:
    room.ask("can i borrow a dvd")
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    form = {"key": BORROW, "entry": entry.id, "was": entry.answer, "answer": "Three at a time."}
    kim.send(f"/key/{key_id(BORROW)}/approve", **form)
    served = room.cache.get("can i borrow a dvd", Scope())
    assert (served.answer, served.source) == ("Three at a time.", "approved")


def test_pages_approval_of_an_answer_that_changed_meanwhile_is_refused(room: Room, kim: Person) -> None:
    room.ask("can i borrow a dvd")
    (entry,) = room.desk.answers.state(BORROW).entries  # type: ignore[union-attr]
    form = {"key": BORROW, "entry": entry.id, "was": "something else", "answer": "Three at a time."}
    answer = kim.send(f"/key/{key_id(BORROW)}/approve", **form)
    assert answer.status_code == 422
    assert room.cache.get("can i borrow a dvd", Scope()).answer == "Two at a time."


def test_pages_approval_taken_back_leaves_recall(room: Room, kim: Person) -> None:
    kim.send(f"/key/{key_id(BORROW)}/approve", key=BORROW, answer="Three.", place="0", id="approval-1")
    assert room.cache.get("can i borrow a dvd", Scope()).answer == "Three."
    kim.send("/undo", act="approval-1")
    assert room.cache.get("can i borrow a dvd", Scope()).hit is False


def test_pages_written_answer_for_one_customers_key_is_refused(room: Room, kim: Person) -> None:
    key = "lost_card(aspect=what_to_do)"
    answer = kim.send(f"/key/{key_id(key)}/approve", key=key, answer="Come by.", place="0")
    assert answer.status_code == 400
    assert "single customers" in answer.text


def test_pages_answers_of_single_customers_are_not_shown(room: Room, kim: Person) -> None:
    key = "lost_card(aspect=what_to_do)"
    room.ask("i lost my library card", answer="Yours was found in the hall.")
    page = kim.http.get(f"/key/{key_id(key)}", params={"key": key}).text
    assert "Yours was found" not in page
    assert "1 more belong to single customers" in page


def test_pages_quarantine_waits_in_the_queue_until_it_is_ended(room: Room, kim: Person) -> None:
    room.ask("can i borrow a dvd")
    hit = room.ask("can i borrow a dvd")
    room.cache.report_false_hit(str(hit.hit_id))
    room.refresh()
    assert key_id(BORROW) in kim.http.get("/answers").text
    kim.send(f"/key/{key_id(BORROW)}/clear", key=BORROW)
    assert room.cache.core.store.quarantines() == ()
    assert key_id(BORROW) not in kim.http.get("/answers").text


def test_pages_proposal_changes_nothing_before_it_is_accepted(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    id = question_id(NABBING)
    sent = kim.send(f"/question/{id}/teach", what="synonym", target="borrow", phrase="nab~")
    page = kim.http.get(sent.headers["location"]).text
    assert '<span class="add">+- nab~</span>' in page
    assert f'<code class="changed">{BORROW}</code>' in page
    assert room.labels.rows() == []
    (proposal,) = room.desk.proposals()
    kim.send(f"/proposals/{proposal.id}/accept", seen=str(proposal.number))
    assert [row["patch"] for row in room.labels.rows()] == [{"concepts": {"borrow": ["nab~"]}}]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"what": "filler", "phrase": "not"}, "can turn an answer"),
        ({"what": "synonym", "target": "borow", "phrase": "nab"}, "did you mean"),
        ({"what": "value", "slot": "medium", "value": "dvd", "phrase": "disc"}, "has the value"),
        ({"what": "value", "slot": "medium", "value": "Vinyl LP", "phrase": "vinyl"}, "is neither a concept"),
        ({"what": "synonym", "target": "borrow", "phrase": "borrow~"}, "says this already"),
        ({"what": "synonym", "target": "borrow", "phrase": "{nowhere}"}, "nowhere"),
    ],
)
def test_pages_proposal_that_cannot_be_used_says_why(
    room: Room, kim: Person, form: dict[str, str], problem: str
) -> None:
    room.ask(NABBING)
    room.refresh()
    answer = kim.send(f"/question/{question_id(NABBING)}/teach", **form)
    assert answer.status_code == 422
    assert problem in answer.text
    assert room.desk.proposals() == []


def test_pages_accepted_value_may_be_used_in_labels(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    kim.send(f"/question/{question_id(NABBING)}/teach", what="value", slot="medium", value="vinyl", phrase="record")
    label = {"intent": "borrow_item", "slot.medium": "vinyl", "slot.aspect": "eligibility"}
    assert kim.label(NABBING, "label", **label).status_code == 422
    (proposal,) = room.desk.proposals()
    kim.send(f"/proposals/{proposal.id}/accept", seen=str(proposal.number))
    assert kim.label(NABBING, "label", **label).status_code == 303


def test_pages_accepted_proposal_is_taken_out_again(room: Room, kim: Person) -> None:
    room.ask(NABBING)
    room.refresh()
    page = (
        kim.send(f"/question/{question_id(NABBING)}/teach", what="synonym", target="borrow", phrase="nab")
        .headers["location"]
        .partition("?")[0]
    )
    kim.send(f"{page}/accept", seen="1", id="acceptance-1")
    kim.send("/undo", act="acceptance-1")
    assert "taken out by kim" in kim.http.get(page).text
    assert [row["retract"] for row in room.labels.rows()] == [True]


def test_pages_record_that_begins_anew_is_taken_in_from_the_start(room: Room) -> None:
    for text in (NABBING, "can i pinch a book"):
        room.ask(text)
    room.refresh()
    room.desk.queue.take_in([(10_000, next(iter(room.desk.queue.page())).record)])  # type: ignore[list-item]
    room.refresh()
    assert sorted(item.traffic for item in room.desk.queue.page()) == [1.0, 1.0]
