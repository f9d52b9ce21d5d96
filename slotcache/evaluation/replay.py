"""Sends recorded traffic through a cache; tells what it saved and, where right answers are known, what was wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.core import ParserLike
from slotcache.evaluation.traffic import Asked
from slotcache.evaluation.turns import Turn, turn_of
from slotcache.events import Decision, Event, LookedUp, Outcome
from slotcache.policy import Policy
from slotcache.stores.base import Store

CHARACTERS_PER_TOKEN = 4.0
"""Rough size of a token of English text, for models that do not report what they used."""


@dataclass(frozen=True, slots=True)
class FalseHit:
    """An answer served for a question that it does not answer.

    Attributes:
        asked: The question.
        filled_by: The question whose answer was served.
        key: Where they met: a printed key, or a similarity.
        expected: What tells the right answer.
        served: What was served.
    """

    asked: str
    filled_by: str
    key: str
    expected: str
    served: str


@dataclass(slots=True)
class ReplayReport:
    """What replayed traffic showed.

    Attributes:
        outcomes: Hits, misses and bypasses by reason, as `(decision, reason) -> count`.
        abstained: Why questions got no intent key.
        not_stored: Why answers were not kept.
        by_kind: Per kind of question, `[asked, hits]`.
        labelled: Questions whose right answer is known.
        repeats: Labelled questions whose answer had been given before, to whomever and in whatever words.
        false_hits: Every false hit.
        saved_tokens: Tokens that were not spent.
        spent_tokens: Tokens that were.
        lookup_seconds: How long each look-up took, in seconds.
        turns: Every question in its order, for whoever asks what a miss could have been answered from.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    not_stored: Counter[str] = field(default_factory=Counter)
    by_kind: dict[str, list[int]] = field(default_factory=dict)
    labelled: int = 0
    repeats: int = 0
    false_hits: list[FalseHit] = field(default_factory=list)
    saved_tokens: float = 0.0
    spent_tokens: float = 0.0
    lookup_seconds: list[float] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """All questions."""
        return self.outcomes.total()

    @property
    def hits(self) -> int:
        """Questions answered from the cache, each of which saved a call."""
        return sum(count for (decision, _), count in self.outcomes.items() if decision == Decision.HIT)


class Replay:
    """One cache and a clock that follows the traffic."""

    def __init__(
        self,
        parser: ParserLike,
        store: Store,
        *,
        call: Callable[[str], str | Answer],
        policy: Policy | None = None,
        tenant: str = "replay",
        start: float = 0.0,
    ) -> None:
        """Wire a replay.

        Args:
            parser: Reads the questions.
            store: Where answers live meanwhile.
            call: The model, for questions whose right answer the traffic does not say.
            policy: The operator's rules.
            tenant: The tenant that asks.
            start: What the clock shows until a question says its time, in seconds since the epoch.
        """
        self._now = start
        self._looked_up: list[LookedUp] = []
        self._cache = SlotCache(parser, store, policy=policy, observers=[self._observe], clock=lambda: self._now)
        self._call = call
        self._tenant = tenant
        self._truth: dict[str, str] = {}
        self._given: set[str] = set()
        self.report = ReplayReport()

    def run(self, traffic: Iterable[Asked]) -> Iterator[Outcome]:
        """Ask each question in turn; the report grows meanwhile."""
        for asked in traffic:
            yield self._ask(asked)

    def _observe(self, event: Event) -> None:
        if isinstance(event, LookedUp):
            self._looked_up.append(event)

    def _ask(self, asked: Asked) -> Outcome:
        # Traffic that is out of order must not make the clock jump back: entries would come from the future.
        self._now = max(self._now, asked.at or self._now)
        scope = Scope(tenant=self._tenant, customer=asked.customer)
        self._looked_up.clear()
        outcome = self._cache.get_or_call(asked.text, lambda text: self._answer(asked, text), scope)
        self._count(asked, outcome)
        self.report.lookup_seconds += [event.seconds for event in self._looked_up]
        parse = next((event.parse for event in self._looked_up if event.parse is not None), None)
        if parse is not None:
            self.report.turns.append(turn_of(asked, parse, outcome))
        if outcome.hit and asked.truth:
            self._judge(asked, outcome)
        if asked.truth:
            self.report.labelled += 1
            self.report.repeats += asked.truth in self._given
            self._given.add(asked.truth)
            self._truth.setdefault(asked.text, asked.truth)
        return outcome

    def _answer(self, asked: Asked, text: str) -> str | Answer:
        if not asked.answer:
            return self._call(text)
        return Answer(asked.answer, tokens_in=_tokens(text), tokens_out=_tokens(asked.answer))

    def _count(self, asked: Asked, outcome: Outcome) -> None:
        report = self.report
        report.outcomes[outcome.decision.value, outcome.reason] += 1
        if outcome.abstain is not None:
            report.abstained[outcome.abstain.value] += 1
        if outcome.not_stored is not None:
            report.not_stored[outcome.not_stored] += 1
        counts = report.by_kind.setdefault(asked.kind, [0, 0])
        counts[0] += 1
        counts[1] += outcome.hit
        tokens = _tokens(asked.text) + _tokens(outcome.answer or "")
        if outcome.hit:
            report.saved_tokens += tokens
        else:
            report.spent_tokens += tokens

    def _judge(self, asked: Asked, outcome: Outcome) -> None:
        filled_by = next((event.served.question for event in self._looked_up if event.served is not None), "")
        # Answers that the traffic itself gave are compared; otherwise the label of the question that filled the key is.
        given = (outcome.answer or "") if asked.answer else self._truth.get(filled_by, "")
        if given != asked.truth:
            self.report.false_hits.append(
                FalseHit(asked.text, filled_by, outcome.key or "", asked.truth, outcome.answer or "")
            )


def _tokens(text: str) -> int:
    return round(len(text) / CHARACTERS_PER_TOKEN)
