from __future__ import annotations

from slotcache.domain.loader import load_domain
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.learning.facets import with_exact_facets


def test_facets_a_wording_gets_the_facet_that_it_asks() -> None:
    label = {"aspect": "what_to_do"}
    told, asked = with_exact_facets(
        [
            Example("my gift card has not arrived", "gift_card_not_received", label),
            Example("why has my gift card not arrived", "gift_card_not_received", label),
        ],
        load_domain("order_support"),
    )
    assert told.slots == {"aspect": "what_to_do"}
    assert asked.slots == {"aspect": "why"}


def test_facets_labels_that_code_reads_otherwise_stay() -> None:
    kept = [
        Example("why has my gift card not arrived", "card_declined", {"aspect": "what_to_do"}),
        Example("something about gift cards and llamas", "gift_card_not_received", {"aspect": "what_to_do"}),
        Example("is it going to rain", f"{OUT_OF_SCOPE}/far_oos"),
    ]
    assert with_exact_facets(kept, load_domain("order_support")) == kept
