"""What one message asks: openings, continued facets, and words that only open a subordinate clause."""

from __future__ import annotations

import pytest

from slotcache.domain.loader import load_domain
from slotcache.errors import Abstain
from slotcache.parsing.parser import Parser


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(load_domain("order_support"))


@pytest.mark.parametrize(
    "text",
    [
        "I was wondering if I could cancel my subscription",
        "Is cancelling my subscription an option?",
        "Would I be able to cancel my subscription?",
        "Do you mind if I cancel my subscription?",
        "What are the chances I can cancel my subscription?",
        "I can't tell whether I can cancel my subscription",
        "cancelling my subscription, is that something you allow?",
    ],
)
def test_questions_whether_is_asked_in_many_ways(parser: Parser, text: str) -> None:
    assert str(parser.parse(text).key) == "cancel_subscription(aspect=eligibility)"


@pytest.mark.parametrize(
    "text",
    [
        "May I know how to cancel my subscription?",
        "Could you give me instructions on how to cancel my subscription?",
        "What would I have to do to cancel my subscription?",
        "In order to cancel my subscription, what do I need to do?",
        "I can't see how to cancel my subscription",
    ],
)
def test_questions_how_is_asked_in_many_ways(parser: Parser, text: str) -> None:
    assert str(parser.parse(text).key) == "cancel_subscription(aspect=how)"


def test_questions_a_leading_when_clause_asks_nothing(parser: Parser) -> None:
    key = parser.parse("What do I do if my parcel is lost?").key
    assert parser.parse("When my parcel is lost, what do I do?").key == key


def test_questions_a_when_that_asks_still_asks(parser: Parser) -> None:
    assert parser.parse("When will it ship, and can I cancel it?").abstain is Abstain.SEVERAL_QUESTIONS


def test_questions_a_when_behind_another_verb_is_not_dropped(parser: Parser) -> None:
    assert parser.parse("How do I decide when to cancel my subscription?").intent is None


def test_questions_when_before_a_gerund_is_an_occasion(parser: Parser) -> None:
    parse = parser.parse("Is ID required when collecting?")
    assert parse.slots.get("aspect") != "when"


@pytest.mark.parametrize("act", ["change", "cancel", "return"])
def test_questions_a_channel_does_not_swallow_the_act(parser: Parser, act: str) -> None:
    assert parser.parse(f"Can I phone to {act} my order?").key != parser.parse("Can I phone in my order?").key


@pytest.mark.parametrize("text", ["I want to check the payment options", "help me check what payment options you have"])
def test_questions_checking_is_no_cheque(parser: Parser, text: str) -> None:
    assert parser.parse(text).slots.get("payment_method") is None


@pytest.mark.parametrize(
    "text",
    ["need to unsubscribe from your newsletter", "I don't know what I have to do to unsubscribe from your newsletter"],
)
def test_questions_a_need_is_no_question_about_duty(parser: Parser, text: str) -> None:
    assert str(parser.parse(text).key) == "unsubscribe_newsletter(aspect=how)"


@pytest.mark.parametrize(
    ("one", "other"), [("Is the hold on my card 7 days?", "Is the hold on my card 14 days?"), ("pay $10", "pay $20")]
)
def test_questions_a_quantity_that_no_slot_takes_splits_the_key(parser: Parser, one: str, other: str) -> None:
    assert parser.parse(one).key != parser.parse(other).key


def test_questions_a_quantity_goes_to_the_intent_that_has_a_slot_for_it(parser: Parser) -> None:
    assert str(parser.parse("Can I return it within 30 days?").key) == "return_item(aspect=eligibility, within=P30D)"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (
            "Are customers compensated when deliveries are late?",
            "delivery_problem_remedy(aspect=eligibility, reason=late, remedy=compensation)",
        ),
        ("Will I be charged sales tax when I buy from you?", "tax_charged(aspect=eligibility)"),
        ("Who pays when a parcel is lost?", "who_bears_loss(aspect=who, reason=lost)"),
        ("If I get the wrong item, what do I do?", "delivery_problem(aspect=what_to_do, reason=wrong_item)"),
        (
            "Is it possible to return shoes which I've worn outside?",
            "return_item(aspect=eligibility, condition=worn_outside)",
        ),
    ],
)
def test_questions_a_clause_that_says_on_what_occasion_asks_nothing(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (
            "can i choose when my parcel arrives",
            "choose_delivery_time(aspect=eligibility, schedule=date, timing=at_checkout)",
        ),
        ("when do i pay if i pre-order", "preorder_charge(aspect=when, order_type=pre_order)"),
        ("which stores have click and collect", "pickup_stores(aspect=which)"),
        ("Your phone number - which one do I call?", "contact_phone(aspect=which)"),
    ],
)
def test_questions_a_word_that_asks_stays_one(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


def test_questions_what_is_done_in_the_app_is_another_question(parser: Parser) -> None:
    keys = {
        str(parser.parse(text).key) for text in ("can i track my order in the app", "in the app can i track my order")
    }
    assert keys == {"track_how(aspect=eligibility, done_in=app)"}
    assert str(parser.parse("can i track my order").key) == "track_how(aspect=eligibility)"


@pytest.mark.parametrize(
    ("text", "fillable"),
    [
        ("do you ship to canada", True),
        ("can you ship to canada", True),
        ("what happens to points when i return", True),
        ("are exchanges free", False),
    ],
)
def test_questions_an_opening_that_means_the_same_loses_nothing(parser: Parser, text: str, fillable: bool) -> None:
    """An answer to a question whose facet was merged into another one may not be kept for others."""
    parse = parser.parse(text)
    assert (parse.key is not None, parse.fillable) == (True, fillable)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Are refunds automatic or do I have to ask for them?", "refund_automatic(aspect=obligation)"),
        ("Do I pay return shipping or do you?", "return_payer(aspect=who)"),
    ],
)
def test_questions_both_sides_of_one_question_are_one(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


def test_questions_the_other_side_does_not_hide_a_second_question(parser: Parser) -> None:
    text = "Are refunds automatic or do I have to ask for them, and how long do they take?"
    assert parser.parse(text).intent is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("just wondering whether gift cards expire", "gift_card_expiry(aspect=eligibility)"),
        ("not sure if gift cards expire", "gift_card_expiry(aspect=eligibility)"),
        ("it would be great if you could cancel my order", "cancel_order(aspect=request)"),
    ],
)
def test_questions_an_indirect_whether_asks(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Why did you reject my payment?", "payment_failed(aspect=why)"),
        ("Why do you keep signing me out?", "signed_out_often(aspect=why)"),
        ("That's why I want to cancel my order", "cancel_order(aspect=request)"),
    ],
)
def test_questions_why_counts_inside_a_longer_phrase(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


def test_questions_when_before_a_gerund_asks_nothing(parser: Parser) -> None:
    assert str(parser.parse("Any discount when ordering 500 units?").key) == "discounts(aspect=eligibility, count=500)"


@pytest.mark.parametrize(
    ("whether", "how"),
    [
        ("Can I delete my account?", "How do I delete my account?"),
        ("Can I change the email on my account?", "How do I change the email on my account?"),
        ("Is my gift card invalid?", "Why is my gift card invalid?"),
    ],
)
def test_questions_facets_with_different_answers_stay_apart(parser: Parser, whether: str, how: str) -> None:
    assert parser.parse(whether).key != parser.parse(how).key


def test_questions_a_question_word_inside_a_phrase_is_continued_too(parser: Parser) -> None:
    assert str(parser.parse("Which store can I return to?").key) == "return_place(aspect=where)"
