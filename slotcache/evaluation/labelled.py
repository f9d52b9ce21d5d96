"""Labelled questions: how many get a key, and which keys bring questions with different labels together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slotcache.errors import ConfigurationError
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.keys import KeySpread, spread
from slotcache.evaluation.rows import Row
from slotcache.parsing.types import Owner, Parse

LABELS = ("key", "group", "question", "intent", "source_intent")
"""Fields that may hold the label of a row; the first that the first row has is taken."""

OUT_OF_SCOPE = "null"
"""Label of rows whose label is null: no intent of the domain answers them."""


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled question and its reading.

    Attributes:
        source: Where the row comes from; labels of two sources are never compared.
        label: Its label there.
        parse: How it was read.
    """

    source: str
    label: str
    parse: Parse

    @property
    def keyed(self) -> bool:
        """Whether it got an intent key."""
        return self.parse.key is not None and not self.parse.key.is_verbatim

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {"source": self.source, "label": self.label, **self.parse.as_dict()}


@dataclass(frozen=True, slots=True)
class Merge:
    """A key under which one source's questions of different labels meet.

    Attributes:
        key: The printed key.
        source: The source.
        texts: Per label, the questions.
    """

    key: str
    source: str
    texts: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def wrong(self) -> int:
        """Questions outside the label that is most frequent under the key."""
        sizes = [len(texts) for _, texts in self.texts]
        return sum(sizes) - max(sizes)


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What a labelled file showed.

    Attributes:
        covered: Questions with an intent key.
        wrong: Keyed questions whose key mostly holds another label.
        spread: How the questions spread over keys.
        abstained: Why questions got no key, most often first.
        coverage: Per label, its questions with a key; least covered first.
        merges: Keys that bring labels together, the largest first.
    """

    covered: Proportion
    wrong: Proportion
    spread: KeySpread
    abstained: tuple[tuple[str, int], ...]
    coverage: tuple[tuple[str, Proportion], ...]
    merges: tuple[Merge, ...]


def read_labelled(rows: Sequence[Row], read: Callable[[str], Parse], *, label: str | None = None) -> list[Question]:
    """Read all questions of a labelled file.

    Args:
        rows: Rows with `text`, a label and, where given, `source`.
        read: The parser.
        label: The field that holds the label; the first of `LABELS` that the first row has when None.

    Raises:
        ConfigurationError: no row has a label, or a row lacks it.
    """
    if not rows:
        return []
    field = label or next((name for name in LABELS if name in rows[0]), None)
    if field is None:
        raise ConfigurationError(f"the rows have no label; expected one of {', '.join(LABELS)}, or name the field")
    for row in rows:
        if field not in row:
            raise ConfigurationError(f"a row lacks the label {field!r}: {row!r}")
    return [
        Question(
            str(row.get("source", "")),
            OUT_OF_SCOPE if row[field] is None else str(row[field]),
            read(str(row["text"])),
        )
        for row in rows
    ]


def report(questions: Sequence[Question]) -> LabelReport:
    """Counts and lists over labelled questions."""
    keyed = [question for question in questions if question.keyed]
    merges = sorted(_merges(keyed), key=lambda merge: (-merge.wrong, merge.key))
    abstained = Counter(str(q.parse.abstain) for q in questions if not q.keyed)
    return LabelReport(
        covered=proportion(len(keyed), len(questions)),
        wrong=proportion(sum(merge.wrong for merge in merges), len(keyed)),
        spread=spread(question.parse for question in keyed),
        abstained=tuple(abstained.most_common()),
        coverage=tuple(sorted(_coverage(questions), key=lambda item: (item[1].rate, item[0]))),
        merges=tuple(merges),
    )


def _merges(keyed: Iterable[Question]) -> Iterable[Merge]:
    # Answers of a customer's own key never reach anybody else, but one customer may well ask both questions.
    held: dict[tuple[str, str, Owner | None], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for question in keyed:
        place = (str(question.parse.key), question.source, question.parse.owner)
        held[place][question.label].append(question.parse.text)
    for (key, source, _), labels in held.items():
        if len(labels) > 1:
            yield Merge(key, source, tuple((label, tuple(texts)) for label, texts in sorted(labels.items())))


def _coverage(questions: Iterable[Question]) -> Iterable[tuple[str, Proportion]]:
    counts: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        counts[f"{question.source} {question.label}".strip()].append(question.keyed)
    return ((label, proportion(sum(keyed), len(keyed))) for label, keyed in counts.items())
