"""Labelled questions from files: a text with its key, or with its intent and slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from slotcache.errors import ConfigurationError, KeyFormatError
from slotcache.evaluation.rows import Row
from slotcache.key import Key
from slotcache.parsing.types import Parse
from slotcache.records.record import Record, normal
from slotcache.records.redact import readable
from slotcache.reporting.judged import OUT_OF_SCOPE, Answers, Gold, Judged, Read, Source


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question and what it asks."""

    text: str
    gold: Gold


def labelled_from(rows: Iterable[Row]) -> list[Labelled]:
    """Labelled questions from rows with `text` and `key`, or `text`, `intent` and, where known, `slots`.

    A null key and the intent `out_of_scope` (or `out_of_scope/kind`) say that no intent answers the question. Rows of
    other kinds that label files may hold (pairs, patches, personal, retractions) are passed over.

    Raises:
        ConfigurationError: a label has the wrong form.
    """
    return [
        Labelled(str(row["text"]), _gold(row)) for row in rows if "text" in row and ("key" in row or "intent" in row)
    ]


def _gold(row: Row) -> Gold:
    if "key" in row:
        if row["key"] is None:
            return Gold(OUT_OF_SCOPE)
        try:
            key = Key.parse(str(row["key"]))
        except KeyFormatError as error:
            raise ConfigurationError(f"{row!r}: {error}") from None
        return Gold(key.intent, key.as_dict())
    intent, slots = row["intent"], row.get("slots")
    if not isinstance(intent, str) or not (slots is None or isinstance(slots, Mapping)):
        raise ConfigurationError(f"{row!r}: expected an intent and slots such as {{'timing': 'pre_shipment'}}")
    if intent.partition("/")[0] == OUT_OF_SCOPE:
        return Gold(OUT_OF_SCOPE)
    try:
        Key.of(intent, {})
    except KeyFormatError as error:
        raise ConfigurationError(f"{row!r}: {error}") from None
    return Gold(intent, None if slots is None else {str(name): str(value) for name, value in slots.items()})


def judge(
    labelled: Iterable[Labelled], read: Callable[[str], Parse], *, traffic: Mapping[str, float], answers: Answers
) -> list[Judged]:
    """Labelled questions beside how a parser reads them now.

    Args:
        labelled: The questions.
        read: The parser.
        traffic: How often each question was asked, by its normal form.
        answers: Which answers stand under which keys.
    """
    judged = []
    for item in labelled:
        reading = Read.of(read(readable(item.text)))
        judged.append(_judged(item, reading, Source.LABELS, traffic.get(normal(item.text), 1.0), answers))
    return judged


def judge_recorded(
    reviewed: Iterable[Labelled], records: Iterable[Record], *, traffic: Mapping[str, float], answers: Answers
) -> list[Judged]:
    """Reviewed questions beside how the record says they were read, once for each model that read them.

    Args:
        reviewed: The questions, as people labelled them.
        records: The traffic; the last reading by each model counts.
        traffic: How often each question was asked, by its normal form.
        answers: Which answers stand under which keys.
    """
    wanted = {normal(item.text): item for item in reviewed}
    readings = {(r.normal, r.model): r for r in records if r.normal in wanted}
    return [
        _judged(wanted[text], read_of(record), Source.REVIEWED, traffic.get(text, 1.0), answers)
        for (text, _), record in readings.items()
    ]


def read_of(record: Record) -> Read:
    """How a record says that its question was read."""
    accepted = record.intent is not None
    leaning = record.intent or (record.candidates[0][0] if record.candidates else None)
    return Read(
        record.key if accepted else None,
        record.intent,
        record.slots if accepted else {},
        record.owner if accepted else None,
        record.abstain,
        record.confidence,
        leaning,
        record.model,
    )


def _judged(item: Labelled, read: Read, source: Source, traffic: float, answers: Answers) -> Judged:
    return Judged(item.text, item.gold, read, source, traffic, answers.harmful(item.gold, read))
