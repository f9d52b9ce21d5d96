"""Questions that must not be accepted: out of scope, or personal under a key that others share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.parsing.types import Owner, Parse


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """What a file of questions that must not be accepted showed.

    Attributes:
        accepted: Questions that were.
        wrong: Every one of them, as read.
        turned_away: How the others were read, most often first.
    """

    accepted: Proportion
    wrong: tuple[Parse, ...]
    turned_away: tuple[tuple[str, int], ...]


def in_scope(parse: Parse) -> bool:
    """Whether a question was read as one that the domain answers."""
    return parse.key is not None and not parse.key.is_verbatim


def shared(parse: Parse) -> bool:
    """Whether other customers would get the answer, under whatever kind of key."""
    return parse.key is not None and parse.owner is Owner.SHARED


def report(texts: Iterable[str], read: Callable[[str], Parse], *, wrong: Callable[[Parse], bool]) -> AcceptedReport:
    """Read all questions and keep those that are wrongly accepted.

    Args:
        texts: The questions.
        read: The parser.
        wrong: Whether a reading accepts what must not be accepted.
    """
    parses = [read(text) for text in texts]
    accepted = tuple(parse for parse in parses if wrong(parse))
    others = Counter(_outcome(parse) for parse in parses if not wrong(parse))
    return AcceptedReport(proportion(len(accepted), len(parses)), accepted, tuple(others.most_common()))


def _outcome(parse: Parse) -> str:
    if parse.abstain is not None:
        return parse.abstain.value
    return f"key of owner {parse.owner}"
