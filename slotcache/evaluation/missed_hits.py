"""Keyed misses that an earlier answer could have spared, each with the nearest earlier question and what came between.

A question with a key that nothing answered is paired with the nearest earlier one of the same intent and owner. Where
both have one label, the miss is a missed hit, and the pair says why: the key is split too finely, a class of the guard
stood between, a field of the address differs, the earlier answer was not kept, or it had expired.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.errors import Miss
from slotcache.evaluation.baselines import word_cosine
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.turns import Turn, may_share
from slotcache.parsing.types import Owner

REMEMBERED: Final = 1_000
"""Earlier questions of one intent that are looked at; of more, the latest."""


@dataclass(frozen=True, slots=True)
class MissedHit:
    """A keyed miss beside the nearest earlier question.

    Attributes:
        turn: The question that missed.
        earlier: The nearest earlier one of the same intent and owner.
        cause: What stood between: `slots`, `guard`, `address`, `not kept`, `expired` or the reason of the miss.
        detail: Which slots, classes, fields or reason.
        same: Whether one answer serves both; None when nobody labelled them.
    """

    turn: Turn
    earlier: Turn
    cause: str
    detail: str
    same: bool | None

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "a": self.earlier.text,
            "b": self.turn.text,
            "key_a": self.earlier.key,
            "key_b": self.turn.key,
            "cause": self.cause,
            "detail": self.detail,
            "same": self.same,
        }


@dataclass(frozen=True, slots=True)
class MissedHits:
    """What keyed misses show.

    Attributes:
        keyed: Questions with an intent key that answers may be kept for.
        misses: Those among them that found nothing.
        missed: Misses whose earlier neighbour has the same label, among the misses that are labelled or have none.
        causes: (cause, detail) of those, most often first.
        pairs: Every one of those.
        unlabelled: Misses with an earlier neighbour, where nobody said whether one answer serves both.
        other_intent: Labelled misses whose answer stands under another intent only.
        unnamed: Misses of customers' own keys, left out because the source does not say who asked.
    """

    keyed: int
    misses: int
    missed: Proportion
    causes: tuple[tuple[tuple[str, str], int], ...]
    pairs: tuple[MissedHit, ...]
    unlabelled: tuple[MissedHit, ...]
    other_intent: int
    unnamed: int

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "keyed": self.keyed,
            "keyed_misses": self.misses,
            "missed_hits": self.missed.as_dict(),
            "causes": [{"cause": c, "detail": d, "count": n} for (c, d), n in self.causes],
            "pairs": [pair.as_dict() for pair in self.pairs],
            "unlabelled": [pair.as_dict() for pair in self.unlabelled],
            "answered_under_another_intent": self.other_intent,
            "customer_unknown": self.unnamed,
        }


def missed_hits(turns: Iterable[Turn]) -> MissedHits:
    """Pair keyed misses with what could have answered them.

    Args:
        turns: The traffic, in its order.
    """
    earlier: dict[tuple[str, str], deque[Turn]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
    answered: dict[str, set[str]] = defaultdict(set)
    pairs: list[MissedHit] = []
    unlabelled: list[MissedHit] = []
    keyed = misses = judged = other_intent = unnamed = 0
    for turn in turns:
        if turn.intent is None or turn.owner is None or turn.owner == Owner.NEVER:
            continue
        keyed += 1
        place = (turn.intent, turn.owner)
        if turn.keyed_miss:
            misses += 1
            found = _neighbour(turn, earlier[place])
            if turn.owner == Owner.CUSTOMER and not turn.customer:
                unnamed += 1
            elif found is not None and found.same is None:
                unlabelled.append(found)
            else:
                judged += 1
                if found is not None and found.same:
                    pairs.append(found)
                elif turn.truth and answered[turn.truth] - {turn.intent}:
                    other_intent += 1
        earlier[place].append(turn)
        if turn.truth:
            answered[turn.truth].add(turn.intent)
    causes = Counter((pair.cause, pair.detail) for pair in pairs)
    return MissedHits(
        keyed,
        misses,
        proportion(len(pairs), judged),
        tuple(causes.most_common()),
        tuple(pairs),
        tuple(unlabelled),
        other_intent,
        unnamed,
    )


def _neighbour(turn: Turn, earlier: Sequence[Turn] | deque[Turn]) -> MissedHit | None:
    """The nearest earlier question that its owner lets answer, those with the same label first; None without any."""
    near = [other for other in earlier if may_share(turn, other)]
    labelled = [other for other in near if turn.truth and other.truth]
    alike = [other for other in labelled if other.truth == turn.truth]
    # A question without a label, or beside others without one, is for a person to judge.
    chosen = alike or [other for other in near if not (turn.truth and other.truth)] or labelled
    if not chosen:
        return None
    best = max(chosen, key=lambda other: _nearness(turn, other))
    same = best.truth == turn.truth if turn.truth and best.truth else None
    return MissedHit(turn, best, *_between(turn, best), same)


def _nearness(turn: Turn, other: Turn) -> tuple[bool, bool, float]:
    return other.key == turn.key, other.not_stored is None, word_cosine(turn.text, other.text)


def _between(turn: Turn, other: Turn) -> tuple[str, str]:
    """What kept one question from being answered from the other, and which part of it."""
    if turn.key != other.key:
        names = {*turn.slots, *other.slots}
        return "slots", " + ".join(sorted(n for n in names if turn.slots.get(n) != other.slots.get(n)))
    fields = sorted(n for n in {*turn.fields, *other.fields} if turn.fields.get(n) != other.fields.get(n))
    if fields:
        return "address", " + ".join(fields)
    if turn.reason == Miss.GUARD_MISMATCH or turn.fingerprint != other.fingerprint:
        return "guard", " + ".join(_classes(turn, other))
    if turn.reason == Miss.EXPIRED:
        return "expired", ""
    if other.not_stored is not None:
        return "not kept", other.not_stored
    return turn.reason, ""


def _classes(turn: Turn, other: Turn) -> list[str]:
    names = {*turn.protected, *other.protected}
    return sorted(n for n in names if Counter(turn.protected.get(n, ())) != Counter(other.protected.get(n, ())))
