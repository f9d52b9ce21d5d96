"""The tokeniser keeps its memory bounded and may be shared by threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from slotcache.errors import DomainError
from slotcache.parsing.normalise import Normaliser
from slotcache.parsing.tokenizer import PieceTokenizer

TEXTS = [f"can't i return {n}-day item-{n} for £{n} at {n}pm?" for n in range(60)]


def test_tokenizer_remembers_no_text() -> None:
    tokenizer = PieceTokenizer()
    tokenizer("warm-up")
    before = len(tokenizer._vocab.strings)
    for number in range(2_000):
        tokenizer(f"a{number}-b{number}")
    assert len(tokenizer._vocab.strings) == before


def test_tokenizer_is_shared_by_threads() -> None:
    normaliser = Normaliser()
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(normaliser.words, TEXTS * 5))
    assert read == [Normaliser().words(text) for text in TEXTS] * 5


@pytest.mark.parametrize("spelling", ["", "two words", "tab\tbed"])
def test_tokenizer_refuses_spellings_with_spaces(spelling: str) -> None:
    with pytest.raises(DomainError, match="one word"):
        PieceTokenizer([spelling])


@pytest.mark.parametrize(
    ("chunk", "pieces"),
    [
        ("don't;", ["don't", ";"]),
        ("£20-£50", ["£", "20", "-", "£", "50"]),
        ("us$50", ["us$", "50"]),
        ("rs.500", ["rs", ".", "500"]),
        ("30x40cm", ["30", "x", "40", "cm"]),
        ("2nd,", ["2nd", ","]),
        ("3-5days", ["3", "-", "5", "days"]),
        ("25/12/2026", ["25/12/2026"]),
        ("shop.com", ["shop.com"]),
        ("order.can", ["order", ".", "can"]),
        ("👍👍🏽🇺🇸🇬🇧", ["👍", "👍🏽", "🇺🇸", "🇬🇧"]),
    ],
)
def test_tokenizer_cuts_where_meaning_does(chunk: str, pieces: list[str]) -> None:
    cut = PieceTokenizer()(chunk)
    assert [piece for piece, _ in cut] == pieces
    assert all(chunk[at : at + len(piece)] == piece for piece, at in cut)
