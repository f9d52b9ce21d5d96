"""Word and character n-grams of an utterance, hashed into a fixed number of buckets.

The hash is CRC-32, so that a model reads the same features in every process, version and machine. The same function
feeds training and serving.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_TOKEN: Final = re.compile(r"[^\W_]+|[^\w\s]")
_QUIET: Final = str.maketrans({"'": None, "\u2019": None, "\u2018": None, "`": None})
_REMEMBERED_WORDS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Which n-grams are taken and how many buckets they fall into.

    Attributes:
        buckets: Number of buckets.
        words: Longest run of words.
        shortest: Shortest run of characters inside a word, its boundary marks included.
        longest: Longest run of characters inside a word.
    """

    buckets: int
    words: int = 3
    shortest: int = 3
    longest: int = 5

    def __call__(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the buckets of a text, ascending and distinct, and their values.

        Returns:
            Bucket numbers, shape (n,), and values, shape (n,), of Euclidean length 1. A text without letters,
            digits or punctuation has bucket 0 with value 0.
        """
        tokens = _TOKEN.findall(text.lower().translate(_QUIET))
        found: set[int] = set()
        for token in tokens:
            found.update(_characters(token, self.shortest, self.longest))
        crc = zlib.crc32
        for size in range(1, self.words + 1):
            prefix = f"{size}|"
            for at in range(len(tokens) - size + 1):
                found.add(crc((prefix + " ".join(tokens[at : at + size])).encode(errors="replace")))
        if not found:
            return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.float32)
        buckets = np.unique(np.fromiter(found, dtype=np.int64, count=len(found)) % self.buckets)
        return buckets, np.full(len(buckets), 1.0 / np.sqrt(len(buckets)), dtype=np.float32)


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _characters(token: str, shortest: int, longest: int) -> tuple[int, ...]:
    marked = f"<{token}>"
    return tuple(
        zlib.crc32(f"c|{marked[at : at + size]}".encode(errors="replace"))
        for size in range(shortest, min(longest, len(marked)) + 1)
        for at in range(len(marked) - size + 1)
    )
