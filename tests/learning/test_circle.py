"""The circle in one process: a missed question is labelled, retrained and re-keyed, and a running bot changes over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.learning.rekey import Journal, Rekeying
from slotcache.learning.retrain import Ended, Job, run
from slotcache.parsing.parser import Parser
from slotcache.parsing.watch import SECONDS, WatchingParser
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock
from tests.learning.conftest import NOW, hooks, label, rows

LIBRARY_FILE = Path(__file__).parent.parent / "domains" / "library.yaml"
KIM = Scope(tenant="town", customer="kim")
NABBING = "can i nab a dvd"
LABELS = rows(
    label(NABBING, "borrow_item", aspect="eligibility", medium="dvd"),
    {"patch": {"concepts": {"borrow": ["nab~"]}}},
)


class Bot:
    """A bot that runs throughout, with the store it shares with the retraining job."""

    def __init__(self, versions: Path) -> None:
        self.store, self.clock, self.now = MemoryStore(), FakeClock(NOW), 0.0
        self.parser = WatchingParser(
            lambda: Parser.load(LIBRARY_FILE, model=versions),
            [versions / "current.json"],
            clock=lambda: self.now,
            background=False,
        )
        self.cache = SlotCache(self.parser, self.store, clock=self.clock)
        self.journal = versions / ".work" / "rekey.jsonl"
        self.rekeying: Rekeying | None = None

    def before(self, parser: Parser) -> None:
        self.rekeying = Rekeying(self.store, parser, Journal(self.journal), clock=self.clock)
        list(self.rekeying.build())

    def after(self, _: Parser) -> None:
        self.now += SECONDS

    def close(self) -> None:
        assert self.rekeying is not None
        list(self.rekeying.finish())


@pytest.fixture
def bot(versions: Path) -> Bot:
    made = Bot(versions)
    for text, answer in (("can i borrow a dvd", "Two at a time."), ("can i borrow a book", "Ten at a time.")):
        assert made.cache.put(text, Answer(answer), KIM).stored
    return made


def test_circle_teaches_a_running_bot(bot: Bot, make_job: Callable[..., Job]) -> None:
    assert bot.cache.get(NABBING, KIM).hit is False
    assert (
        run(make_job(), LABELS, hooks=hooks(before_switch=bot.before, after_switch=bot.after)).ended is Ended.PROMOTED
    )
    assert bot.cache.get(NABBING, KIM).answer == "Two at a time."


def test_circle_keeps_the_hits_of_a_running_bot(bot: Bot, make_job: Callable[..., Job]) -> None:
    run(make_job(), LABELS, hooks=hooks(before_switch=bot.before, after_switch=bot.after))
    bot.close()
    answers = [bot.cache.get(f"can i borrow a {thing}", KIM).answer for thing in ("dvd", "book")]
    assert answers == ["Two at a time.", "Ten at a time."]


def test_circle_changes_model_and_answers_over_together(bot: Bot, make_job: Callable[..., Job]) -> None:
    """Until the record flips, the next generation's answers are there and nobody is served from them."""
    seen: list[tuple[str, str | None]] = []

    def look(parser: Parser) -> None:
        bot.before(parser)
        bot.now += SECONDS
        seen.append((bot.parser.version, bot.cache.get(NABBING, KIM).answer))

    result = run(make_job(), LABELS, hooks=hooks(before_switch=look, after_switch=bot.after))
    seen.append((bot.parser.version, bot.cache.get(NABBING, KIM).answer))
    assert [answer for _, answer in seen] == [None, "Two at a time."]
    assert seen[1][0] == result.version != seen[0][0]


def test_circle_report_of_a_hit_from_before_the_switch_takes_the_answer_back(
    bot: Bot, make_job: Callable[..., Job]
) -> None:
    hit = bot.cache.get("can i borrow a dvd", KIM)
    run(make_job(), LABELS, hooks=hooks(before_switch=bot.before, after_switch=bot.after))
    bot.close()
    assert bot.cache.report_false_hit(str(hit.hit_id)).evicted
    assert bot.cache.get("can i borrow a dvd", KIM).hit is False
