"""Turns text into normalised tokens: case, contractions, phone spelling, hyphens, and nothing that changes meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import spacy
from spacy.tokens import Token as SpacyToken

_QUOTES: Final = str.maketrans("‘’‚‛′“”„‟″«»–—−…\u00a0\u202f\u2009", "'''''\"\"\"\"\"\"\"---." + "   ")
_PIECES = re.compile(r"\d+(?:st|nd|rd|th)\b|\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[a-z]+)?|'[a-z]{1,2}\b|[^\w\s]|_")
_SENTENCE_ENDS: Final = frozenset(".?!;")
_CLAUSE_ENDS: Final = frozenset(".?!;,:()-")
_DROPPED: Final = frozenset(".?!;,:()[]{}\"'`-_*~|\\/<>=+^…")
_STRETCHED = re.compile(r"([a-z])\1{2,}")
_SMILEY = re.compile("[\U0001f600-\U0001f64f\U0001f917\U0001f970\U0001f972\U0001f97a\u263a\u2764\ufe0f\u200d]+")
_UNSPLIT: Final = ("id", "Id", "ID", "wed", "Wed", "WED", "hes", "Hes", "shes", "Shes", "whys", "Whys")
"""Words that the tokeniser would split as if an apostrophe were missing, but that are words of this trade."""

_NUMBER_WORDS: Final[Mapping[str, str]] = {
    word: str(number)
    for number, word in enumerate(
        "zero _ two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
    if word != "_"
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}


@dataclass(frozen=True, slots=True)
class Token:
    """One normalised word.

    Attributes:
        norm: The word after normalisation.
        start: Offset of its first character in the text.
        end: Offset after its last character.
        sentence: Index of the sentence it stands in.
        clause: Index of the clause (between punctuation) it stands in.
    """

    norm: str
    start: int
    end: int
    sentence: int = 0
    clause: int = 0


class Normaliser:
    """Text -> tokens, with the rewrites of a domain ("u" -> "you")."""

    def __init__(self, rewrites: Mapping[str, str] | None = None) -> None:
        nlp = spacy.blank("en")
        tokenizer = nlp.tokenizer
        tokenizer.rules = {text: rule for text, rule in tokenizer.rules.items() if text not in _UNSPLIT}
        self._tokenizer = tokenizer
        self._rewrites = {word: tuple(replacement.split()) for word, replacement in (rewrites or {}).items()}

    def words(self, text: str) -> tuple[str, ...]:
        """Normalised words of a phrase in a domain file."""
        return tuple(token.norm for token in self(text))

    def __call__(self, text: str) -> list[Token]:
        """Normalised tokens of a text, punctuation removed."""
        shouted = text.isupper()
        tokens: list[Token] = []
        sentence = clause = 0
        for piece, start, end, upper in self._pieces(text.translate(_QUOTES)):
            if piece in _CLAUSE_ENDS:
                if tokens and tokens[-1].clause == clause:
                    clause += 1
                if piece in _SENTENCE_ENDS and tokens and tokens[-1].sentence == sentence:
                    sentence += 1
            if piece in _DROPPED or _SMILEY.fullmatch(piece):
                continue
            if piece == "us" and upper and not shouted:
                piece = "usa"
            for word in self._rewritten(piece):
                tokens.append(Token(word, start, end, sentence, clause))
        return tokens

    def _rewritten(self, word: str) -> tuple[str, ...]:
        if _STRETCHED.search(word):
            word = _STRETCHED.sub(r"\1\1", word)
        if word in self._rewrites:
            return self._rewrites[word]
        return (_NUMBER_WORDS.get(word, word),)

    def _pieces(self, text: str) -> Iterator[tuple[str, int, int, bool]]:
        for token in self._tokenizer(text):
            if token.is_space:
                continue
            raw = token.text
            norm = _norm(token)
            if norm.isalpha() or norm.isdigit():
                yield norm, token.idx, token.idx + len(raw), raw.isupper() and len(raw) > 1
                continue
            lowered = raw.lower()
            abbreviation = lowered.replace(".", "")
            if abbreviation.isalpha() and re.fullmatch(r"(?:[a-z]\.)+[a-z]?", lowered):
                yield abbreviation, token.idx, token.idx + len(raw), True
                continue
            for match in _PIECES.finditer(lowered):
                yield match.group(), token.idx + match.start(), token.idx + match.end(), False


def _norm(token: SpacyToken) -> str:
    """The tokeniser's own reading of contractions; for everything else the text itself.

    The tokeniser's norms fold currencies into one sign, which would merge pounds with dollars.
    """
    text = token.lower_
    if text in ("n't", "nt", "n’t"):
        return "not"
    if text in ("ca", "wo", "sha", "ai") and token.nbor(1).lower_ in ("n't", "nt") if token.i + 1 < len(token.doc) else False:
        return {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}[text]
    return {"'ve": "have", "ve": "have", "'re": "are", "'ll": "will", "'m": "am", "'d": "would", "'s": "is", "gon": "going",
            "na": "to", "ta": "to", "y'": "you"}.get(text, text)
