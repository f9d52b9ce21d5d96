"""Cuts a lower-case text into raw pieces with a spaCy tokeniser made for support talk.

spaCy's English rules would lose what matters here: they read `£` as `$`, keep "3-5" in one piece and split "id" in two.
So the tokeniser gets rules of its own: references, dates and decimals stay whole, ranges and "24hrs" come apart.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Final

from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from spacy.vocab import Vocab

from slotcache.errors import DomainError
from slotcache.parsing.contractions import CLITICS, CONTRACTIONS

EMOJI: Final = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[\U0001f000-\U0001faff\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff]"
    "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d[\U0001f000-\U0001faff\u2190-\u27bf][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*)*)"
)
"""One pictogram with its modifiers, or one flag."""

SIGN: Final = r"(?:(?:us|au?|ca?|nz|hk|sg?)?\$|[£€¥₹])"
"""A currency sign, with the country in front of a dollar sign."""

_CODES: Final = r"(?:rs|inr|usd|gbp|eur|aud|cad|size)"
_WHOLE: Final = (
    r"(?:https?://|www\.)\S+",
    r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|shop|store|co\.[a-z]{2})",
    r"(?:[a-z]\.)+[a-z]\.?",
    r"\d{1,4}(?:/\d{1,4}){1,2}",
    r"\d+(?:-\d+){2,}",
    r"\d{1,2}(?::\d{2}){1,2}",
    r"\d+(?:[.,]\d+)*",
    r"\.\d+",
    r"\d*1[123]th|\d*1st|\d*2nd|\d*3rd|\d+th",
    rf"(?!{_CODES}\d)(?:[a-wyz][a-z]*|x[a-z]+)\d+",
    r"[-=]>|<-|" + SIGN,
)
"""Pieces that are never cut: addresses of pages, initials, fractions and dates, long numbers, codes like `save10`."""

_PREFIXES: Final = (
    EMOJI,
    SIGN,
    r"[-=]>|<-",
    r"\.(?!\d)",
    r"[^\w\s.$-]",
    "_",
    rf"{_CODES}\.?(?=\d)",
    r"x(?=\d)",
    r"-",
    r"(?!\d*(?:1st|2nd|3rd|\dth)\b)\d+(?:[.,:]\d+)*(?=[^\W\d_])",
)
_SUFFIXES: Final = (EMOJI, r"[^\w\s']", "_", *map(re.escape, CLITICS), "'", rf"(?<=\d){SIGN}")
_INFIXES: Final = (
    EMOJI,
    SIGN,
    r"[-=]>|<-",
    r"(?<=[^\W\d])\.",
    r"(?<=\d)\.(?=[^\W\d])",
    r"(?<=\D),|,(?=\D)",
    r"(?<!\d):|:(?!\d)",
    r"(?<!\d)/|/(?!\d)",
    r"[^\w\s.,:/']",
    "_",
    r"(?<=\d)(?=[^\W\d])",
)


class PieceTokenizer:
    """Lower-case chunk of text -> raw pieces. Thread-safe; its memory does not grow with what it reads.

    Args:
        spellings: Further spellings that stay in one piece.

    Raises:
        DomainError: a spelling holds a space.
    """

    def __init__(self, spellings: Iterable[str] = ()) -> None:
        spellings = list(spellings)
        for spelling in spellings:
            if not spelling or any(character.isspace() for character in spelling):
                raise DomainError(f"rewrites: {spelling!r} must be one word; longer phrases belong to a concept")
        self._vocab = Vocab()
        # The vocabulary is shared and its memory zone is not reentrant.
        self._lock = threading.Lock()
        whole = re.compile("|".join(f"(?:{pattern})" for pattern in _WHOLE))
        self._tokenizer = Tokenizer(
            self._vocab,
            rules={word: [{ORTH: word}] for word in (*CONTRACTIONS, *spellings)},
            prefix_search=compile_prefix_regex(_PREFIXES).search,
            suffix_search=compile_suffix_regex(_SUFFIXES).search,
            infix_finditer=compile_infix_regex(_INFIXES).finditer,
            token_match=whole.fullmatch,
        )

    def __call__(self, chunk: str) -> list[tuple[str, int]]:
        """Cut a chunk into pieces, each with its offset in the chunk. A piece cut again stays as it is."""
        with self._lock, self._vocab.memory_zone():
            return self._cut(chunk, 0)

    def _cut(self, chunk: str, offset: int) -> list[tuple[str, int]]:
        # spaCy strips signs from the ends of a chunk before it looks inside, so what it finds inside is cut once more.
        cut = [(token.text, offset + token.idx) for token in self._tokenizer(chunk)]
        return cut if len(cut) == 1 else [part for piece, at in cut for part in self._cut(piece, at)]
