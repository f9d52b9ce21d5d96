"""Facets of labelled wordings, as exact as the domain keeps them today.

A meaning group carries one label, and its facet is as coarse as the domain was when the group was labelled: where "why
has it not come" and "it has not come" were one question, both are labelled alike. How a wording asks is read from words
of a closed class, which code reads exactly; so where code reads all else as the label says, its facet stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slotcache.domain.schema import Domain
from slotcache.learning.examples import Example
from slotcache.parsing.parser import Parser


def with_exact_facets(examples: Iterable[Example], domain: Domain) -> list[Example]:
    """The examples, each with the facet that the deterministic reader finds in its text.

    Args:
        examples: Labelled utterances.
        domain: The domain that their labels belong to.
    """
    read = Parser(domain).parse
    facet = domain.facet

    def refined(example: Example) -> Example:
        if example.intent not in domain.intents or facet not in domain.slots:
            return example
        parse = read(example.text)
        others = {name: value for name, value in example.slots.items() if name != facet}
        if parse.intent != example.intent or {n: v for n, v in parse.slots.items() if n != facet} != others:
            return example
        return replace(example, slots=dict(parse.slots))

    return [refined(example) for example in examples]
