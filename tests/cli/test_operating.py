"""The commands by which people run a cache: doctor, answers, invalidate, switch, report-false-hit, quarantine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slotcache.entry import Selector
from slotcache.stores.sqlite import SqliteStore

QUESTION = "how do i renew a book"
KEY = "renew_loan(aspect=how, medium=book)"


class Desk:
    """The commands over one store and the small domain."""

    def __init__(self, invoke: Callable[..., Any], path: Path, domain: Path) -> None:
        self._invoke, self.path, self._domain = invoke, path, domain

    def __call__(self, *arguments: object, code: int = 0, domain: bool = False) -> str:
        """What a command prints, on standard output and then on standard error."""
        named = ("--domain", self._domain) if domain else ()
        result = self._invoke(*arguments, "--store", self.path, *named)
        assert result.exit_code == code, result.output
        return str(result.stdout + result.stderr)

    def ask(self, text: str = QUESTION, *options: str) -> dict[str, Any]:
        """One question through the cache."""
        told = json.loads(self("ask", text, "--json", *options, domain=True))
        assert isinstance(told, dict)
        return told

    def hit(self) -> str:
        """The id of a hit."""
        self.ask()
        return str(self.ask()["hit_id"])


@pytest.fixture
def desk(invoke: Callable[..., Any], tmp_path: Path, library: Path) -> Desk:
    return Desk(invoke, tmp_path / "answers.db", library)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows into a file."""

    def write(*rows: dict[str, Any]) -> Path:
        path = tmp_path / "answers.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_answers_import_is_served(desk: Desk, written: Callable[..., Path]) -> None:
    path = written({"key": KEY, "answer": "At the desk.", "tags": ["loans"]})
    assert desk("answers", "import", path, "--model", "stand-in", domain=True) == "1 new, 0 unchanged\n"
    told = desk.ask()
    assert (told["decision"], told["reason"], told["answer"]) == ("hit", "approved", "At the desk.")
    again = desk("answers", "import", path, "--model", "stand-in", "--json", domain=True)
    assert json.loads(again) == {"new": 0, "unchanged": 1}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"key": "renew_loans()", "answer": "x"}, "line 1: the domain has no intent 'renew_loans'; did you mean"),
        ({"key": KEY}, "line 1: needs 'answer'"),
        ({"question": "tell me a joke about books and films", "answer": "x"}, "line 1: "),
    ],
    ids=str,
)
def test_answers_import_names_the_line(
    desk: Desk, written: Callable[..., Path], row: dict[str, Any], problem: str
) -> None:
    assert problem in desk("answers", "import", written(row), code=2, domain=True)


def test_answers_import_of_a_file_that_is_not_there(desk: Desk, tmp_path: Path) -> None:
    assert "cannot be read" in desk("answers", "import", tmp_path / "none.jsonl", code=2, domain=True)


def test_answers_list_shows_what_people_wrote(desk: Desk, written: Callable[..., Path]) -> None:
    desk.ask("how do i renew a dvd")
    path = written({"key": KEY, "answer": "At the desk. " * 20, "author": "kim"})
    desk("answers", "import", path, domain=True)
    shown = desk("answers", "list")
    assert ("kim" in shown, "…" in shown, "dvd" in shown) == (True, True, False)
    assert "dvd" in desk("answers", "list", "--learned")


def test_answers_list_can_be_imported_again(desk: Desk, written: Callable[..., Path]) -> None:
    row = {"key": KEY, "answer": "At the desk.", "tags": ["loans"], "author": "kim"}
    desk("answers", "import", written(row), domain=True)
    lines = desk("answers", "list", "--as-import").splitlines()
    assert [json.loads(line) for line in lines] == [row]


@pytest.mark.parametrize(
    ("options", "found"),
    [((), 2), (("--intent", "renew_loan"), 1), (("--tag", "loans"), 1), (("--key", KEY), 1), (("--tenant", "x"), 0)],
    ids=str,
)
def test_answers_list_json(desk: Desk, written: Callable[..., Path], options: tuple[str, ...], found: int) -> None:
    rows = {"key": KEY, "answer": "a", "tags": ["loans"]}, {"key": "fines(aspect=cost)", "answer": "b"}
    desk("answers", "import", written(*rows), "--locale", "en-GB", domain=True)
    listed = [json.loads(line) for line in desk("answers", "list", "--json", *options).splitlines()]
    assert len(listed) == found
    assert {one["locale"] for one in listed} <= {"en-GB"}


def test_invalidate_dry_run_says_what_would_go_and_changes_nothing(desk: Desk) -> None:
    desk.hit()
    assert desk("invalidate", "--intent", "renew_loan", "--dry-run") == f"{KEY}\n1 answer would leave recall\n"
    assert desk.ask()["decision"] == "hit"
    assert desk("invalidate", "--intent", "renew_loan") == f"{KEY}\n1 answer left recall\n"
    assert desk.ask()["decision"] == "miss"


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--key", KEY), 1),
        (("--slot", "medium=book", "--slot", "aspect=*"), 1),
        (("--slot", "medium=dvd"), 0),
        (("--tenant", "acme"), 0),
        (("--customer", "c1"), 0),
        (("--epoch", "2"), 0),
        (("--tag", "t"), 0),
    ],
    ids=str,
)
def test_invalidate_json(desk: Desk, options: tuple[str, ...], count: int) -> None:
    desk.hit()
    told = json.loads(desk("invalidate", *options, "--dry-run", "--json"))
    assert told == {"count": count, "keys": [KEY] * count, "dry_run": True}


@pytest.mark.parametrize(("options", "problem"), [((), "say what to invalidate"), (("--slot", "medium"), "name=value")])
def test_invalidate_needs_to_be_told_what(desk: Desk, options: tuple[str, ...], problem: str) -> None:
    assert problem in desk("invalidate", *options, code=2)


def test_switch_off_and_on(desk: Desk) -> None:
    desk.hit()
    assert desk("switch", "off", "renew_loan", domain=True) == "switched off now: renew_loan\n"
    assert desk.ask()["reason"] == "intent_off"
    assert desk("switch", "on", "renew_loan", domain=True) == "switched off now: nothing\n"
    assert desk.ask()["decision"] == "hit"


def test_switch_off_reaches_questions_without_an_intent(desk: Desk) -> None:
    desk("switch", "off", "verbatim", domain=True)
    assert desk.ask("what is the wifi name", "--customer", "c1")["reason"] == "intent_off"


def test_switch_off_of_a_misspelt_intent_is_refused(desk: Desk) -> None:
    assert "did you mean 'renew_loan'" in desk("switch", "off", "renew_lone", code=2, domain=True)


def test_report_false_hit_evicts_and_puts_in_quarantine(desk: Desk) -> None:
    hit = desk.hit()
    shown = desk("report-false-hit", hit, "--author", "kim", "--note", "wrong desk")
    assert shown.startswith(f"left recall: {KEY}\nin quarantine")
    told = desk.ask()
    assert (told["decision"], told["not_stored"]) == ("miss", "quarantined")
    store = SqliteStore(desk.path)
    assert [(one.author, one.note, one.key) for one in store.feedback()] == [("kim", "wrong desk", KEY)]
    store.close()


def test_report_false_hit_again_says_that_it_is_gone(desk: Desk) -> None:
    hit = desk.hit()
    desk("report-false-hit", hit)
    told = json.loads(desk("report-false-hit", hit, "--json"))
    assert told == {"evicted": False, "key": KEY, "quarantined": True}


def test_report_false_hit_of_an_unknown_id_fails(desk: Desk) -> None:
    assert "no such hit" in desk("report-false-hit", "nonsense", code=1)


def test_quarantine_is_listed_and_cleared(desk: Desk) -> None:
    desk("report-false-hit", desk.hit(), "--author", "kim")
    assert json.loads(desk("quarantine", "list", "--json"))[0]["key"] == KEY
    assert "kim" in desk("quarantine", "list")
    assert desk("quarantine", "clear", KEY, "--tenant", "other", code=1).startswith("this key is not")
    assert desk("quarantine", "clear", KEY) == "cleared\n"
    assert desk.ask()["not_stored"] is None


def test_quarantine_ends_with_an_approved_answer(desk: Desk, written: Callable[..., Path]) -> None:
    desk("report-false-hit", desk.hit())
    desk("answers", "import", written({"key": KEY, "answer": "At the desk."}), domain=True)
    assert json.loads(desk("quarantine", "list", "--json")) == []


def test_doctor_finds_nothing_wrong_with_an_empty_store(desk: Desk) -> None:
    assert "nothing splits a key" in desk("doctor", domain=True)


@pytest.fixture
def ailing(desk: Desk) -> Desk:
    """A store with everything that the doctor may find."""
    desk("report-false-hit", desk.hit(), "--author", "kim")
    for locale in ("en-GB", "en-US"):
        desk.ask("how do i renew a dvd", "--locale", locale)
    desk("switch", "off", "fines", domain=True)
    store = SqliteStore(desk.path)
    store.note_waiting("fines(aspect=cost)", now=1.0)
    (one, _) = store.find(Selector())
    space = one.address.namespace._replace(generation="older")
    store.put(one.but(id="0" * 56, address=type(one.address).of(space, one.key, ())))
    store.close()
    return desk


def test_doctor_shows_everything_that_it_found(ailing: Desk) -> None:
    shown = ailing("doctor", domain=True)
    expected = [KEY, "kim", "locale (2)", "switched off: fines", "fines(aspect=cost)", "slotcache rekey", "quarantined"]
    assert [text for text in expected if text not in shown] == []


def test_doctor_json(ailing: Desk) -> None:
    told = json.loads(ailing("doctor", "--json", domain=True))
    assert (told["switched_off"], told["waiting"], told["counts"]["quarantined"]) == (
        ["fines"],
        {"fines(aspect=cost)": 1},
        1,
    )
    assert [(one["key"], one["author"]) for one in told["quarantined"]] == [(KEY, "kim")]
    assert told["keys"][0]["split_by"] == {"locale": 2}


@pytest.mark.parametrize("command", [("invalidate", "--intent", "x"), ("answers", "list"), ("quarantine", "list")])
def test_operating_on_a_store_in_memory_is_refused(invoke, command: tuple[str, ...]) -> None:
    result = invoke(*command, "--store", "memory")
    assert (result.exit_code, "its own process" in result.stderr) == (2, True)
