"""Blind judging: a sample of accepted questions with their printed keys, and what a judge says of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slotcache.errors import ConfigurationError
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.rows import Row
from slotcache.parsing.types import Parse


@dataclass(frozen=True, slots=True)
class Accepted:
    """An accepted question and its printed key: all that a judge sees."""

    text: str
    key: str

    def as_dict(self) -> dict[str, str]:
        """A line for the judge."""
        return {"text": self.text, "key": self.key}


def sample(texts: Iterable[str], read: Callable[[str], Parse], *, size: int, seed: int) -> list[Accepted]:
    """Distinct accepted questions, drawn without regard to anything and in no order.

    Args:
        texts: The questions; those that differ in case and spaces only are one.
        read: The parser.
        size: How many are wanted; all there are when there are fewer.
        seed: The same questions, seed and parser give the same sample.
    """
    distinct = {" ".join(text.casefold().split()): text for text in texts}
    accepted = []
    for text in distinct.values():
        parse = read(text)
        if parse.key is not None and not parse.key.is_verbatim:
            accepted.append(Accepted(text, str(parse.key)))
    return random.Random(seed).sample(accepted, min(size, len(accepted)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said.

    Attributes:
        wrong: Wrong keys among the judged questions.
        listed: Every question with a wrong key.
        waiting: Questions that nobody has judged yet.
    """

    wrong: Proportion
    listed: tuple[Accepted, ...]
    waiting: int


def judgement(rows: Sequence[Row]) -> Judgement:
    """Count what a judge said.

    Args:
        rows: Lines of a sample; `right` is true or false where it was judged.

    Raises:
        ConfigurationError: `right` is something else, or nothing was judged.
    """
    judged = [row for row in rows if row.get("right") is not None]
    for row in judged:
        if not isinstance(row["right"], bool):
            raise ConfigurationError(f"'right' must be true or false, not {row['right']!r}, in {row!r}")
    if not judged:
        raise ConfigurationError('nothing was judged yet; add "right": true or false to the lines of the sample')
    listed = tuple(Accepted(str(row["text"]), str(row["key"])) for row in judged if not row["right"])
    return Judgement(proportion(len(listed), len(judged)), listed, len(rows) - len(judged))
