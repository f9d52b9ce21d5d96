"""Questions that must not be accepted: out of scope, or personal under a key that others share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.causes import Cause
from slotcache.evaluation.sight import Sight
from slotcache.parsing.types import Owner, Parse


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """What a file of questions that must not be accepted showed.

    Attributes:
        accepted: Questions that were.
        wrong: Every one of them, as the stages saw it.
        causes: What let each of them in.
        turned_away: How the others were read, most often first.
    """

    accepted: Proportion
    wrong: tuple[Sight, ...]
    causes: tuple[Cause, ...]
    turned_away: tuple[tuple[str, int], ...]


def in_scope(parse: Parse) -> bool:
    """Whether a question was read as one that the domain answers."""
    return parse.key is not None and not parse.key.is_verbatim


def shared(parse: Parse) -> bool:
    """Whether other customers would get the answer, under whatever kind of key."""
    return parse.key is not None and parse.owner is Owner.SHARED


def report(sights: Iterable[Sight], *, wrong: Callable[[Parse], bool], why: Callable[[Sight], Cause]) -> AcceptedReport:
    """Keep those questions that are wrongly accepted.

    Args:
        sights: The questions as the stages saw them.
        wrong: Whether a reading accepts what must not be accepted.
        why: What let such a question in.
    """
    every = list(sights)
    accepted = tuple(sight for sight in every if wrong(sight.parse))
    others = Counter(_outcome(sight.parse) for sight in every if not wrong(sight.parse))
    return AcceptedReport(
        proportion(len(accepted), len(every)), accepted, tuple(map(why, accepted)), tuple(others.most_common())
    )


def _outcome(parse: Parse) -> str:
    if parse.abstain is not None:
        return parse.abstain.value
    return f"key of owner {parse.owner}"
