"""The review page in a real browser: by keyboard alone, two analysts at once, and the circle to a better model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from slotcache import Parser, Scope
from slotcache.cli import rekey
from slotcache.cli.app import app
from slotcache.entry import Selector
from slotcache.learning.base import Base
from slotcache.parsing.watch import SECONDS, WatchingParser
from slotcache.records import read_records
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.labels import labelled_from
from slotcache.review.acts import question_id
from slotcache.review.exchange import dumped
from slotcache.review.server import server
from slotcache.review.users import Role, add_user
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import FakeClock
from tests.e2e.servers import running
from tests.learning import conftest as desk
from tests.review.conftest import LIBRARY, NOW, PASSWORD, Room

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium"),
    # The driver's own pipes are closed by its process, late.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
base, first_version = desk.base, desk.first_version
NABBING = "can i nab a dvd"
PLANTED = "can i renew a volume before it is due"
MISREAD = "renew_loan(aspect=eligibility, timing=before_due)"
RIGHT = "renew_loan(aspect=eligibility, medium=book, timing=before_due)"
ANSWERED = {
    PLANTED: "Yes, once.",
    "can i renew a book after it is due": "No, please return it.",
    "can i borrow a dvd": "Two at a time.",
    "can i borrow a book": "Ten at a time.",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "users.json"
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    add_user(path, "lee", PASSWORD)
    return path


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser.load(LIBRARY)


@pytest.fixture
def room(tmp_path: Path, parser: Parser, people: Path) -> Iterator[Room]:
    """Traffic of a library's bot: a question asked often without a key, and some that are answered."""
    made = Room(tmp_path, parser, people)
    for _ in range(3):
        made.ask(NABBING)
    made.ask("can i pinch a book")
    for _ in range(2):
        made.ask("can i borrow a dvd")
    made.refresh()
    yield made
    made.close()


@pytest.fixture
def address(room: Room) -> Iterator[str]:
    with running(server(room.desk, host="127.0.0.1", port=0, refresh=False)) as listening:
        yield listening


@pytest.fixture
def trouble() -> list[str]:
    """What pages complained about, or asked of anybody else."""
    return []


@pytest.fixture
def sit_down(
    browser: playwright.Browser, room: Room, address: str, trouble: list[str]
) -> Iterator[Callable[..., playwright.Page]]:
    """A browser of somebody who is logged in, at the queue."""
    contexts = []

    def make(name: str, **options: object) -> playwright.Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light", **options)
        contexts.append(context)
        sessions = room.desk.sessions
        cookie = sessions.write(sessions.begin(name))
        context.add_cookies([{"name": "slotcache_review", "value": cookie, "url": address}])
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(address) else trouble.append(one.url))
        page.goto(f"{address}/queue")
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def kim(sit_down: Callable[..., playwright.Page]) -> playwright.Page:
    return sit_down("kim")


def heading(page: playwright.Page) -> str:
    return str(page.locator("h1").inner_text())


def use(page: playwright.Page, *said: str) -> None:
    """Press the named keys and type everything else.

    The address changes before a new page has its focus; what is typed in between would be taken for shortcuts.
    """
    for one in said:
        if one in ("Tab", "Enter", "Escape", "Control+Enter", "Control+A") or len(one) == 1:
            page.keyboard.press(one)
        else:
            page.wait_for_function("document.activeElement.matches('input, select, textarea')")
            page.keyboard.type(one)


def test_review_browser_log_in_by_keyboard(browser: playwright.Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    use(page, "kim", "Tab", PASSWORD, "Enter")
    page.wait_for_url("**/queue")
    assert heading(page) == "2 to look at"
    page.close()


def test_review_browser_queue_is_worked_by_keyboard_alone(kim: playwright.Page, room: Room) -> None:
    kim.keyboard.press("n")
    kim.wait_for_url("**/question/**")
    assert heading(kim) == NABBING
    use(kim, "e", "borrow_item", "Enter")
    kim.wait_for_url("**intent=borrow_item**")
    use(kim, "elig", "Tab", "dvd", "Control+Enter")
    kim.get_by_text("Kept:").wait_for()
    assert heading(kim) == "can i pinch a book"
    kim.keyboard.press("o")
    kim.get_by_text("Nothing to look at").wait_for()
    assert [(row["intent"], row["slots"], row["labeller"]) for row in room.labels.rows()] == [
        ("borrow_item", {"aspect": "eligibility", "medium": "dvd"}, "kim"),
        ("out_of_scope", {}, "kim"),
    ]


def test_review_browser_one_key_confirms_what_was_read(kim: playwright.Page, room: Room) -> None:
    use(kim, "/")
    use(kim, "borrow a dvd", "Enter")
    kim.wait_for_url("**q=borrow**")
    use(kim, "Escape", "j", "Enter")
    kim.wait_for_url("**/question/**")
    kim.keyboard.press("c")
    kim.get_by_text("Kept:").wait_for()
    assert [row["intent"] for row in room.labels.rows()] == ["borrow_item"]


def test_review_browser_undo_by_keyboard(kim: playwright.Page, room: Room) -> None:
    kim.keyboard.press("n")
    kim.wait_for_url("**/question/**")
    kim.keyboard.press("p")
    kim.get_by_text("Kept:").wait_for()
    kim.keyboard.press("u")
    kim.get_by_role("heading", name=NABBING).wait_for()
    assert room.desk.queue.page()[0].text == NABBING
    assert [row for row in room.labels.rows() if "personal" in row] == []


def test_review_browser_two_analysts_get_different_questions(sit_down: Callable[..., playwright.Page]) -> None:
    pages = [sit_down(name) for name in ("kim", "lee")]
    for page in pages:
        page.keyboard.press("n")
        page.wait_for_url("**/question/**")
    assert {heading(page) for page in pages} == {NABBING, "can i pinch a book"}


def test_review_browser_two_analysts_at_one_question_lose_nothing(
    sit_down: Callable[..., playwright.Page], room: Room
) -> None:
    kim, lee = sit_down("kim"), sit_down("lee")
    kim.keyboard.press("n")
    kim.wait_for_url("**/question/**")
    lee.goto(kim.url)
    assert lee.get_by_text("is looking at this question").is_visible()
    kim.keyboard.press("o")
    kim.get_by_text("Kept:").wait_for()
    lee.keyboard.press("p")
    lee.get_by_text("Not saved.").wait_for()
    assert [row["labeller"] for row in room.labels.rows()] == ["kim"]
    lee.keyboard.press("p")
    lee.get_by_text("Kept:").wait_for()
    assert [row["labeller"] for row in room.labels.rows() if "personal" in row] == ["lee"]


def test_review_browser_neighbour_is_judged_by_keyboard(kim: playwright.Page, room: Room) -> None:
    kim.keyboard.press("n")
    kim.wait_for_url("**/question/**")
    use(kim, "j", "x")
    kim.get_by_text("must not share an answer").first.wait_for()
    (row,) = room.labels.rows()
    assert (row["a"], row["b"], row["same"]) == (NABBING, "can i borrow a dvd", False)


def test_review_browser_answer_is_edited_and_approved(kim: playwright.Page, room: Room) -> None:
    kim.goto(path_from(kim, "/answers"))
    use(kim, "/", "can i borrow a dvd", "Enter")
    kim.wait_for_url("**/key/**")
    use(kim, "e", "Control+A", "Three at a time.", "Control+Enter")
    kim.get_by_text("answer approved").first.wait_for()
    served = room.cache.get("can i borrow a dvd", Scope())
    assert (served.answer, served.source) == ("Three at a time.", "approved")


def test_review_browser_pages_are_quiet(kim: playwright.Page, trouble: list[str]) -> None:
    for path in ("/queue", "/answers", "/proposals", "/labels", "/next"):
        kim.goto(path_from(kim, path))
    use(kim, "?", "Escape")
    assert trouble == []


def path_from(page: playwright.Page, path: str) -> str:
    scheme, _, rest = page.url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}{path}"


def test_review_browser_every_control_has_a_name(kim: playwright.Page) -> None:
    kim.goto(path_from(kim, f"/question/{question_id(NABBING)}?intent=borrow_item"))
    nameless = (
        "all => all.filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))"
        ".map(e => e.outerHTML)"
    )
    controls = kim.locator("button, input:not([type=hidden]), select, textarea, a[href]")
    assert controls.evaluate_all(nameless) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_review_browser_text_is_legible(kim: playwright.Page, scheme: str) -> None:
    kim.keyboard.press("n")
    kim.wait_for_url("**/question/**")
    kim.emulate_media(color_scheme=scheme)
    poor = kim.evaluate(
        """() => {
          const channels = (said) => said.match(/[\\d.]+/g).map(Number);
          const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
            .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
          const behind = (element) => {
            for (let at = element; at; at = at.parentElement) {
              const found = channels(getComputedStyle(at).backgroundColor);
              if (found.length < 4 || found[3] > 0) return found;
            }
          };
          return [...document.querySelectorAll("h1, h2, p, dt, dd, button, a, .soft, mark, .badge")]
            .filter(e => e.textContent.trim() && e.checkVisibility() && !e.classList.contains("skip"))
            .filter(e => {
              const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
              return (a + 0.05) / (b + 0.05) < 4.5;
            }).map(e => e.outerHTML.slice(0, 80));
        }"""
    )
    assert poor == []


@pytest.mark.parametrize("path", ["/queue", "/next", "/answers", "/labels"])
def test_review_browser_fits_a_narrow_screen(kim: playwright.Page, path: str) -> None:
    kim.set_viewport_size({"width": 390, "height": 800})
    kim.goto(path_from(kim, path))
    assert kim.evaluate("document.documentElement.scrollWidth <= innerWidth")


class Circle:
    """A library whose bot runs on a model of its own, with everything that the retraining job needs beside it."""

    def __init__(self, folder: Path, versions: Path, people: Path, base: Base) -> None:
        self.versions, self.domain = versions, folder / "library"
        self.domain.mkdir()
        shutil.copy(LIBRARY, self.domain / "library.yaml")
        examples = [
            {"text": e.text, "intent": e.intent.partition("/")[0], "slots": dict(e.slots)} for e in base.examples
        ]
        gate = [{"a": pair.a, "b": pair.b, "same": pair.same} for pair in base.pairs]
        gate += [{"text": text, "personal": True} for text in base.personal]
        for name, rows in (("examples", examples), ("gate", gate)):
            (self.domain / f"{name}.jsonl").write_text(dumped(rows), encoding="utf-8")
        self.timer = FakeClock(0.0)
        self.parser = WatchingParser(
            lambda: Parser.load(self.domain, model=versions),
            [versions / "current.json"],
            clock=self.timer,
            background=False,
        )
        self.answers = folder / "answers.db"
        self.room = Room(folder, self.parser, people, store=SqliteStore(self.answers))

    def report(self, gold: str) -> list[tuple[str, str, bool]]:
        """Cells of the report's matrix of whole keys, from the record and a label of the planted question."""
        records = read_records(self.room.record.where)
        labelled = labelled_from([{"text": PLANTED, "key": gold}])
        made = make_report(Inputs(self.parser.parser, records, labelled=labelled), made=NOW)
        assert made.headline is not None
        return [(cell.gold, cell.read, cell.harm > 0) for cell in made.headline.keys.cells]

    def retrain(self) -> Result:
        """The nightly job, as a scheduler runs it."""
        options = ["--review", self.room.labels.database.path, "--domain", self.domain, "--out", self.versions]
        return CliRunner().invoke(
            app, ["retrain", *map(str, options), "--store", str(self.answers), "--latency-ms", "5000"]
        )

    def state(self) -> dict[str, tuple[str, str]]:
        """Question -> key and answer of everything in recall."""
        return {e.question: (str(e.key), e.answer) for e in self.room.cache.core.store.find(Selector())}


@pytest.fixture
def circle(
    tmp_path: Path, first_version: Path, people: Path, base: Base, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Circle]:
    waiting = SimpleNamespace(time=time.time, monotonic=time.monotonic, sleep=lambda _: None)
    monkeypatch.setattr(rekey, "time", waiting)
    versions = Path(shutil.copytree(first_version, tmp_path / "versions"))
    made = Circle(tmp_path, versions, people, base)
    yield made
    made.room.close()


def test_review_browser_full_circle(browser: playwright.Browser, circle: Circle) -> None:
    """Traffic with a misreading; the report shows it; an analyst labels it here; the next model reads it right."""
    room = circle.room
    for text, answer in ANSWERED.items():
        for _ in range(2):
            room.ask(text, answer)
    room.refresh()
    before = circle.state()
    assert before[PLANTED][0] == MISREAD
    assert circle.report(RIGHT) == [(RIGHT, MISREAD, True)]

    with running(server(room.desk, host="127.0.0.1", port=0, refresh=False)) as address:
        page = browser.new_page()
        page.set_default_timeout(10_000)
        page.goto(address)
        use(page, "kim", "Tab", PASSWORD, "Enter")
        page.wait_for_url("**/queue")
        page.keyboard.press("/")
        use(page, "volume", "Enter")
        page.wait_for_url("**q=volume")
        use(page, "j", "Enter")
        page.wait_for_url("**/question/**")
        page.keyboard.press("y")
        page.wait_for_url("**/teach**")
        use(page, "medium=book", "Tab", "volume~", "Enter")
        page.wait_for_url("**/proposals/**")
        assert page.locator("code.changed").inner_text() == RIGHT
        page.keyboard.press("c")
        page.wait_for_url("**/question/**")
        page.keyboard.press("1")
        page.wait_for_url("**intent=renew_loan**")
        page.locator("select[name='slot.aspect']").wait_for()
        use(page, "Tab", "book")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Kept:").wait_for()
        page.close()

    done = circle.retrain()
    assert done.exit_code == 0, done.output
    circle.timer.now += SECONDS
    asked = room.cache.get(PLANTED, Scope(customer="c-1"))
    assert (asked.key, asked.answer) == (RIGHT, ANSWERED[PLANTED])
    assert circle.state() == before | {PLANTED: (RIGHT, ANSWERED[PLANTED])}
