"""Gathers what a report is made from: the record, label files, the store, and one or two readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.domain.loader import load_domain
from slotcache.entry import Entry
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.parsing.agreement import Bars
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse
from slotcache.records.capture import answer_digest
from slotcache.records.record import Kind, Record, normal
from slotcache.records.redact import Redactor
from slotcache.reporting.diff import compare
from slotcache.reporting.judged import Judged
from slotcache.reporting.labels import Labelled, judge, judge_recorded
from slotcache.reporting.report import Report, build
from slotcache.reporting.stages import stages
from slotcache.reporting.traffic import Tally

Progress = Callable[[str], None]

_REMEMBERED: Final = 50_000


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report is made from.

    Attributes:
        parser: Reads the questions now.
        records: The traffic, read once.
        lost: Records that the bots reported as lost.
        labelled: Labelled questions.
        reviewed: Questions of the traffic that people labelled.
        examples: Labelled questions to cross-validate the learned reader on.
        folds: Parts of the cross-validation.
        before: An earlier reader to compare with.
        names: What the earlier and the present reader are called.
        entries: Stored entries.
    """

    parser: Parser
    records: Iterable[Record] = ()
    lost: int = 0
    labelled: Sequence[Labelled] = ()
    reviewed: Sequence[Labelled] = ()
    examples: Sequence[Labelled] = ()
    folds: int = 5
    before: Parser | None = None
    names: tuple[str, str] = ("before", "after")
    entries: Sequence[Entry] = ()


def make_report(inputs: Inputs, *, made: float, progress: Progress = lambda _: None) -> Report:
    """Make a report.

    Args:
        inputs: What it is made from.
        made: When, in seconds since the epoch.
        progress: Told what is being done.

    Raises:
        ValueError: the examples cannot be cross-validated.
    """
    progress("reading the record")
    tally = Tally()
    wanted = {normal(item.text) for item in inputs.reviewed}
    reviewed: dict[tuple[str, str], Record] = {}
    for record in inputs.records:
        tally.add(record)
        if record.normal in wanted and record.kind is not Kind.FALSE_HIT:
            reviewed[record.normal, record.model] = record
    for entry in inputs.entries:
        tally.answers.add(str(entry.key), answer_digest(entry.answer))
    read = _remembering(inputs.parser.parse)
    progress("reading labelled questions")
    judged = judge(inputs.labelled, read, traffic=tally.weights, answers=tally.answers)
    judged += judge_recorded(inputs.reviewed, reviewed.values(), traffic=tally.weights, answers=tally.answers)
    if inputs.examples:
        progress("cross-validating")
        judged += _cross_validated(inputs, tally)
    diff = None
    if inputs.before is not None:
        progress("comparing readers")
        diff = compare(
            inputs.before.parse,
            read,
            names=inputs.names,
            labelled=[*inputs.labelled, *inputs.reviewed],
            traffic=tally.weights,
            texts=tally.texts,
            entries=inputs.entries,
            redact=Redactor(load_domain("english").personal | inputs.parser.domain.personal),
            answers=tally.answers,
        )
    progress("explaining")
    return build(
        judged,
        domain=inputs.parser.domain.name,
        model=inputs.parser.version,
        made=made,
        traffic=tally.traffic(),
        lost=inputs.lost,
        diff=diff,
        explain=lambda text: stages(inputs.parser, text),
    )


def _cross_validated(inputs: Inputs, tally: Tally) -> list[Judged]:
    """The examples, each read by heads that did not see it, over the encoder of the parser's model."""
    from slotcache.reporting.crossval import cross_validate

    model = inputs.parser.model
    if model is None:
        raise ValueError(f"the domain {inputs.parser.domain.name!r} has no model whose encoder could be used")
    return cross_validate(
        [_example(item) for item in inputs.examples],
        model.encoder.many,
        bar=Bars.of(model.manifest.bars).choose,
        folds=inputs.folds,
        traffic=lambda form: tally.weights.get(form, 1.0),
        answers=tally.answers,
    )


def _example(item: Labelled) -> Example:
    intent = f"{OUT_OF_SCOPE}/labelled" if item.gold.intent == OUT_OF_SCOPE else item.gold.intent
    return Example(item.text, intent, dict(item.gold.slots or {}), group=_group(item))


def _group(item: Labelled) -> str:
    """Examples of one key that hold the same words are not separated."""
    words = " ".join(sorted(set(item.text.casefold().split())))
    return f"{item.gold.name} {words}"


def _remembering(parse: Callable[[str], Parse]) -> Callable[[str], Parse]:
    known: dict[str, Parse] = {}

    def read(text: str) -> Parse:
        found = known.get(text)
        if found is None:
            found = parse(text)
            if len(known) < _REMEMBERED:
                known[text] = found
        return found

    return read
