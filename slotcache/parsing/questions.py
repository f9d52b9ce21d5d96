"""How many questions one message asks: facets that continue a question, and facets that open another one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from slotcache.parsing.lexicon import FILLER, Span
from slotcache.parsing.normalise import Token

_FULL: Final = ("is", "are", "am", "was", "were", "do", "does", "did", "has", "have", "had")
_MODAL: Final = ("will", "would", "can", "could", "shall", "should", "may", "might", "must")
_AUXILIARIES: Final = frozenset((*_FULL, *_MODAL))


def absorb_trailing(
    cover: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    trailing: Collection[str],
    *,
    passive: Collection[str],
    conjunctions: Collection[str],
    opening: Sequence[Span] = (),
) -> list[Span]:
    """Turn a facet that only continues the question before it into a filler.

    In "how many books can I borrow" the second facet (can I) is part of the first question (how many); in "how many are
    there and can I borrow one" it is a question of its own. A `passive` value asks nothing that could be continued: in
    "is cancelling it an option" the option is what is asked. A question word that opens its clause is continued as well
    where a longer phrase means more than it does ("which stores can I return to").

    Args:
        cover: Phrases chosen for the message.
        tokens: Its normalised words.
        facet: Name of the slot that says what is asked.
        trailing: Values that may only continue.
        passive: Values that only introduce a question.
        conjunctions: Words that join questions.
        opening: Question words that open a clause, whatever phrase they were chosen for.
    """
    settled: list[Span] = []
    asked = list(opening)
    for span in sorted(cover, key=lambda span: span.start):
        values = {sense.value for sense in span.senses if sense.kind == "slot" and sense.name == facet}
        goes_on = any(_continues(span, before, tokens, conjunctions) for before in asked)
        if values and values <= set(trailing) and goes_on:
            settled.append(Span(span.start, span.end, (FILLER,), span.used))
            continue
        if values and not values <= {*trailing, *passive}:
            asked.append(span)
        settled.append(span)
    return settled


def _continues(span: Span, asked: Span, tokens: Sequence[Token], conjunctions: Collection[str]) -> bool:
    """Whether a phrase stands behind a question in its clause, and no conjunction opens another one between them."""
    between = tokens[asked.end : span.start]
    joined = any(token.norm in conjunctions for token in between)
    return asked.end <= span.start and not joined and tokens[span.start].clause == tokens[asked.start].clause


def question_words(
    spans: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    *,
    silent: Collection[int],
    passive: Collection[str],
    besides: Collection[str],
) -> list[Span]:
    """Single words that say a value of the facet and open their clause, after fillers.

    Args:
        spans: Every phrase found in the message.
        tokens: Its normalised words.
        facet: Name of the slot that says what is asked.
        silent: Positions of fillers.
        passive: Values that only introduce a question.
        besides: Words that open a clause without asking ("when", "if").
    """
    opening: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if at not in silent:
            opening.setdefault(token.clause, at)
    return [
        span
        for span in spans
        if span.end - span.start == 1
        and opening.get(tokens[span.start].clause) == span.start
        and tokens[span.start].norm not in besides
        and any(sense.name == facet and sense.value not in passive for sense in span.senses)
    ]


def without_subordinate(
    cover: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    subordinators: Collection[str],
    relatives: Collection[str],
    *,
    passive: Collection[str],
    embedding: Collection[str],
) -> list[Span]:
    """Turn a facet that only opens a subordinate clause into a filler.

    "When" asks in "when can I collect it", and only says on what occasion in "do I need a receipt when collecting", "is
    a refund given when it is late" and "when my parcel is lost, what do I do". Where nothing else is asked, or the
    clause is what another verb asks for ("can I choose when it comes"), it stays a question.

    Args:
        cover: Phrases chosen for the message.
        tokens: Its normalised words.
        facet: Name of the slot that says what is asked.
        subordinators: Words that ask, and that open subordinate clauses too.
        relatives: Words that ask, and behind something else that is asked only describe ("shoes which I wore").
        passive: Values that only introduce a question.
        embedding: Words behind which a subordinator asks.
    """
    asking = [span for span in cover if any(s.kind == "slot" and s.name == facet for s in span.senses)]
    plain = [span for span in asking if any(s.name == facet and s.value not in passive for s in span.senses)]
    settled: list[Span] = []
    for span in cover:
        others = [other for other in asking if other is not span]
        word = tokens[span.start].norm
        inverted = any(token.norm in _AUXILIARIES for token in tokens[span.start + 1 : span.end + 1])
        # Nobody asks "when ordering"; any other clause may be what is asked as long as nothing else is.
        occasion = word in subordinators and _gerund(tokens, span.end)
        subordinate = word in subordinators and _leads(span, others, tokens)
        if word in subordinators or word in relatives:
            subordinate |= _follows(span, [other for other in plain if other is not span], tokens, embedding)
        if span in asking and not inverted and (occasion or (others and subordinate)):
            settled.append(Span(span.start, span.end, (FILLER,), span.used))
        else:
            settled.append(span)
    return settled


def indirect(
    cover: Sequence[Span], tokens: Sequence[Token], words: Mapping[str, str], embedding: Collection[str]
) -> Iterator[tuple[Span, str]]:
    """Fillers that end in a word which asks indirectly ("I was wondering whether"), each with the value it says.

    "It would be great if" ends in the same word, asks for something, and says no such value.
    """
    for span in cover:
        if span.is_filler and len(span.used) > 1:
            *_, before, last = sorted(span.used)
            if tokens[before].norm in embedding and tokens[last].norm in words:
                yield span, words[tokens[last].norm]


def _gerund(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].norm.endswith("ing")


def _leads(span: Span, others: Sequence[Span], tokens: Sequence[Token]) -> bool:
    """Whether a clause opens with the phrase, and something is asked behind it."""
    opens = span.start == 0 or tokens[span.start - 1].clause != tokens[span.start].clause
    return opens and any(other.start > span.start for other in others)


def _follows(span: Span, others: Sequence[Span], tokens: Sequence[Token], embedding: Collection[str]) -> bool:
    """Whether something is asked before the phrase in its clause, and no verb there asks for what the phrase says."""
    clause = tokens[span.start].clause
    before = any(other.start < span.start and tokens[other.start].clause == clause for other in others)
    return before and tokens[span.start - 1].norm not in embedding


def opens_another(
    spans: Sequence[Span],
    cover: Sequence[Span],
    tokens: Sequence[Token],
    facet: str,
    *,
    passive: Collection[str],
    conjunctions: Collection[str],
    skippable: Collection[str],
) -> bool:
    """Whether a facet right behind a conjunction opens a second question ("... and how long does it take").

    Both sides of one question, said by one phrase ("is it automatic or do I have to ask"), are one question.

    Args:
        spans: Every phrase found in the message.
        cover: The phrases by which the reading that stands explains it.
        tokens: Its normalised words.
        facet: Name of the slot that says what is asked.
        passive: Values that only introduce a question ("I want to ... and how do I do that" is one question).
        conjunctions: Words that join questions.
        skippable: Words that may stand between the conjunction and the facet.
    """
    passed_over = [span for span in spans if span.is_filler and span.end - span.start > 1]
    passed_over += [span for span in cover if any(tokens[at].norm in conjunctions for at in span.used)]
    asking = [
        span
        for span in spans
        if any(s.kind == "slot" and s.name == facet and s.value not in passive for s in span.senses)
        and not any(wide.start <= span.start and span.end <= wide.end for wide in passed_over)
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
