"""The page: whole, self-contained, and safe whatever customers typed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from slotcache import Parser
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.html import render
from slotcache.reporting.labels import labelled_from
from slotcache.reporting.report import Report
from slotcache.reporting.shares import share
from slotcache.reporting.traffic import Met, Period, Traffic

_VOID = {"meta", "link", "input", "br", "hr", "img"}


class _Page(HTMLParser):
    """Collects what tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.resources: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [str(known["id"])] if "id" in known else []
        self.links += [str(known["href"])] if tag == "a" else []
        self.resources += [str(known[name]) for name in ("src", "href") if name in known and tag != "a"]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    return render(report)


@pytest.fixture(scope="module")
def page(text: str) -> _Page:
    return _Page(text)


def test_html_every_element_is_closed(page: _Page) -> None:
    assert page.open == []


def test_html_ids_are_unique(page: _Page) -> None:
    assert len(page.ids) == len(set(page.ids))


def test_html_links_lead_to_parts_of_the_page(page: _Page) -> None:
    assert {link for link in page.links if link.removeprefix("#") not in page.ids} == set()


def test_html_loads_nothing(page: _Page, text: str) -> None:
    assert [resource for resource in page.resources if not resource.startswith("data:")] == []
    assert re.findall(r"url\(|@import|https?://", text) == []


def test_html_cells_open_onto_questions(text: str) -> None:
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    opened = set(re.findall(r'data-cell="([^"]+)"', text))
    assert opened
    assert opened <= set(data["cells"])
    assert all(str(at) in data["questions"] for cell in data["cells"].values() for at in cell[3])


@pytest.mark.parametrize(
    "typed", ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>&lt;", "{{ 7*7 }}"]
)
def test_html_question_never_becomes_markup(library_parser: Parser, typed: str) -> None:
    rows = [
        {"text": f"renew a book {typed}", "key": "fines(aspect=cost)"},
        {"text": typed, "key": "fines(aspect=cost)"},
    ]
    made = make_report(Inputs(library_parser, labelled=labelled_from(rows)), made=1.0)
    shown = render(replace(made, traffic=Traffic(asked=1.0, reported=(Met(typed, typed, typed, 1.0),))))
    assert shown.count("<script") == 2
    assert "<img" not in shown
    assert "49" not in re.sub(r"<style>.*?</style>|\d*\.?\d+[%,]", "", shown, flags=re.S)


@pytest.mark.parametrize(
    "change",
    [{"sections": ()}, {"traffic": Traffic()}, {"sections": (), "traffic": Traffic()}],
    ids=["no labels", "no traffic", "nothing"],
)
def test_html_renders_what_there_is(report: Report, change: dict[str, object]) -> None:
    page = _Page(render(replace(report, **change)))  # type: ignore[arg-type]
    assert {link for link in page.links if link.removeprefix("#") not in page.ids} == set()


def test_html_command_writes_one_file(invoke: Callable[..., object], tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    labels = folder / "labels.jsonl"
    labels.write_text('{"text": "can i renew a book", "intent": "fines"}\n', encoding="utf-8")
    invoke("--labels", labels, "--out", folder / "out" / "report.html")
    assert [path.name for path in (folder / "out").iterdir()] == ["report.html"]


def test_html_shows_whole_keys_as_a_heat_map(text: str) -> None:
    section = text[text.index('id="keys"') : text.index('id="slots"')]
    assert '<table class="heat long"' in section


def test_html_charts_what_each_model_version_read_wrongly(report: Report) -> None:
    wrong = {"1": share(4, 40), "2": share(1, 50)}
    periods = tuple(Period(name, 50.0, 10.0, 40.0, 0.0, 0.0, 0.0) for name in ("1", "unlabelled", "2"))
    told = replace(
        report,
        sections=(replace(report.sections[0], models=tuple(wrong.items())), *report.sections[1:]),
        traffic=replace(report.traffic, models=periods),
    )
    assert re.findall(r"<title>(\w+: \d+ of \d+ wrong)", render(told)) == ["1: 4 of 40 wrong", "2: 1 of 50 wrong"]
