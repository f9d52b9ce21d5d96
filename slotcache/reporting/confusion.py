"""Confusion matrices that keep only what was confused: intents, each slot, whole keys."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from slotcache.reporting.judged import Judged, Verdict
from slotcache.reporting.shares import Share, share

ABSENT: Final = "—"
"""Shown for a slot that a key does not hold."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Questions that ask one thing and were read as another.

    Attributes:
        gold: What they ask.
        read: What they were read as.
        count: How many questions.
        accepted: How many of them got the wrong key; the others abstained while leaning that way.
        traffic: How often they were asked.
        harm: How often a wrong answer would have been served for them.
        questions: Their positions among the judged questions, the most harmful first.
    """

    gold: str
    read: str
    count: int
    accepted: int
    traffic: float
    harm: float
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What came of the questions that ask one thing.

    Attributes:
        name: What they ask.
        right: Accepted and right.
        abstained: Not accepted.
        wrong: Accepted and wrong.
        most_confused_with: What they were misread as most often; empty when never.
        harm: How often a wrong answer would have been served for them.
    """

    name: str
    right: Share
    abstained: Share
    wrong: Share
    most_confused_with: str
    harm: float


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix.

    Attributes:
        name: `intents`, `keys` or the name of a slot.
        cells: What was confused, the most harmful first.
        rows: What came of each thing asked, the worst first.
    """

    name: str
    cells: tuple[Cell, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(slots=True)
class _Tally:
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    harm: float = 0.0
    misread: Counter[str] = field(default_factory=Counter)


Label = Callable[[Judged], "tuple[str, str] | None"]


def intents(judged: Sequence[Judged]) -> Matrix:
    """Which intents are confused, in readings that were accepted and in those that abstained."""
    return _matrix("intents", judged, lambda q: (q.gold.intent, q.read.leaning) if q.read.leaning else None)


def keys(judged: Sequence[Judged]) -> Matrix:
    """Which whole keys are confused, among accepted readings."""
    labelled = [q if q.gold.slots is not None or not q.in_scope else None for q in judged]
    return _matrix("keys", labelled, lambda q: (q.gold.name, q.read.key) if q.read.key else None)


def slots(judged: Sequence[Judged]) -> tuple[Matrix, ...]:
    """For each slot, which values are confused where the intent was read right; the worst slot first."""
    names: dict[str, list[Judged | None]] = {}
    for at, question in enumerate(judged):
        if question.gold.slots is None or question.read.intent != question.gold.intent:
            continue
        for name in {*question.gold.slots, *question.read.slots}:
            names.setdefault(name, [None] * len(judged))[at] = question
    made = [_slot(name, held) for name, held in sorted(names.items())]
    return tuple(sorted(made, key=lambda m: (-sum(c.harm for c in m.cells), -sum(c.count for c in m.cells), m.name)))


def _slot(name: str, judged: Sequence[Judged | None]) -> Matrix:
    def label(question: Judged) -> tuple[str, str]:
        return (question.gold.slots or {}).get(name, ABSENT), question.read.slots.get(name, ABSENT)

    return _matrix(name, judged, label, own=True)


def _matrix(name: str, judged: Sequence[Judged | None], label: Label, *, own: bool = False) -> Matrix:
    """A matrix over the questions that are not None; with `own`, a question is right when its two labels agree."""
    held: dict[tuple[str, str], list[int]] = defaultdict(list)
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    for at, question in enumerate(judged):
        if question is None:
            continue
        pair = label(question)
        gold = pair[0] if pair is not None else _gold(name, question)
        tally = tallies[gold]
        confused = pair is not None and pair[0] != pair[1]
        tally.verdicts[(Verdict.WRONG if confused else Verdict.RIGHT) if own else question.verdict] += 1
        tally.harm += question.traffic if question.harmful and (confused or not own) else 0.0
        if confused and pair is not None:
            held[pair].append(at)
            tally.misread[pair[1]] += 1
    cells = sorted((_cell(pair, places, judged) for pair, places in held.items()), key=_worst_first)
    rows = sorted(
        (_row(gold, tally) for gold, tally in tallies.items()), key=lambda r: (-r.harm, -r.wrong.count, r.name)
    )
    return Matrix(name, tuple(cells), tuple(rows))


def _gold(name: str, question: Judged) -> str:
    return question.gold.intent if name == "intents" else question.gold.name


def _cell(pair: tuple[str, str], places: Iterable[int], judged: Sequence[Judged | None]) -> Cell:
    found = [(at, question) for at in places if (question := judged[at]) is not None]
    found.sort(key=lambda item: (not item[1].harmful, item[1].read.key is None, -item[1].traffic, item[1].text))
    return Cell(
        *pair,
        count=len(found),
        accepted=sum(q.read.key is not None for _, q in found),
        traffic=sum(q.traffic for _, q in found),
        harm=sum(q.traffic for _, q in found if q.harmful),
        questions=tuple(at for at, _ in found),
    )


def _worst_first(cell: Cell) -> tuple[float, float, float, str, str]:
    return -cell.harm, -cell.traffic, -cell.count, cell.gold, cell.read


def _row(name: str, tally: _Tally) -> Row:
    total = tally.verdicts.total()
    return Row(
        name,
        share(tally.verdicts[Verdict.RIGHT], total),
        share(tally.verdicts[Verdict.ABSTAINED], total),
        share(tally.verdicts[Verdict.WRONG], total),
        min(tally.misread, key=lambda other: (-tally.misread[other], other), default=""),
        tally.harm,
    )
