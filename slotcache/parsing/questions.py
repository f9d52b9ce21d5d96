"""How many questions one message asks: facets that continue a question, and facets that open another one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from slotcache.parsing.lexicon import FILLER, Span
from slotcache.parsing.normalise import Token


def absorb_trailing(
    cover: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    trailing: Collection[str],
    *,
    passive: Collection[str],
    conjunctions: Collection[str],
) -> list[Span]:
    """Turn a facet that only continues the question before it into a filler.

    In "how many books can I borrow" the second facet (can I) is part of the first question (how many); in "how many are
    there and can I borrow one" it is a question of its own. A `passive` value asks nothing that could be continued: in
    "is cancelling it an option" the option is what is asked.
    """
    settled: list[Span] = []
    asked: Span | None = None
    for span in sorted(cover, key=lambda span: span.start):
        values = {sense.value for sense in span.senses if sense.kind == "slot" and sense.name == facet}
        if values and values <= set(trailing) and asked is not None:
            between = tokens[asked.end : span.start]
            joined = any(token.norm in conjunctions for token in between)
            if not joined and tokens[span.start].clause == tokens[asked.start].clause:
                settled.append(Span(span.start, span.end, (FILLER,), span.used))
                continue
        if values and not values <= {*trailing, *passive}:
            asked = span
        settled.append(span)
    return settled


def opens_another(
    spans: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    *,
    passive: Collection[str],
    conjunctions: Collection[str],
    skippable: Collection[str],
) -> bool:
    """Whether a facet right behind a conjunction opens a second question ("... and how long does it take").

    Args:
        spans: Every phrase found in the message.
        tokens: Its normalised words.
        facet: Name of the slot that says what is asked.
        passive: Values that only introduce a question ("I want to ... and how do I do that" is one question).
        conjunctions: Words that join questions.
        skippable: Words that may stand between the conjunction and the facet.
    """
    asking = [
        span
        for span in spans
        if any(s.kind == "slot" and s.name == facet and s.value not in passive for s in span.senses)
    ]
    first_end = min((span.end for span in asking), default=0)
    return any(_conjunction(tokens, span.start, conjunctions, skippable) >= first_end > 0 for span in asking)


def _conjunction(tokens: Sequence[Token], start: int, conjunctions: Collection[str], skippable: Collection[str]) -> int:
    """Position of the conjunction right before a phrase, passing over words that carry grammar only; -1 without one."""
    at = start - 1
    while at >= 0 and tokens[at].norm not in conjunctions and tokens[at].norm in skippable:
        at -= 1
    return at if at >= 0 and tokens[at].norm in conjunctions else -1


def sentences(tokens: Sequence[Token], spans: Sequence[Span]) -> Iterator[tuple[Sequence[Token], list[Span]]]:
    """The sentences of a message, each with the phrases found in it."""
    bounds = [at for at, token in enumerate(tokens) if at == 0 or token.sentence != tokens[at - 1].sentence]
    for first, last in pairwise([*bounds, len(tokens)]):
        yield (
            tokens[first:last],
            [
                Span(s.start - first, s.end - first, s.senses, frozenset(at - first for at in s.used))
                for s in spans
                if first <= s.start and s.end <= last
            ],
        )
