"""The confusion report on a terminal: the summary, the worst of everything, and where the rest is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from slotcache.cli.output import console, show, table

if TYPE_CHECKING:
    from rich.table import Table

    from slotcache.reporting.confusion import Matrix
    from slotcache.reporting.diff import Diff
    from slotcache.reporting.report import Report, Section
    from slotcache.reporting.shares import Share
    from slotcache.reporting.traffic import Traffic

_SHOWN: Final = 10


def show_report(report: Report) -> None:
    """Print a report."""
    from slotcache.reporting.advice import advice

    console.print(f"{report.domain}, read by {report.model or 'code alone'}")
    for section in report.sections:
        show(_summary(section), *_matrices(section))
    if report.traffic.asked:
        show(*_traffic(report.traffic))
    if report.diff is not None:
        show(*_diff(report.diff))
    steps = table("", "", title="What to do next")
    for step in advice(report):
        steps.add_row(step.what, step.why)
    show(steps)


def _summary(section: Section) -> Table:
    made = table("", "", title=f"{section.source.value.replace('_', ' ')}: {section.questions} questions, Wilson 95 %")
    made.add_row("accepted, right", _share(section.right))
    made.add_row("abstained", _share(section.abstained))
    made.add_row("accepted, wrong", _share(section.wrong))
    made.add_row("out of scope, accepted", _share(section.outside))
    made.add_row("wrong answers served, by traffic", f"{section.harm:g} of {section.traffic:g}")
    made.add_row("calibration error", f"{section.calibration_error:.1%}")
    return made


def _share(share: Share) -> str:
    if not share.total:
        return "- of 0"
    return f"{share.count} of {share.total} = {share.rate:.1%} [{share.low:.1%}, {share.high:.1%}]"


def _matrices(section: Section) -> Iterator[Table]:
    for matrix in (section.intents, section.keys, *section.slots[:3]):
        if matrix.cells:
            yield _cells(matrix)
    confused = [row for row in section.intents.rows if row.most_confused_with]
    if confused:
        made = table("intent", "right", "abstained", "wrong", "most confused with", title="intents, the worst first")
        for row in confused[:_SHOWN]:
            counts = (str(share.count) for share in (row.right, row.abstained, row.wrong))
            made.add_row(row.name, *counts, row.most_confused_with)
        yield made


def _cells(matrix: Matrix) -> Table:
    shown = f" ({_SHOWN} of {len(matrix.cells)})" if len(matrix.cells) > _SHOWN else ""
    made = table("asked", "read as", "questions", "accepted", "traffic", "harm", title=f"confused {matrix.name}{shown}")
    for cell in matrix.cells[:_SHOWN]:
        numbers = (f"{value:g}" for value in (cell.count, cell.accepted, cell.traffic, cell.harm))
        made.add_row(cell.gold, cell.read, *numbers)
    return made


def _traffic(traffic: Traffic) -> Iterator[Table]:
    outcomes = table("", "", title=f"traffic: {traffic.asked:,.0f} questions")
    for name, count in (*traffic.outcomes, *traffic.abstained[:5]):
        outcomes.add_row(name, f"{count:,.0f}")
    yield outcomes
    if traffic.residue:
        made = table("word", "times", "for example", title="words the domain lacks")
        for word in traffic.residue[:_SHOWN]:
            made.add_row(word.word, f"{word.count:,.0f}", word.examples[0] if word.examples else "")
        yield made
    if len(traffic.models) > 1:
        made = table("model", "asked", "hits", "keyed", "reported wrong", title="by model version")
        for period in traffic.models:
            shares = (f"{value / (period.asked or 1):.1%}" for value in (period.hits, period.keyed))
            made.add_row(period.name, f"{period.asked:,.0f}", *shares, f"{period.reported:g}")
        yield made


def _diff(diff: Diff) -> Iterator[Table]:
    made = table("", "", title=f"{diff.before} -> {diff.after}: {diff.compared:,} questions compared")
    for kind, count in diff.kinds:
        made.add_row(f"{kind} a key" if kind == "gained" else f"{kind} their key", f"{count:,}")
    made.add_row("harm by traffic", f"{diff.harm_before:g} -> {diff.harm_after:g}")
    made.add_row("stored entries touched", f"{len(diff.touched):,} of {diff.entries:,}")
    yield made
    moved = table("question", "before", "after", title="moved keys")
    for item in diff.moved[:_SHOWN]:
        moved.add_row(item.text, item.before, item.after)
    yield moved
