"""Trims the encoder's vocabulary to what customers write, so that the shipped file is small.

BERT's word pieces are ordered by frequency. Kept are the special pieces, every single character, the most frequent
pieces, and every piece that the training text uses. What is dropped is still read, in smaller pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer

FREQUENT: Final = 12_000
"""Pieces below this id are kept whatever the training text holds; the words of BERT begin at 1,996."""

_SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_IDEOGRAPHS: Final = 0x2E80
"""Characters from here on belong to scripts that the reader abstains from."""

MAX_TOKENS: Final = 64
"""Longest input of the encoder in word pieces; longer text is cut there, and the reading says so."""


def trim(tokenizer_file: Path, texts: Iterable[str]) -> tuple[dict[str, Any], list[int]]:
    """Return the trimmed tokenizer (its JSON) and the old id of each kept piece, in their new order."""
    data: dict[str, Any] = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    old: dict[str, int] = data["model"]["vocab"]
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    used = {at for encoding in tokenizer.encode_batch(list(texts)) for at in encoding.ids}
    kept = sorted(at for piece, at in old.items() if _keep(piece, at, used))
    names = {at: piece for piece, at in old.items()}
    order = [old[piece] for piece in _SPECIAL] + [at for at in kept if names[at] not in _SPECIAL]
    fresh = {names[at]: new for new, at in enumerate(order)}
    data["model"]["vocab"] = fresh
    data["truncation"] = {"direction": "Right", "max_length": MAX_TOKENS, "strategy": "LongestFirst", "stride": 0}
    data["padding"] = None
    for token in data["added_tokens"]:
        token["id"] = fresh[token["content"]]
    for ids in data["post_processor"].get("special_tokens", {}).values():
        ids["ids"] = [fresh[token] for token in ids["tokens"]]
    return data, order


def _keep(piece: str, at: int, used: set[int]) -> bool:
    if piece in _SPECIAL or at in used:
        return True
    if piece.startswith("[unused"):
        return False
    bare = piece.removeprefix("##")
    if len(bare) == 1:
        return ord(bare) < _IDEOGRAPHS
    return at < FREQUENT and bare.isascii()
