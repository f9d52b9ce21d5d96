from __future__ import annotations

import pytest

from slotcache.errors import Abstain, ConfigurationError
from slotcache.evaluation.judging import judgement, sample
from slotcache.key import Key
from slotcache.parsing.types import Parse

TEXTS = [f"question {at}" for at in range(20)]


def _read(text: str) -> Parse:
    if text.endswith("0"):
        return Parse(text, key=Key.verbatim(text), abstain=Abstain.RESIDUE)
    return Parse(text, key=Key.of("a"), intent="a")


def test_judging_sample_is_the_same_for_the_same_seed() -> None:
    assert sample(TEXTS, _read, size=5, seed=3) == sample(TEXTS, _read, size=5, seed=3)


def test_judging_sample_takes_accepted_questions_only() -> None:
    drawn = {accepted.text for accepted in sample(TEXTS, _read, size=100, seed=1)}
    assert drawn == {text for text in TEXTS if not text.endswith("0")}


def test_judging_sample_takes_spellings_of_one_question_once() -> None:
    assert len(sample(["a b", "A  b"], _read, size=5, seed=1)) == 1


def test_judging_sample_shows_text_and_key_only() -> None:
    assert sample(["x"], _read, size=1, seed=1)[0].as_dict() == {"text": "x", "key": "a()"}


def test_judging_counts_wrong_keys_among_the_judged() -> None:
    rows = [{"text": str(at), "key": "a()", "right": at > 0} for at in range(4)] + [{"text": "4", "key": "a()"}]
    got = judgement(rows)
    assert (got.wrong.count, got.wrong.total, got.waiting) == (1, 4, 1)
    assert [accepted.text for accepted in got.listed] == ["0"]


@pytest.mark.parametrize(
    ("row", "message"), [({"right": "yes"}, "true or false"), ({}, "nothing was judged")], ids=["a word", "nothing"]
)
def test_judging_refuses(row: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        judgement([{"text": "x", "key": "a()", **row}])
