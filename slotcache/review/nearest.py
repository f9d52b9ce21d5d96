"""The nearest answered questions, by their words: what a question could be confused or share an answer with."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rapidfuzz import fuzz

from slotcache.entry import Entry
from slotcache.learning.labels import signature
from slotcache.records.redact import readable

MOST: Final = 50_000
"""How many answered questions are looked at."""

_RANKED: Final = 40
_POSTINGS: Final = 2_000
"""A word that more questions hold than this says too little to look them up by."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An answered question.

    Attributes:
        text: The question.
        key: Its printed key.
        answer: What is served.
        entry_id: The entry that holds it.
        approved: Whether a person wrote or confirmed the answer.
        likeness: How alike the words are, in [0, 1].
    """

    text: str
    key: str
    answer: str
    entry_id: str
    approved: bool
    likeness: float = 0.0


class Nearest:
    """Answered questions that everybody may read, by their words. Made once from the store, then only read."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._held: list[Neighbour] = []
        self._forms: list[str] = []
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for entry in islice(entries, 4 * MOST):
            if len(self._held) >= MOST:
                break
            # What belongs to one customer is nobody else's to look at.
            if entry.question and not entry.address.namespace.customer:
                self._add(entry)

    def __len__(self) -> int:
        return len(self._held)

    def of(self, text: str, *, most: int = 5) -> list[Neighbour]:
        """The nearest questions, the most alike first; the question itself is not among them.

        Args:
            text: A question.
            most: How many to give.
        """
        form = signature(text)
        scores: Counter[int] = Counter()
        for word in set(form.split()):
            places = self._by_word.get(word, [])
            if places and (len(places) <= _POSTINGS or len(form.split()) == 1):
                worth = math.log(1 + len(self._held) / len(places))
                for at in places[:_POSTINGS]:
                    scores[at] += worth  # type: ignore[assignment]
        likely = [at for at, _ in scores.most_common(_RANKED) if self._forms[at] != form]
        ranked = sorted(likely, key=lambda at: (-self._likeness(form, at), self._held[at].text))
        found: dict[str, int] = {}
        for at in ranked:
            found.setdefault(self._forms[at], at)
        return [self._told(form, at) for at in list(found.values())[:most]]

    def _add(self, entry: Entry) -> None:
        # A pair goes to the gate, which reads it: placeholders have their stand-ins, as on the question's own page.
        text = readable(entry.question)
        form = signature(text)
        for word in set(form.split()):
            self._by_word[word].append(len(self._held))
        self._forms.append(form)
        self._held.append(Neighbour(text, str(entry.key), entry.answer, entry.id, entry.approved))

    def _likeness(self, form: str, at: int) -> float:
        return fuzz.token_sort_ratio(form, self._forms[at]) / 100

    def _told(self, form: str, at: int) -> Neighbour:
        held = self._held[at]
        return Neighbour(held.text, held.key, held.answer, held.entry_id, held.approved, self._likeness(form, at))
