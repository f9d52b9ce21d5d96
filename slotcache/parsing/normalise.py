"""Turns text into normalised tokens: case, contractions, spelled-out numbers, stretched letters, punctuation.

Nothing that changes meaning is folded: currency signs, percent, comparison signs and pictograms other than smileys stay
tokens of their own, so that what nobody explains is left over and noticed. Accents stay, HTML entities are left alone,
and words that come out go in again unchanged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from slotcache.errors import DomainError
from slotcache.parsing.cardinals import STARTS, read_cardinal
from slotcache.parsing.contractions import PAIRS
from slotcache.parsing.pieces import WordForms, is_number, makes_range, rejoined
from slotcache.parsing.sounds import sound_of
from slotcache.parsing.tokenizer import PieceTokenizer

_TYPOGRAPHIC: Final = str.maketrans("‘’‚‛′`´“”„‟″«»‐‑‒–−…\u00a0\u202f\u2009", "'''''''\"\"\"\"\"\"\"-----.   ")
_EMOTICON: Final = re.compile(r"(?<![^\s(\"])(?:[:;]'?-?[dpox](?!\w)|=-?[)(dpo](?!\w))", re.IGNORECASE)
_SENTENCE_ENDS: Final = frozenset(".?!;")
_CLAUSE_ENDS: Final = frozenset(".?!;,:()—")
_DROPPED: Final = frozenset(".?!;,:()[]{}\"'`_*^|\\/-—•·¿¡™®©\u200d\ufe0e\ufe0f")
_POINTED: Final = "mr mrs ms dr prof st no nos vs etc inc ltd co approx ref tel max min dept apt rs"
_ABBREVIATED: Final = frozenset(_POINTED.split())
"""Words whose full stop ends no sentence."""

_THINGS: Final = "order orders invoice tracking reference ref account phone mobile ticket case receipt"
_NUMBERED: Final = frozenset(_THINGS.split())
"""Things that have a number: "order no 4521"."""

_IN_CONTEXT: Final = frozenset({"US", "us", "no"})
"""Words whose neighbours say which word they are."""

_SPELLED: Final = frozenset({"two", "four"})
_PAIR_HEADS: Final = frozenset(head for head, _ in PAIRS)
_COUNTRY: Final = "US"
_REMEMBERED: Final = 16_384
"""Chunks (runs without white space) whose words are kept."""

_LONGEST_REMEMBERED: Final = 32


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


class _Piece(NamedTuple):
    """A word or a sign of the text; `glued` when no space parts it from the piece before."""

    word: str
    start: int
    end: int
    glued: bool


class Normaliser:
    """Text -> tokens, with the rewrites of a domain ("u" -> "you"). Thread-safe.

    Args:
        rewrites: Spelling -> what it stands for. A spelling is one run without spaces and may hold digits and signs
            ("b4", "w/out"); what it stands for may be several words, and may be rewritten in turn.

    Raises:
        DomainError: two rewrites stand for each other, or a spelling holds a space.
    """

    def __init__(self, rewrites: Mapping[str, str] | None = None) -> None:
        spellings = {word.lower(): text for word, text in (rewrites or {}).items()}
        self._tokenizer = PieceTokenizer(spellings)
        self._forms = WordForms({})
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._cut)
        self._phrases = lru_cache(maxsize=_REMEMBERED)(self._words)
        targets = {word: self.words(text) for word, text in spellings.items()}
        self._forms = WordForms(_resolved(targets))
        self._remembered.cache_clear()
        self._phrases.cache_clear()

    def words(self, text: str) -> tuple[str, ...]:
        """Normalised words of a phrase in a domain file."""
        return self._phrases(text) if len(text) <= _LONGEST_REMEMBERED else self._words(text)

    def _words(self, text: str) -> tuple[str, ...]:
        # Most alternatives of a domain's phrases are one plain word, which needs no neighbours to be read.
        if text.isascii() and text.isalpha() and text.islower():
            words = self._forms(text)
            if len(words) == 1 and words[0].isalpha() and words[0] not in _IN_CONTEXT and words[0] not in STARTS:
                return words
        return tuple(token.norm for token in self(text))

    def __call__(self, text: str) -> list[Token]:
        """Normalised tokens of a text, punctuation removed."""
        pieces = self._pieces(text)
        tokens: list[Token] = []
        sentence = clause = 0
        for at, piece in enumerate(pieces):
            word, start, end, glued = piece
            if word.isalpha() and word not in _IN_CONTEXT:
                tokens.append(Token(word, start, end, sentence, clause))
                continue
            ends_clause = word in _CLAUSE_ENDS or (word == "-" and not glued)
            if ends_clause and tokens and tokens[-1].clause == clause and not _abbreviates(pieces, at):
                clause += 1
                sentence += word in _SENTENCE_ENDS
            word = _in_context(text, pieces, at, tokens)
            if word:
                tokens.append(Token(word, start, end, sentence, clause))
        return _folded(_paired(tokens))

    def _pieces(self, text: str) -> list[_Piece]:
        readable = _EMOTICON.sub(lambda match: " " * len(match.group()), text.translate(_TYPOGRAPHIC))
        pieces: list[_Piece] = []
        for match in re.finditer(r"\S+", readable):
            chunk, offset = match.group(), match.start()
            cut = self._remembered if len(chunk) <= _LONGEST_REMEMBERED else self._cut
            for number, (word, start, end) in enumerate(cut(chunk)):
                pieces.append(_Piece(word, offset + start, offset + end, number > 0))
        return pieces

    def _cut(self, chunk: str) -> tuple[tuple[str, int, int], ...]:
        if chunk.isascii() and chunk.isalpha() and chunk != _COUNTRY:
            return tuple((word, 0, len(chunk)) for word in self._forms(chunk.lower()))
        lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", chunk).lower())
        cut = rejoined(self._tokenizer(lowered))
        # Composed accents and a few capitals change the length; such a word spans its whole chunk.
        exact = len(lowered) == len(chunk)
        words: list[tuple[str, int, int]] = []
        for piece, at in cut:
            start, end = (at, at + len(piece)) if exact else (0, len(chunk))
            if chunk[start:end] == _COUNTRY:
                words.append((_COUNTRY, start, end))
            else:
                words.extend((word, start, end) for word in self._forms(piece))
        return tuple(words)


def _resolved(targets: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Rewrites whose targets need no further rewriting."""

    def follow(word: str, path: tuple[str, ...]) -> tuple[str, ...]:
        if word in path[:-1]:
            raise DomainError(f"rewrites go round in a circle: {' -> '.join(path)}; keep one of them")
        if targets.get(word, (word,)) == (word,):
            return (word,)
        return tuple(part for target in targets[word] for part in follow(target, (*path, target)))

    return {word: follow(word, (word,)) for word in targets}


def _abbreviates(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a full stop belongs to the word before it ("mr.", "no.")."""
    return pieces[at].word == "." and pieces[at].glued and at > 0 and pieces[at - 1].word in _ABBREVIATED


def _in_context(text: str, pieces: Sequence[_Piece], at: int, tokens: Sequence[Token]) -> str:
    """The word that a piece is between its neighbours; empty when it is punctuation."""
    word = pieces[at].word
    before = tokens[-1].norm if tokens else ""
    after = next((piece for piece in pieces[at + 1 :] if piece.word not in _DROPPED), None)
    match word:
        case "US":
            return "usa" if before == "the" or _stands_out(text, pieces, at) else "us"
        case "us":
            return "usa" if before == "the" else "us"
        case "no":
            return "number" if _numbers(pieces, at, before, after) else "no"
        case "#":
            return "" if after and after.glued and after.start == pieces[at].end and after.word[0].isalpha() else "#"
        case "2" | "4":
            following = (piece.word for piece in islice(pieces, at + 1, None) if piece.word not in _DROPPED)
            return sound_of(word, before, list(islice(following, 2)))
        case "~":
            return "about" if after and is_number(after.word) else ""
        case "+":
            return "+" if not before or is_number(before) else "and"
        case "-":
            return "to" if after and _is_range(pieces, at, tokens) else ""
    return "" if word in _DROPPED else word


def _stands_out(text: str, pieces: Sequence[_Piece], at: int) -> bool:
    """Whether capitals are the exception around a piece, so that they say something."""
    neighbours = [
        next((raw for piece in side if len(raw := text[piece.start : piece.end]) > 1 and raw.isalpha()), "")
        for side in (reversed(pieces[:at]), pieces[at + 1 :])
    ]
    return not any(neighbours) or any(raw and not raw.isupper() for raw in neighbours)


def _numbers(pieces: Sequence[_Piece], at: int, before: str, after: _Piece | None) -> bool:
    """Whether "no" is short for "number". A negation lost would turn an answer, so it takes a number behind it."""
    if after is None or not (after.word == "#" or after.word.isdecimal()):
        return False
    pointed = at + 2 < len(pieces) and pieces[at + 1].word == "." and pieces[at + 2] is after
    glued = pointed and pieces[at + 1].glued and after.glued
    return after.word == "#" or glued or len(after.word) >= 5 or (before in _NUMBERED and len(after.word) >= 3)


def _is_range(pieces: Sequence[_Piece], at: int, tokens: Sequence[Token]) -> bool:
    left = [token.norm for token in tokens[-2:]]
    right = [piece.word for piece in pieces[at + 1 : at + 3]]
    if len(left) == 2 and not left[-1].isalnum():
        left.pop()
    if len(right) == 2 and not right[0].isalnum():
        right.pop(0)
    return bool(left and right) and makes_range(left[-1], right[0])


def _paired(tokens: list[Token]) -> list[Token]:
    """Contractions typed apart become the words they stand for."""
    if not any(token.norm in _PAIR_HEADS for token in tokens):
        return tokens
    done: list[Token] = []
    for token in tokens:
        opened = PAIRS.get((done[-1].norm, token.norm)) if done else None
        if opened is None:
            done.append(token)
            continue
        first = done.pop()
        done.append(replace(first, norm=opened[0]))
        done.extend(replace(token, norm=word) for word in opened[1:])
    return done


def _folded(tokens: list[Token]) -> list[Token]:
    """Spelled-out numbers become digits, one token each."""
    if not any(token.norm in STARTS for token in tokens):
        return tokens
    words = [token.norm for token in tokens]
    done: list[Token] = []
    at = 0
    while at < len(tokens):
        first = tokens[at]
        number = None
        if first.norm in STARTS or first.norm.isdecimal():
            end = next((n for n in range(at, len(tokens)) if tokens[n].clause != first.clause), len(tokens))
            number = read_cardinal(words[:end], at)
        if number is None:
            done.append(first)
            at += 1
            continue
        value, after = number
        digit, before = str(value), done[-1].norm if done else ""
        if first.norm in _SPELLED and sound_of(digit, before, words[after:]) != digit:
            # Written out it is the number; as a digit it would be read as its sound.
            done.append(first)
            at += 1
            continue
        done.append(replace(first, norm=str(value), end=tokens[after - 1].end))
        at = after
    return done
