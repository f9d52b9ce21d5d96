"""The report in a real browser: read by keyboard, in light and dark, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.records import TrafficRecord, read_records
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.html import render
from slotcache.reporting.labels import labelled_from

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium"),
    # The driver's own pipes are closed by its process, late.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROWS = [
    {"text": "can i renew a book after the due date?", "key": "renew_loan(aspect=eligibility, medium=book)"},
    {"text": "can i extend my novel", "key": "fines(aspect=cost)"},
    {"text": "can my son borrow a dvd?", "key": "borrow_item(aspect=eligibility, medium=dvd, reader=student)"},
    {"text": "how do i renew a dvd?", "key": "renew_loan(aspect=how, medium=dvd)"},
    {"text": "fine", "key": None},
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with labels, reviewed traffic and a record."""
    folder = tmp_path_factory.mktemp("report")
    parser = Parser.load(Path(__file__).parent.parent / "domains" / "library.yaml")
    with TrafficRecord(folder / "traffic.db") as record, SlotCache(parser, MemoryStore(), observers=[record]) as cache:
        for at in range(60):
            for text in [*(str(row["text"]) for row in ROWS), "can i renew my tablet?"]:
                cache.get_or_call(text, lambda asked: f"answer to {asked}", Scope(customer=f"c-{at % 3}"))
    labelled = labelled_from(ROWS)
    inputs = Inputs(parser, read_records(folder / "traffic.db"), labelled=labelled, reviewed=labelled)
    page = folder / "report.html"
    page.write_text(render(make_report(inputs, made=1_700_000_000.0)), encoding="utf-8")
    return page.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=str(CHROMIUM), args=flags)
        yield opened
        opened.close()


@pytest.fixture
def trouble() -> list[str]:
    """What the page complained about or asked the network for."""
    return []


@pytest.fixture
def page(browser: playwright.Browser, address: str, trouble: list[str]) -> Iterator[playwright.Page]:
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    opened.set_default_timeout(10_000)
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("request", lambda request: trouble.append(request.url) if request.url != address else None)
    opened.goto(address)
    yield opened
    opened.close()


def test_report_browser_is_quiet_and_asks_the_network_for_nothing(page: playwright.Page, trouble: list[str]) -> None:
    page.locator("table.heat button").first.click()
    page.keyboard.press("Escape")
    assert trouble == []


def test_report_browser_summary_comes_first(page: playwright.Page) -> None:
    figures = page.locator(".figure b")
    assert figures.count() == 4
    assert figures.last.inner_text() == "240"
    assert page.locator(".steps li").first.is_visible()


def test_report_browser_cell_opens_and_closes_by_keyboard(page: playwright.Page) -> None:
    first = page.locator("#panel-reviewed table.heat button").first
    first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_text("Decision").first.is_visible()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert first.evaluate("button => button === document.activeElement")


def test_report_browser_skip_link_is_the_first_stop(page: playwright.Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the summary"


def test_report_browser_arrow_keys_move_between_cells(page: playwright.Page) -> None:
    page.locator("#intents table.heat button").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.row") == "1"


def test_report_browser_slash_filters_the_first_list(page: playwright.Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("out_of_scope")
    rows = page.locator("#table-intents tbody tr")
    assert [row.is_visible() for row in rows.all()].count(True) == 1
    assert page.locator("#intents [role=status]").inner_text() == f"1 of {rows.count()}"


def test_report_browser_list_sorts_both_ways(page: playwright.Page) -> None:
    head = page.locator("#table-keys thead th").nth(4)
    orders = []
    for _ in range(2):
        head.get_by_role("button").click()
        values = page.locator("#table-keys tbody td:nth-child(5)").evaluate_all("all => all.map(c => +c.dataset.value)")
        orders.append((head.get_attribute("aria-sort"), values == sorted(values, reverse=len(orders) == 0)))
    assert orders == [("descending", True), ("ascending", True)]


def test_report_browser_weight_changes_what_cells_say(page: playwright.Page) -> None:
    first = page.locator("#intents table.heat button").first
    shown = []
    for weight in ("harm", "count"):
        page.locator(f"input[name=weight][value={weight}]").check()
        shown.append(first.inner_text())
    assert shown == ["60", "1"]


def test_report_browser_sources_are_tabs_for_arrow_keys(page: playwright.Page) -> None:
    page.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel-labels").is_visible()
    assert not page.locator("#panel-reviewed").is_visible()


@pytest.mark.parametrize(("scheme", "darker"), [("light", False), ("dark", True)])
def test_report_browser_follows_the_system_theme(page: playwright.Page, scheme: str, darker: bool) -> None:
    page.emulate_media(color_scheme=scheme)
    assert (_lightness(page, "body", "backgroundColor") < _lightness(page, "body", "color")) is darker


def test_report_browser_theme_can_be_chosen(page: playwright.Page) -> None:
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    assert _lightness(page, "body", "backgroundColor") < _lightness(page, "body", "color")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_browser_text_is_legible(page: playwright.Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for selector, behind in (
        (".figure .name", ".figure"),
        (".soft", "body"),
        ("td.harm", ".card"),
        (".steps a", ".card"),
    ):
        ratio = _contrast(_luminance(page, selector, "color"), _luminance(page, behind, "backgroundColor"))
        assert ratio >= 4.5, selector


def test_report_browser_prints_every_source_and_no_controls(page: playwright.Page) -> None:
    page.emulate_media(media="print")
    assert page.locator("#panel-labels").is_visible()
    assert not page.locator(".tools").first.is_visible()


def test_report_browser_fits_a_narrow_screen(page: playwright.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_report_browser_every_control_has_a_name(page: playwright.Page) -> None:
    nameless = (
        "all => all.filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).length"
    )
    assert page.locator("button, input, a[href]").evaluate_all(nameless) == 0


def _channels(page: playwright.Page, selector: str, name: str) -> list[float]:
    said = page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{name}")
    return [float(part) for part in said.partition("(")[2].rstrip(")").split(",")[:3]]


def _lightness(page: playwright.Page, selector: str, name: str) -> float:
    return sum(_channels(page, selector, name))


def _luminance(page: playwright.Page, selector: str, name: str) -> float:
    """Relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in
              (channel / 255 for channel in _channels(page, selector, name))]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
