"""Before and after: which keys moved from one reader to another, and which stored entries that touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from slotcache.entry import Entry
from slotcache.parsing.types import Parse
from slotcache.records.redact import Redactor, readable
from slotcache.reporting.judged import Answers, Read, Verdict, verdict
from slotcache.reporting.labels import Labelled

_LISTED: Final = 500
NOTHING: Final = "no key"
"""Shown where a reading abstained; the reason follows in brackets."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A question that is read differently now.

    Attributes:
        text: The question.
        before: Its key, or why it had none.
        after: Its key, or why it has none.
        kind: `gained` a key, `lost` it, or `changed` it.
        traffic: How often it was asked.
        before_verdict: Whether it was read right before; empty when nobody labelled it.
        after_verdict: Whether it is read right now.
    """

    text: str
    before: str
    after: str
    kind: str
    traffic: float
    before_verdict: str = ""
    after_verdict: str = ""


@dataclass(frozen=True, slots=True)
class CellChange:
    """A pair of keys that is confused more or less than before."""

    gold: str
    read: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Touched:
    """A stored entry whose question is read differently now.

    Attributes:
        id: The entry.
        question: Its question, redacted.
        before: The key it stands under.
        after: The key its question has now, or why it has none.
        approved: Whether a person approved the answer.
    """

    id: str
    question: str
    before: str
    after: str
    approved: bool


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed from one reader to another.

    Attributes:
        before: Name of the earlier reader.
        after: Name of the later one.
        compared: How many distinct questions both have read.
        kinds: `gained`, `lost` and `changed` -> how many questions.
        moved: The questions, by traffic; at most 500.
        cells: Pairs of keys whose confusion changed, the most changed first.
        harm_before: Harm of the labelled questions before, by traffic.
        harm_after: The same now.
        entries: How many stored entries were read again.
        touched: Those whose key moved.
    """

    before: str
    after: str
    compared: int
    kinds: tuple[tuple[str, int], ...]
    moved: tuple[Moved, ...]
    cells: tuple[CellChange, ...]
    harm_before: float
    harm_after: float
    entries: int
    touched: tuple[Touched, ...]


def compare(
    before: Callable[[str], Parse],
    after: Callable[[str], Parse],
    *,
    names: tuple[str, str],
    labelled: Iterable[Labelled],
    traffic: Mapping[str, float],
    texts: Mapping[str, str],
    entries: Iterable[Entry],
    redact: Redactor,
    answers: Answers,
    most: int = 5_000,
) -> Diff:
    """Read the same questions with two readers.

    Args:
        before: The earlier reader.
        after: The later reader.
        names: What they are called.
        labelled: Questions whose right key is known.
        traffic: How often each question was asked, by its normal form.
        texts: A spelling of each recorded question, by its normal form.
        entries: Stored entries, read again from their questions.
        redact: Takes personal data out of the entries' questions.
        answers: Which answers stand under which keys.
        most: Recorded questions to compare, the most asked first.
    """
    golds = {item.text: item for item in labelled}
    asked = dict.fromkeys(golds, 1.0)
    for form, count in sorted(traffic.items(), key=lambda item: -item[1])[:most]:
        asked[texts[form]] = max(count, asked.get(texts[form], 0.0))
    moved: list[Moved] = []
    confused: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
    harm = [0.0, 0.0]
    for text, count in asked.items():
        reads = (Read.of(before(readable(text))), Read.of(after(readable(text))))
        item = golds.get(text)
        verdicts = ["", ""]
        if item is not None:
            for side, read in enumerate(reads):
                verdicts[side] = verdict(item.gold, read).value
                harm[side] += count if answers.harmful(item.gold, read) else 0.0
                if verdicts[side] == Verdict.WRONG:
                    confused[side][item.gold.name, str(read.key)] += 1
        if reads[0].key != reads[1].key:
            moved.append(Moved(text, _told(reads[0]), _told(reads[1]), _kind(*reads), count, *verdicts))
    stored = list(entries)
    touched = [found for entry in stored if (found := _touched(entry, after, redact)) is not None]
    return Diff(
        *names,
        compared=len(asked),
        kinds=tuple(Counter(m.kind for m in moved).most_common()),
        moved=tuple(sorted(moved, key=lambda m: (m.kind != "changed", -m.traffic, m.text))[:_LISTED]),
        cells=_changes(*confused),
        harm_before=harm[0],
        harm_after=harm[1],
        entries=len(stored),
        touched=tuple(touched[:_LISTED]),
    )


def _kind(before: Read, after: Read) -> str:
    if before.key is None:
        return "gained"
    return "lost" if after.key is None else "changed"


def _told(read: Read) -> str:
    return read.key or f"{NOTHING} ({read.abstain})"


def _changes(before: Counter[tuple[str, str]], after: Counter[tuple[str, str]]) -> tuple[CellChange, ...]:
    changes = [
        CellChange(*pair, before[pair], after[pair]) for pair in {*before, *after} if before[pair] != after[pair]
    ]
    return tuple(sorted(changes, key=lambda c: (-abs(c.after - c.before), c.gold, c.read)))


def _touched(entry: Entry, after: Callable[[str], Parse], redact: Redactor) -> Touched | None:
    if not entry.question:
        return None
    parse = after(readable(entry.question))
    if parse.key == entry.key:
        return None
    redacted = redact(entry.question)
    plain = " ".join(redacted.text.casefold().split())
    shown = replace(parse, key=redacted.key(parse.key, plain)) if parse.key is not None else parse
    told = str(shown.key) if shown.key is not None else f"{NOTHING} ({parse.abstain})"
    return Touched(entry.id, redacted.text, str(redacted.key(entry.key, plain)), told, entry.approved)
