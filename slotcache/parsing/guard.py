"""The last word: words that no key accounts for turn a reading into an abstention. Nothing here ever adds a key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache.parsing.lexicon import Span
from slotcache.parsing.normalise import Token


@dataclass(frozen=True, slots=True)
class Account:
    """Which words of an utterance are accounted for.

    Attributes:
        residue: Words that nothing explains.
        loose: Protected words, by class, that no phrase of the cover names.
        protected: All protected words, by class.
        unmeant: Protected words, by class, that only a filler accounts for; no key carries them.
    """

    residue: tuple[str, ...]
    loose: Mapping[str, tuple[str, ...]]
    protected: Mapping[str, tuple[str, ...]]
    unmeant: Mapping[str, tuple[str, ...]]


NOTHING: Final = Account((), {}, {}, {})
"""The account of an utterance without words."""


def account(
    tokens: Sequence[Token], cover: Sequence[Span], skippable: frozenset[str], protected: Mapping[str, str]
) -> Account:
    """Account for every token of an utterance.

    Args:
        tokens: The normalised utterance.
        cover: The phrases chosen to explain it.
        skippable: Words that carry grammar only.
        protected: Protected word -> class.
    """
    used = {at for span in cover for at in span.used}
    meant = {at for span in cover if not span.is_filler for at in span.used}
    residue: list[str] = []
    loose: dict[str, list[str]] = {}
    every: dict[str, list[str]] = {}
    unmeant: dict[str, list[str]] = {}
    for at, token in enumerate(tokens):
        kind = protected.get(token.norm)
        if kind is not None:
            every.setdefault(kind, []).append(token.norm)
            if at in used and at not in meant:
                unmeant.setdefault(kind, []).append(token.norm)
        if at in used:
            continue
        if kind is not None:
            loose.setdefault(kind, []).append(token.norm)
        elif token.norm not in skippable:
            residue.append(token.norm)
    return Account(tuple(residue), _frozen(loose), _frozen(every), _frozen(unmeant))


def fingerprint(unmeant: Mapping[str, tuple[str, ...]], irrelevant: Collection[str]) -> tuple[str, ...]:
    """Protected words that neither the key carries nor the intent declares irrelevant; they go into the address."""
    return tuple(sorted(word for name, words in unmeant.items() if name not in irrelevant for word in words))


def _frozen(words: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(found) for name, found in words.items()}
