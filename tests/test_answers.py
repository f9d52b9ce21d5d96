from __future__ import annotations

import pytest

from slotcache.answers import Answer, find_personal, why_not_kept, without
from slotcache.errors import NotStored


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to jo.smith+x@example.co.uk please", "email"),
        ("call me on +44 7700 900123", "phone"),
        ("call me on (020) 7946 0958", "phone"),
        ("my number is 555-123-4567", "phone"),
        ("my number is 07700 900 123", "phone"),
        ("order #4821", "order"),
        ("order # A-4821", "order"),
        ("where is order 4821?", "order"),
        ("order number is ab12", "order"),
        ("it is ORD-99812", "order"),
        ("114-3941689-8772232", "order"),
        ("reference 88123456", "order"),
        ("tracking 1Z999AA10123456784", "tracking"),
        ("RB123456785GB has not moved", "tracking"),
        ("pay with 4111 1111 1111 1111", "card"),
        ("pay with 4111-1111-1111-1111", "card"),
        ("send it to 12 Baker Street", "address"),
        ("i live at 221b upper baker st", "address"),
    ],
)
def test_answers_find_personal_data(text: str, kind: str) -> None:
    assert kind in find_personal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Returns are free within 30 days of delivery.",
        "Delivery takes 3-5 business days and costs £4.99.",
        "Orders over 1,000.00 are delivered by 2 people.",
        "Shop 24/7, 365 days a year, since 2019.",
        "Your order can be cancelled until it ships.",
        "The order number is on the label.",
        "Use a tracking number from the e-mail.",
        "Refunds take 5 to 10 days by the way.",
        "We ship to 27 countries.",
        "a 100% refund within 14 days",
        "our store in square 9 opens at 10:30",
    ],
)
def test_answers_find_nothing_personal_in_policies(text: str) -> None:
    assert find_personal(text) == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("Yes.", not_kept=NotStored.CALL_FAILED), NotStored.CALL_FAILED),
        (Answer("Yes.", tool_call=True), NotStored.TOOL_CALL),
        (Answer(""), NotStored.EMPTY_ANSWER),
        (Answer(" \n"), NotStored.EMPTY_ANSWER),
        (Answer("No.", refused=True), NotStored.REFUSED_ANSWER),
        (Answer("I'm sorry, but I can't help with that."), NotStored.REFUSED_ANSWER),
        (Answer("I’m sorry, I cannot assist."), NotStored.REFUSED_ANSWER),
        (Answer("As an AI language model I have no opinion."), NotStored.REFUSED_ANSWER),
        (Answer("I am unable to access that."), NotStored.REFUSED_ANSWER),
        (Answer("Unfortunately I don't have that information."), NotStored.REFUSED_ANSWER),
        (Answer("We could not find it. I'm not sure what happened."), NotStored.REFUSED_ANSWER),
        (Answer("Something went wrong, try again later."), NotStored.REFUSED_ANSWER),
        (Answer("Could you please clarify which product?"), NotStored.REFUSED_ANSWER),
        (Answer("Please provide me with your order number."), NotStored.REFUSED_ANSWER),
        (Answer("Returns are free within", finish="length"), NotStored.INCOMPLETE_ANSWER),
        (Answer("Returns are free.", finish="content_filter"), NotStored.INCOMPLETE_ANSWER),
        (Answer("Returns are free.", finish=""), NotStored.INCOMPLETE_ANSWER),
        (Answer("You can return these:"), NotStored.INCOMPLETE_ANSWER),
        (Answer("Run this: ```bash"), NotStored.INCOMPLETE_ANSWER),
        (Answer("Yes \ud83d"), NotStored.INCOMPLETE_ANSWER),
        (Answer("Mail jo@example.com."), NotStored.PERSONAL_ANSWER),
    ],
    ids=lambda value: value.text if isinstance(value, Answer) else "",
)
def test_answers_that_must_not_be_shared_are_not_kept(answer: Answer, reason: NotStored) -> None:
    assert why_not_kept(answer, shared=True) is reason


@pytest.mark.parametrize(
    "text",
    [
        "Yes, until it ships.",
        "I'm sorry that it is late. Parcels take 3-5 days; after 10 days we send another one.",
        "Sorry, orders cannot be cancelled once they have shipped. You can return them free of charge.",
        "You can't change the address after dispatch.",
        "We do not ship to PO boxes.",
        "Use this code:\n```\nSAVE\n```\nat the till",
        "Of course! Tap Returns in the app",
    ],
)
def test_answers_that_are_good_are_kept(text: str) -> None:
    assert why_not_kept(Answer(text), shared=True) is None


def test_answers_with_personal_data_may_be_kept_for_their_own_customer() -> None:
    assert why_not_kept(Answer("It goes to 12 Baker Street."), shared=False) is None


def test_answers_with_the_shops_own_address_are_not_personal() -> None:
    answer = Answer("Mail help@acme.example or call +44 20 7946 0958.")
    public = ("help@acme.example", "+44 20 7946 0958")
    assert why_not_kept(answer, shared=True, public=public) is None


def test_answers_without_takes_out_nothing_else() -> None:
    assert find_personal(without("jo@acme.example, help@acme.example", ("help@acme.example",))) == ("email",)


@pytest.mark.parametrize(
    ("varying", "text"),
    [
        ("Anna", "Hi Anna, yes."),
        ("anna smith", "Hi Anna, yes."),
        ("Anna-Lena Groß", "Hi GROSS... yes, Anna-Lena."),
        ("Friday 12 May", "Yes, until Friday."),
        ("Name: Anna Smith. City: Leeds. Member since 2019. Likes shoes.", "Yes, we have a shop in Leeds."),
        ("gold", "As a gold member you can."),
    ],
)
def test_answers_that_repeat_what_varies_in_the_prompt_are_not_shared(varying: str, text: str) -> None:
    assert why_not_kept(Answer(text), shared=True, varying=(varying,)) is NotStored.PERSONAL_ANSWER


@pytest.mark.parametrize(
    ("varying", "text"),
    [
        ("Anna", "You may return it. Annat is something else."),
        ("Friday 12 May", "You may return it."),
        ("", "Yes."),
        ("likes shoes and bags and hats very much", "You can return shoes and bags."),
    ],
)
def test_answers_that_repeat_nothing_of_the_prompt_are_shared(varying: str, text: str) -> None:
    assert why_not_kept(Answer(text), shared=True, varying=(varying,)) is None


@pytest.mark.parametrize(
    "piece",
    [
        "x",
        "1",
        "a-",
        "123-",
        "1-a",
        " ",
        "order ",
        "i ",
        "1 a ",
        "@",
        "a@b",
        "#",
        "+1",
        "(1)",
        "1Z",
        "i am ",
        "order\t\n ",
        ", ",
    ],
)
@pytest.mark.parametrize("end", ["", "!a"])
def test_answers_read_hostile_text_in_linear_time(piece: str, end: str) -> None:
    text = piece * (100_000 // len(piece)) + end
    assert isinstance(find_personal(text), tuple)
    assert why_not_kept(Answer(text), shared=False, varying=("Anna",)) in (*NotStored, None)
