"""What the traffic record shows: outcomes, words the domain lacks, near misses, reported answers, and the trend."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from slotcache.errors import Abstain
from slotcache.events import Decision
from slotcache.records.record import Kind, Record
from slotcache.reporting.judged import Answers

_EXAMPLES: Final = 3
_LISTED: Final = 100
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class ResidueWord:
    """A word that nothing in the domain accounts for.

    Attributes:
        word: The word.
        count: How often it was left over.
        examples: Questions that hold it, most asked first.
    """

    word: str
    count: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Met:
    """Questions that something happened to.

    Attributes:
        text: The question.
        key: Its key.
        other: The stored question of a near miss, or the candidates that were considered.
        count: How often.
    """

    text: str
    key: str
    other: str
    count: float


@dataclass(frozen=True, slots=True)
class Period:
    """One model version, or one day.

    Attributes:
        name: The version, or the day in UTC.
        asked: Questions.
        hits: Answered from the cache.
        keyed: Questions with an intent key.
        near_misses: Hits that a protected word blocked.
        disagreements: Questions that the two readers read differently.
        reported: Answers that were reported as wrong.
    """

    name: str
    asked: float
    hits: float
    keyed: float
    near_misses: float
    disagreements: float
    reported: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """Everything that the record showed.

    Attributes:
        asked: Questions.
        first: When the first was asked, in seconds since the epoch; None of nothing.
        last: When the last was.
        outcomes: Decision -> how often.
        reasons: Reason of misses and bypasses -> how often.
        abstained: Why questions had no intent key -> how often.
        not_stored: Why answers were not kept -> how often.
        intents: Intent -> how often it was read.
        observed: In observation: withheld answers that were compared with the model's, and how many were the same.
        residue: Words the domain lacks, most frequent first.
        near_misses: Hits that a protected word blocked.
        disagreements: Questions that the two readers read differently.
        reported: Answers that were reported as wrong.
        models: Trend over model versions, in the order in which they came.
        days: Trend over days.
        redaction_changed: Questions whose redacted text is read as another key.
    """

    asked: float = 0.0
    first: float | None = None
    last: float | None = None
    outcomes: tuple[tuple[str, float], ...] = ()
    reasons: tuple[tuple[str, float], ...] = ()
    abstained: tuple[tuple[str, float], ...] = ()
    not_stored: tuple[tuple[str, float], ...] = ()
    intents: tuple[tuple[str, float], ...] = ()
    observed: tuple[float, float] = (0.0, 0.0)
    residue: tuple[ResidueWord, ...] = ()
    near_misses: tuple[Met, ...] = ()
    disagreements: tuple[Met, ...] = ()
    reported: tuple[Met, ...] = ()
    models: tuple[Period, ...] = ()
    days: tuple[Period, ...] = ()
    redaction_changed: float = 0.0


@dataclass(slots=True)
class _Sums:
    asked: float = 0.0
    hits: float = 0.0
    keyed: float = 0.0
    near: float = 0.0
    disagreements: float = 0.0
    reported: float = 0.0

    def period(self, name: str) -> Period:
        return Period(name, self.asked, self.hits, self.keyed, self.near, self.disagreements, self.reported)


@dataclass(slots=True)
class Tally:
    """Adds records up, one at a time, so that the record never has to be in memory.

    Attributes:
        weights: How often each question was asked, by its normal form.
        texts: A spelling of each question, by its normal form.
        answers: Which answers stand under which keys.
    """

    weights: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)
    _counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _met: defaultdict[str, Counter[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    _residue: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _models: dict[str, _Sums] = field(default_factory=dict)
    _days: dict[int, _Sums] = field(default_factory=dict)
    _times: list[float] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count one record."""
        if record.answer is not None and record.key is not None:
            self.answers.add(record.key, record.answer)
        if record.kind is Kind.LOOKUP:
            self._add_lookup(record)
        elif record.kind is Kind.FALSE_HIT:
            self._met["reported"][record.text, record.key or "", ""] += 1
            for sums in self._sums(record):
                sums.reported += 1
        else:
            if record.not_stored is not None:
                self._counts["not_stored"][record.not_stored] += record.weight  # type: ignore[assignment]
            if record.agreed is not None:
                self._counts["observed"]["compared"] += 1
                self._counts["observed"]["same"] += record.agreed

    def _add_lookup(self, record: Record) -> None:
        weight = record.weight
        counts = self._counts
        self.weights[record.normal] += weight  # type: ignore[assignment]
        self.texts.setdefault(record.normal, record.text)
        counts["outcomes"][record.decision] += weight  # type: ignore[assignment]
        if record.decision != Decision.HIT:
            counts["reasons"][record.reason] += weight  # type: ignore[assignment]
        if record.abstain is not None:
            counts["abstained"][record.abstain] += weight  # type: ignore[assignment]
        if record.intent is not None:
            counts["intents"][record.intent] += weight  # type: ignore[assignment]
        for word in record.residue:
            self._residue[word][record.normal] += weight  # type: ignore[assignment]
        near = record.near_key is not None
        disagree = record.abstain == Abstain.READERS_DISAGREE
        if near:
            self._met["near"][record.text, record.key or "", record.near_text or ""] += weight  # type: ignore[assignment]
        if disagree:
            considered = ", ".join(intent for intent, _ in record.candidates[:3])
            self._met["disagree"][record.text, record.key or "", considered] += weight  # type: ignore[assignment]
        if record.redaction == "changed":
            counts["redaction"]["changed"] += weight  # type: ignore[assignment]
        for sums in self._sums(record):
            sums.asked += weight
            sums.hits += weight * (record.decision == Decision.HIT)
            sums.keyed += weight * (record.intent is not None)
            sums.near += weight * near
            sums.disagreements += weight * disagree
        if not self._times:
            self._times = [record.at, record.at]
        elif record.at > self._times[1]:
            self._times[1] = record.at
        elif record.at < self._times[0]:
            self._times[0] = record.at

    def _sums(self, record: Record) -> tuple[_Sums, _Sums]:
        model, day = record.model or "code only", int(record.at // _DAY)
        if model not in self._models:
            self._models[model] = _Sums()
        if day not in self._days:
            self._days[day] = _Sums()
        return self._models[model], self._days[day]

    def traffic(self) -> Traffic:
        """What was counted."""
        counts = self._counts
        observed = counts["observed"]
        return Traffic(
            asked=self.weights.total(),
            first=self._times[0] if self._times else None,
            last=self._times[1] if self._times else None,
            outcomes=tuple(counts["outcomes"].most_common()),
            reasons=tuple(counts["reasons"].most_common()),
            abstained=tuple(counts["abstained"].most_common()),
            not_stored=tuple(counts["not_stored"].most_common()),
            intents=tuple(counts["intents"].most_common()),
            observed=(observed["compared"], observed["same"]),
            residue=self._words(),
            near_misses=_listed(self._met["near"]),
            disagreements=_listed(self._met["disagree"]),
            reported=_listed(self._met["reported"]),
            models=tuple(sums.period(name) for name, sums in self._models.items()),
            days=tuple(sums.period(_date(day)) for day, sums in sorted(self._days.items())),
            redaction_changed=counts["redaction"]["changed"],
        )

    def _words(self) -> tuple[ResidueWord, ...]:
        totals = Counter({word: texts.total() for word, texts in self._residue.items()})
        return tuple(
            ResidueWord(word, count, tuple(self.texts[t] for t, _ in self._residue[word].most_common(_EXAMPLES)))
            for word, count in totals.most_common(_LISTED)
        )


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY, UTC).strftime("%Y-%m-%d")


def _listed(met: Counter[tuple[str, str, str]]) -> tuple[Met, ...]:
    return tuple(Met(*what, count=count) for what, count in met.most_common(_LISTED))
