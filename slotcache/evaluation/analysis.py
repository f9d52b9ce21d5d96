"""Everything that pairs show beyond counts: each error with its cause, the guard's price, keys and confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slotcache.evaluation.blame import Tally, met, missed, tally
from slotcache.evaluation.causes import Cause
from slotcache.evaluation.keys import KeySpread, spread
from slotcache.evaluation.pairs import Outcome, Pair, PairReport, judge, report
from slotcache.evaluation.sight import Sight
from slotcache.evaluation.vetoes import Veto, vetoes

_WORDS = 30


@dataclass(frozen=True, slots=True)
class PairError:
    """A pair that met and must not, or may and did not.

    Attributes:
        outcome: The pair and how it was read.
        causes: One cause, or one for each of its questions.
    """

    outcome: Outcome
    causes: tuple[Cause, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {**self.outcome.as_dict(), "causes": [cause.as_dict() for cause in self.causes]}


@dataclass(frozen=True, slots=True)
class PairAnalysis:
    """Everything that pairs show.

    Attributes:
        report: Counts and bounds.
        false_hits: Every false hit.
        missed: Every pair that may meet and does not.
        causes: How many of the missed pairs each cause is behind.
        residue: Words that kept paraphrases without a key, most frequent first.
        vetoes: What each class of the guard costs and keeps apart.
        spread: How the questions spread over keys.
        confident: (confidence of the less certain question, whether they may) of each pair that meets.
    """

    report: PairReport
    false_hits: tuple[PairError, ...]
    missed: tuple[PairError, ...]
    causes: tuple[Tally, ...]
    residue: tuple[tuple[str, int], ...]
    vetoes: tuple[Veto, ...]
    spread: KeySpread
    confident: tuple[tuple[float, bool], ...]


def analyse(pairs: Sequence[Pair], seen: Mapping[str, Sight], *, classes: Iterable[str] = ()) -> PairAnalysis:
    """Judge pairs and put every error down to its cause.

    Args:
        pairs: The pairs.
        seen: Every text of the pairs as the stages saw it.
        classes: Protected classes of the domain.
    """
    outcomes = [judge(pair, lambda text: seen[text].parse) for pair in pairs]
    result = report(outcomes)
    lost = tuple(PairError(o, missed(seen[o.pair.a], seen[o.pair.b])) for o in result.missed)
    return PairAnalysis(
        report=result,
        false_hits=tuple(PairError(o, (met(seen[o.pair.a], seen[o.pair.b]),)) for o in result.false_hits),
        missed=lost,
        causes=tally(error.causes for error in lost),
        residue=_residue(lost),
        vetoes=vetoes(_sights(pairs, seen, same=True), _sights(pairs, seen, same=False), classes=classes),
        spread=spread(sight.parse for sight in seen.values()),
        confident=tuple((min(o.a.confidence, o.b.confidence), o.pair.same) for o in outcomes if o.same_customer),
    )


def texts_of(pairs: Iterable[Pair]) -> list[str]:
    """The distinct texts of some pairs, in the order in which they come."""
    return list(dict.fromkeys(text for pair in pairs for text in (pair.a, pair.b)))


def _sights(pairs: Iterable[Pair], seen: Mapping[str, Sight], *, same: bool) -> list[tuple[Sight, Sight]]:
    return [(seen[pair.a], seen[pair.b]) for pair in pairs if pair.same is same]


def _residue(errors: Iterable[PairError]) -> tuple[tuple[str, int], ...]:
    silent = (parse for error in errors for parse in (error.outcome.a, error.outcome.b) if parse.abstain is not None)
    return tuple(Counter(word for parse in silent for word in set(parse.residue)).most_common(_WORDS))
