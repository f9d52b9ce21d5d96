"""Returns, refunds, exchanges, warranty in the shipped domain: keys and owners of what is easily taken for another."""

from __future__ import annotations

import pytest

from slotcache.domain.loader import load_domain
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Owner


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(load_domain("order_support"))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("when am I getting my money back", "refund_duration(aspect=duration)"),
        ("I cancelled, how soon is the money back", "refund_duration(aspect=duration, occasion=cancellation)"),
        ("still no refund", "refund_not_received(aspect=where)"),
        ("wrong refund amount", "refund_wrong_amount(aspect=what_to_do)"),
        ("is the return free if the item is faulty", "return_cost(aspect=cost, reason=defective)"),
        ("how many days do you give for returns", "return_window(aspect=duration)"),
        ("where should I send it back to", "return_address(aspect=where)"),
        ("can I send back some of the items", "return_item(aspect=eligibility, extent=part)"),
        ("can you start a return for me", "start_return(aspect=how)"),
        ("can I have a replacement, it's faulty", "replace_item(aspect=eligibility, reason=defective)"),
        ("when will my replacement be shipped", "replacement_status(aspect=when, awaited=shipped)"),
    ],
)
def test_returns_everyday_wordings_have_their_key(parser: Parser, text: str, key: str) -> None:
    assert str(parser.parse(text).key) == key


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("can you tell me where my return is", Owner.NEVER),
        ("can you confirm receipt of my return", Owner.NEVER),
        ("can you check if my refund has been processed", Owner.NEVER),
        ("do I still have warranty", Owner.CUSTOMER),
        ("is the warranty on my item still valid", Owner.CUSTOMER),
        ("do your items have a warranty", Owner.SHARED),
    ],
)
def test_returns_what_is_ones_own_is_not_shared(parser: Parser, text: str, owner: Owner) -> None:
    assert parser.parse(text).owner is owner
