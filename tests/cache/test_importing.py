from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slotcache.errors import AnswersError
from slotcache.key import Key
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.testing import ScriptedParser, memory_cache
from tests.cache.shells import ACME, KEY, READINGS, everything

ROWS: list[dict[str, Any]] = [
    {"key": KEY, "answer": "Yes.", "tags": ["cancelling"], "author": "kim"},
    {"question": "can i cancel after it ships?", "answer": "No."},
]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n", encoding="utf-8")
    return path


def test_import_serves_approved_answers_before_anybody_asked(store: Store, written: Path) -> None:
    cache = memory_cache(ScriptedParser(READINGS), store=store)
    imported = cache.import_answers(written, ACME.but(customer=None))
    assert (imported.new, imported.unchanged) == (2, 0)
    for text, answer in (("can i cancel?", "Yes."), ("can i cancel after it ships?", "No.")):
        outcome = cache.get(text, ACME)
        assert (outcome.answer, outcome.reason) == (answer, "approved")
    cache.close()


def test_import_twice_changes_nothing(store: Store, written: Path) -> None:
    cache = memory_cache(ScriptedParser(READINGS), store=store)
    cache.import_answers(written)
    again = cache.import_answers(written)
    assert (again.new, again.unchanged, store.counts()["history"]) == (0, 2, 0)
    cache.close()


def test_import_keeps_tags_and_authors(store: Store) -> None:
    cache = memory_cache(ScriptedParser(READINGS), store=store)
    cache.import_answers(ROWS, author="lee")
    assert sorted((entry.author, entry.tags) for entry in store.find(everything())) == [
        ("kim", ("cancelling",)),
        ("lee", ()),
    ]
    cache.close()


def test_import_for_one_customer_is_theirs_alone() -> None:
    with memory_cache(ScriptedParser(READINGS)) as cache:
        cache.import_answers([{"key": "cancel_mine()", "answer": "Yes.", "customer": "c1"}], ACME)
        assert cache.get("cancel mine", ACME).answer == "Yes."
        assert not cache.get("cancel mine", ACME.but(customer="c2")).hit


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"answer": "x"}, "either 'key' or 'question'"),
        ({"key": KEY, "question": "q", "answer": "x"}, "either 'key' or 'question'"),
        ({"key": KEY}, "needs 'answer'"),
        ({"key": KEY, "answer": " "}, "'answer' must be a text"),
        ({"key": KEY, "answer": 3}, "'answer' must be a text"),
        ({"key": KEY, "answer": "x", "tags": "t"}, "'tags' must be a list"),
        ({"key": KEY, "answer": "x", "ttl": 3}, "unknown field 'ttl'"),
        ({"key": "cancel_order(b=1, a=2)", "answer": "x"}, "slots must be sorted"),
        ({"question": "", "answer": "x"}, "'question' must be a text"),
        ({"question": "and after that?", "answer": "x"}, "follow_up"),
        ({"question": "where is it?", "answer": "x"}, "owner_never"),
        ({"question": "cancel mine", "answer": "x"}, "no_customer"),
        ({"key": KEY, "answer": "other"}, "has another answer on line 1"),
    ],
    ids=str,
)
def test_import_names_the_line_and_imports_nothing(row: dict[str, Any], problem: str) -> None:
    with memory_cache(ScriptedParser(READINGS)) as cache:
        with pytest.raises(AnswersError, match=rf"line 2: .*{problem}"):
            cache.import_answers([{"key": KEY, "answer": "Yes."}, row])
        assert cache.get("can i cancel?").reason == "not_found"


@pytest.mark.parametrize("line", ["{", "[]", "null", "answer"])
def test_import_names_a_line_that_is_no_json_object(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n\n" + line, encoding="utf-8")
    with memory_cache(ScriptedParser(READINGS)) as cache, pytest.raises(AnswersError, match="line 3"):
        cache.import_answers(path)


def test_import_asks_the_domain_about_each_key() -> None:
    def check(key: Key) -> str:
        return "" if key.intent == "cancel_order" else f"the domain has no intent {key.intent!r}"

    with memory_cache(ScriptedParser(READINGS)) as cache, pytest.raises(AnswersError, match="no intent 'unheard_of'"):
        cache.import_answers([ROWS[0], {"key": "unheard_of()", "answer": "x"}], check_key=check)


def test_import_gives_answers_the_life_that_the_operator_wants() -> None:
    with memory_cache(ScriptedParser(READINGS), policy=Policy(approved_ttl=60)) as cache:
        cache.import_answers(ROWS)
        assert {entry.expires - entry.created for entry in cache.core.store.find(everything()) if entry.expires} == {60}
