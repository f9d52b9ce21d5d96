"""Puts a report together from what was judged and what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from slotcache.reporting import confusion
from slotcache.reporting.confusion import Matrix
from slotcache.reporting.curves import Bin, Point, calibration, calibration_error, coverage_risk
from slotcache.reporting.diff import Diff
from slotcache.reporting.judged import Judged, Source, Verdict
from slotcache.reporting.shares import Share, share
from slotcache.reporting.stages import Stage
from slotcache.reporting.suspects import Suspect, suspects
from slotcache.reporting.traffic import Traffic

FORMAT: Final = 1
"""Raised when the JSON of a report changes its meaning."""

_IN_A_CELL: Final = 50
"""Questions of one cell that a report carries; its count tells how many there are."""

_ORDER: Final = (Source.REVIEWED, Source.LABELS, Source.CROSS_VALIDATION)


@dataclass(frozen=True, slots=True)
class Section:
    """Everything about the questions of one source.

    Attributes:
        source: Where the right readings come from.
        questions: How many.
        right: In-scope questions that were accepted and right.
        abstained: In-scope questions that were not accepted.
        wrong: In-scope questions that were accepted and wrong.
        outside: Out-of-scope questions that were accepted all the same.
        harm: How often a wrong answer would have been served, by traffic.
        traffic: How often all of these questions were asked.
        models: Per model version, how many of its accepted readings were wrong.
        intents: Which intents are confused.
        slots: Which values of each slot are confused, the worst slot first.
        keys: Which whole keys are confused.
        calibration: How often readings of about one confidence are right.
        calibration_error: Mean distance between confidence and share right.
        coverage_risk: What a bar on the confidence would do.
        suspects: Labels that may be wrong.
    """

    source: Source
    questions: int
    right: Share
    abstained: Share
    wrong: Share
    outside: Share
    harm: float
    traffic: float
    models: tuple[tuple[str, Share], ...]
    intents: Matrix
    slots: tuple[Matrix, ...]
    keys: Matrix
    calibration: tuple[Bin, ...]
    calibration_error: float
    coverage_risk: tuple[Point, ...]
    suspects: tuple[Suspect, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A question that the report can open.

    Attributes:
        text: The question.
        gold: What it asks.
        read: What it was read as; empty when the reading abstained.
        leaning: The intent considered first.
        abstain: Why there is no key.
        confidence: How sure the reading is.
        traffic: How often it was asked.
        harmful: Whether a wrong answer would have been served.
        verdict: Right, abstained or wrong.
    """

    text: str
    gold: str
    read: str
    leaning: str
    abstain: str
    confidence: float
    traffic: float
    harmful: bool
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """A confusion report.

    Attributes:
        domain: Name of the domain.
        model: Version of the model that reads; empty when code reads alone.
        made: When, in seconds since the epoch.
        sections: One for each source of right readings, the most telling first.
        traffic: What the record showed.
        lost: Records that the bots reported as lost.
        questions: Questions that cells and suspects point at, by their position.
        stages: By question text, what every stage saw.
        diff: What changed from an earlier reader to this one; None when none was given.
    """

    domain: str
    model: str
    made: float
    sections: tuple[Section, ...] = ()
    traffic: Traffic = field(default_factory=Traffic)
    lost: int = 0
    questions: dict[int, Shown] = field(default_factory=dict)
    stages: dict[str, tuple[Stage, ...]] = field(default_factory=dict)
    diff: Diff | None = None

    @property
    def headline(self) -> Section | None:
        """The section that the summary speaks of: real traffic before files before cross-validation."""
        return self.sections[0] if self.sections else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON output."""
        return {"format": FORMAT, **asdict(self)}


def build(
    judged: Sequence[Judged],
    *,
    domain: str,
    model: str,
    made: float,
    traffic: Traffic | None = None,
    lost: int = 0,
    diff: Diff | None = None,
    explain: Callable[[str], tuple[Stage, ...]] | None = None,
    most_explained: int = 300,
) -> Report:
    """Make a report.

    Args:
        judged: Labelled questions of all sources.
        domain: Name of the domain.
        model: Version of the model that reads.
        made: When, in seconds since the epoch.
        traffic: What the record showed.
        lost: Records that the bots reported as lost.
        diff: What changed from an earlier reader.
        explain: Gives what every stage saw in a question.
        most_explained: Questions that are explained, the most harmful first.
    """
    known = traffic or Traffic()
    questions: dict[int, Shown] = {}
    sections = []
    for source in _ORDER:
        places = [at for at, q in enumerate(judged) if q.source is source]
        if places:
            made_section = _section(source, [judged[at] for at in places], questions, offset=places)
            sections.append(made_section)
    stages = {text: explain(text) for text in _worth(questions, known, most_explained)} if explain is not None else {}
    return Report(domain, model, made, tuple(sections), known, lost, questions, stages, diff)


def _worth(questions: dict[int, Shown], traffic: Traffic, most: int) -> list[str]:
    """Texts worth explaining, the most telling first."""
    misread = sorted(questions.values(), key=lambda q: (not q.harmful, -q.traffic, q.text))
    met = [m.text for m in (*traffic.reported, *traffic.near_misses[:40], *traffic.disagreements[:40])]
    residue = [text for word in traffic.residue[:30] for text in word.examples[:1]]
    texts = dict.fromkeys([*(q.text for q in misread if q.harmful), *met, *(q.text for q in misread), *residue])
    return [text for text in texts if text][:most]


def _section(
    source: Source, judged: Sequence[Judged], questions: dict[int, Shown], *, offset: Sequence[int]
) -> Section:
    inside = [q for q in judged if q.in_scope]
    outside = [q for q in judged if not q.in_scope]
    counted = {v: sum(q.verdict is v for q in inside) for v in Verdict}
    sure = [(q.read.confidence, q.read.key is not None and q.verdict is Verdict.RIGHT) for q in judged if q.read.key]
    if source is Source.CROSS_VALIDATION:
        # Here the bar itself is in question, so that readings below it count too, by their intent.
        sure = [(q.read.confidence, q.read.leaning == q.gold.intent) for q in judged]
    bins = calibration(sure)

    def placed(matrix: Matrix) -> Matrix:
        return _placed(matrix, judged, questions, offset)

    doubtful = suspects(judged)
    for suspect in doubtful:
        questions.setdefault(offset[suspect.question], _shown(judged[suspect.question]))
    return Section(
        source,
        len(judged),
        share(counted[Verdict.RIGHT], len(inside)),
        share(counted[Verdict.ABSTAINED], len(inside)),
        share(counted[Verdict.WRONG], len(inside)),
        share(sum(q.verdict is Verdict.WRONG for q in outside), len(outside)),
        sum(q.traffic for q in judged if q.harmful),
        sum(q.traffic for q in judged),
        _by_model(judged),
        placed(confusion.intents(judged)),
        tuple(placed(matrix) for matrix in confusion.slots(judged)),
        placed(confusion.keys(judged)),
        bins,
        calibration_error(bins),
        coverage_risk(sure, total=len(judged)),
        tuple(Suspect(offset[s.question], s.label, s.rather, s.why, s.confidence) for s in doubtful),
    )


def _placed(matrix: Matrix, judged: Sequence[Judged], questions: dict[int, Shown], offset: Sequence[int]) -> Matrix:
    """The matrix with positions among all questions; the questions it points at are kept for the report."""
    cells = []
    for cell in matrix.cells:
        kept = cell.questions[:_IN_A_CELL]
        for at in kept:
            questions.setdefault(offset[at], _shown(judged[at]))
        cells.append(
            confusion.Cell(
                cell.gold,
                cell.read,
                cell.count,
                cell.accepted,
                cell.traffic,
                cell.harm,
                tuple(offset[at] for at in kept),
            )
        )
    return Matrix(matrix.name, tuple(cells), matrix.rows)


def _shown(question: Judged) -> Shown:
    read = question.read
    return Shown(
        question.text,
        question.gold.name,
        read.key or "",
        read.leaning or "",
        read.abstain or "",
        round(read.confidence, 4),
        question.traffic,
        question.harmful,
        question.verdict,
    )


def _by_model(judged: Sequence[Judged]) -> tuple[tuple[str, Share], ...]:
    accepted: dict[str, list[bool]] = {}
    for question in judged:
        if question.read.key is not None:
            accepted.setdefault(question.read.model or "code only", []).append(question.verdict is Verdict.WRONG)
    return tuple((model, share(sum(wrong), len(wrong))) for model, wrong in accepted.items())
