"""Pairs of questions: which of them would meet in the cache, and whether they may.

A pair meets *shared* when a second customer would get the answer that the first one's question filled, and meets for
the *same customer* when one customer asking both would. The second holds whenever the first does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slotcache.errors import ConfigurationError
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.rows import Row
from slotcache.parsing.types import Owner, Parse

Read = Callable[[str], Parse]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions and whether one answer serves both.

    Attributes:
        a: The first question.
        b: The second question.
        same: Whether they ask the same thing.
        tag: What kind of pair it is; empty when nobody said.
    """

    a: str
    b: str
    same: bool
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the cache would do with a pair.

    Attributes:
        pair: The pair.
        a: How its first question was read.
        b: How its second question was read.
        same_customer: Whether one customer asking both would get one answer.
        shared: Whether two customers would.
    """

    pair: Pair
    a: Parse
    b: Parse
    same_customer: bool
    shared: bool

    @property
    def fillable(self) -> bool:
        """Whether a learned answer to one of the two may be kept for the other."""
        return self.a.fillable or self.b.fillable

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "a": self.pair.a,
            "b": self.pair.b,
            "same": self.pair.same,
            "tag": self.pair.tag,
            "key_a": str(self.a.key) if self.a.key else None,
            "key_b": str(self.b.key) if self.b.key else None,
            "abstain_a": self.a.abstain,
            "abstain_b": self.b.abstain,
            "same_customer": self.same_customer,
            "shared": self.shared,
        }


@dataclass(frozen=True, slots=True)
class Side:
    """Results for one way to ask both questions.

    Attributes:
        false_hits: Pairs that must not meet and do.
        hits: Pairs that may meet and do.
    """

    false_hits: Proportion
    hits: Proportion


@dataclass(frozen=True, slots=True)
class PairReport:
    """Everything that a file of pairs showed.

    Attributes:
        same_customer: Results when one customer asks both questions.
        shared: Results when two customers ask them.
        learned: Pairs that may meet and do, without anybody writing an answer, when one customer asks both.
        false_hits: Every false hit.
        missed: Pairs that may meet and do not.
        missed_by_reason: Why, most often first.
    """

    same_customer: Side
    shared: Side
    learned: Proportion
    false_hits: tuple[Outcome, ...]
    missed: tuple[Outcome, ...]
    missed_by_reason: tuple[tuple[str, int], ...]


def pairs_from(rows: Iterable[Row]) -> list[Pair]:
    """Pairs from rows with `a`, `b`, `same` and, where given, `tag`.

    Raises:
        ConfigurationError: a field has the wrong type.
    """
    pairs = []
    for row in rows:
        if not (isinstance(row["a"], str) and isinstance(row["b"], str) and isinstance(row["same"], bool)):
            raise ConfigurationError(f"a pair needs two texts and a true or false, not {row!r}")
        pairs.append(Pair(row["a"], row["b"], row["same"], str(row.get("tag", ""))))
    return pairs


def meet(a: Parse, b: Parse, *, same_customer: bool) -> bool:
    """Whether an answer filled by one question would be served for the other, everything else being equal."""
    if a.key is None or a.key != b.key or a.owner != b.owner or a.fingerprint != b.fingerprint:
        return False
    return a.owner is Owner.SHARED or (same_customer and a.owner is Owner.CUSTOMER)


def judge(pair: Pair, read: Read) -> Outcome:
    """What the cache would do with a pair."""
    a, b = read(pair.a), read(pair.b)
    return Outcome(pair, a, b, meet(a, b, same_customer=True), meet(a, b, same_customer=False))


def report(outcomes: Sequence[Outcome]) -> PairReport:
    """Counts and lists over judged pairs."""
    different = [o for o in outcomes if not o.pair.same]
    same = [o for o in outcomes if o.pair.same]
    missed = tuple(o for o in same if not o.same_customer)
    return PairReport(
        same_customer=Side(
            proportion(sum(o.same_customer for o in different), len(different)),
            proportion(sum(o.same_customer for o in same), len(same)),
        ),
        shared=Side(
            proportion(sum(o.shared for o in different), len(different)),
            proportion(sum(o.shared for o in same), len(same)),
        ),
        learned=proportion(sum(o.same_customer and o.fillable for o in same), len(same)),
        false_hits=tuple(o for o in different if o.same_customer),
        missed=missed,
        missed_by_reason=tuple(Counter(why_missed(o) for o in missed).most_common()),
    )


def why_missed(outcome: Outcome) -> str:
    """Why two questions did not meet, in a few words."""
    abstained = sorted({p.abstain.value for p in (outcome.a, outcome.b) if p.abstain is not None})
    if abstained:
        return " + ".join(abstained)
    a, b = outcome.a, outcome.b
    if a.intent != b.intent:
        return "intents differ"
    if a.key != b.key:
        slots = sorted(n for n in {*a.slots, *b.slots} if a.slots.get(n) != b.slots.get(n))
        return f"slots differ: {', '.join(slots)}"
    if a.fingerprint != b.fingerprint:
        return "protected words differ"
    return "owner never" if a.owner is Owner.NEVER else "owners differ"
