"""How questions spread over keys: zero false hits must not become zero hits unseen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.parsing.types import Parse


@dataclass(frozen=True, slots=True)
class KeySpread:
    """How questions spread over intent keys.

    Attributes:
        keys: Number of distinct intent keys.
        wordings: Number of distinct utterances, told apart by their canonical text, that have one.
        seen_once: Keys with a single distinct utterance.
    """

    keys: int
    wordings: int
    seen_once: Proportion

    @property
    def wordings_per_key(self) -> float:
        """Mean number of distinct utterances under one key; 0.0 without keys."""
        return self.wordings / self.keys if self.keys else 0.0

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "keys": self.keys,
            "wordings": self.wordings,
            "wordings_per_key": self.wordings_per_key,
            "seen_once": self.seen_once.as_dict(),
        }

    def __str__(self) -> str:
        return f"{self.keys}, {self.wordings_per_key:.1f} distinct utterances each"


def spread(parses: Iterable[Parse]) -> KeySpread:
    """How the questions with intent keys spread over them; the others are passed over."""
    wordings: dict[str, set[str]] = defaultdict(set)
    for parse in parses:
        if parse.key is not None and not parse.key.is_verbatim:
            wordings[str(parse.key)].add(parse.canonical or parse.text)
    return KeySpread(
        keys=len(wordings),
        wordings=sum(map(len, wordings.values())),
        seen_once=proportion(sum(len(texts) == 1 for texts in wordings.values()), len(wordings)),
    )
