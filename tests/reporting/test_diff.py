"""Before and after: what moved between two readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from slotcache import MemoryStore, Scope, SlotCache
from slotcache.entry import Entry, Selector
from slotcache.records.redact import Redactor
from slotcache.reporting.diff import Diff, compare
from slotcache.reporting.html import render
from slotcache.reporting.judged import Answers
from slotcache.reporting.labels import labelled_from
from slotcache.reporting.report import Report
from slotcache.testing import FakeModel, ScriptedParser

BEFORE = ScriptedParser(
    {"stays": "renew()", "changes": "renew()", "is lost": "renew()", "recorded": "renew()"}, version="1"
)
AFTER = ScriptedParser(
    {"stays": "renew()", "changes": "fines()", "gains": "fines()", "recorded": "lost_card()"}, version="2"
)
ROWS = [{"text": text, "key": "renew()"} for text in ("stays", "changes", "is lost", "gains")]


@pytest.fixture
def entries() -> list[Entry]:
    """What the earlier reader stored, for three tenants."""
    with SlotCache(BEFORE, MemoryStore()) as cache:
        for text in ("stays", "changes", "is lost"):
            cache.get_or_call(text, FakeModel(), Scope(tenant=text))
        return list(cache.core.store.find(Selector()))


@pytest.fixture
def diff(redact_all: Redactor, entries: list[Entry]) -> Diff:
    return compare(
        BEFORE.parse,
        AFTER.parse,
        names=("1", "2"),
        labelled=labelled_from(ROWS),
        traffic={"recorded": 7.0},
        texts={"recorded": "recorded"},
        entries=entries,
        redact=redact_all,
        answers=Answers(),
    )


@pytest.fixture
def redact_all() -> Redactor:
    return Redactor({"secret": "changes"})


def test_diff_tells_how_each_key_moved(diff: Diff) -> None:
    moved = {item.text: item.kind for item in diff.moved}
    assert moved == {"changes": "changed", "recorded": "changed", "is lost": "lost", "gains": "gained"}
    assert dict(diff.kinds) == {"changed": 2, "lost": 1, "gained": 1}


def test_diff_says_whether_labelled_questions_got_better(diff: Diff) -> None:
    verdicts = {item.text: (item.before_verdict, item.after_verdict) for item in diff.moved}
    assert verdicts["changes"] == ("right", "wrong")
    assert verdicts["recorded"] == ("", "")


def test_diff_counts_cells_that_changed(diff: Diff) -> None:
    (cell,) = diff.cells
    assert (cell.gold, cell.read, cell.before, cell.after) == ("renew()", "fines()", 0, 2)


def test_diff_harm_is_compared(diff: Diff) -> None:
    assert (diff.harm_before, diff.harm_after) == (0.0, 2.0)


def test_diff_names_the_entries_it_touches_without_personal_data(diff: Diff) -> None:
    assert (diff.entries, len(diff.touched)) == (3, 2)
    assert {(t.question, t.before) for t in diff.touched} == {("<secret>", "renew()"), ("is lost", "renew()")}


def test_diff_is_on_the_page(report: Report, diff: Diff) -> None:
    shown = render(replace(report, diff=diff))
    assert 'id="diff"' in shown
    assert "2 of 3" in shown


def test_diff_command_compares_two_domains(invoke: Callable[..., Result], tmp_path: Path) -> None:
    library = (Path(__file__).parent.parent / "domains" / "library.yaml").read_text(encoding="utf-8")
    earlier = tmp_path / "earlier.yaml"
    earlier.write_text(library.replace("dvd: [dvd~, film~, movie~]", "dvd: [dvd~]"), encoding="utf-8")
    labels = tmp_path / "labels.jsonl"
    key = "borrow_item(aspect=eligibility, medium=dvd)"
    labels.write_text(json.dumps({"text": "can i borrow a film?", "key": key}) + "\n", encoding="utf-8")
    done = invoke("--labels", labels, "--before-domain", earlier, "--json")
    (moved,) = json.loads(done.stdout)["diff"]["moved"]
    assert (moved["kind"], moved["after"], moved["after_verdict"]) == ("gained", key, "right")
