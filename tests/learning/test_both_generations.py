"""While the next generation is built, what a bot keeps is in both, and what it takes back leaves both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from slotcache.aio import AsyncSlotCache
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.domain.schema import Domain
from slotcache.entry import Selector
from slotcache.generations import generation_of
from slotcache.learning.rekey import Journal, Rekeying
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.testing import FakeClock
from tests.learning.conftest import LIBRARY, NOW
from tests.learning.test_rekey import KIM, LEE, SYNONYM, changed, magazines_are_books


@dataclass
class Running:
    """The parser of a bot that runs, which may know of the next generation."""

    parser: Parser
    next: Parser | None = None

    @property
    def version(self) -> str:
        return self.parser.version

    @property
    def domain_hash(self) -> str:
        return self.parser.domain_hash

    def parse(self, text: str) -> Parse:
        return self.parser.parse(text)


class Town:
    """Bots before and after a change, and the job that builds the next generation."""

    def __init__(self, store: Store, folder: Path, domain: Domain) -> None:
        self.store, self.clock = store, FakeClock(NOW)
        self.before, self.after = Parser(LIBRARY), Parser(domain)
        self.bot = SlotCache(Running(self.before, self.after), store, policy=Policy(ttl=100.0), clock=self.clock)
        self.unaware = SlotCache(self.before, store, clock=self.clock)
        self.later = SlotCache(self.after, store, clock=self.clock)
        self.job = Rekeying(store, self.after, Journal(folder / "journal.jsonl"), clock=self.clock)

    def in_next(self) -> list[str]:
        return sorted(entry.answer for entry in self.store.find(Selector(generation=generation_of(self.after))))


@pytest.fixture
def town(store: Store, tmp_path: Path) -> Callable[..., Town]:
    return lambda domain=None: Town(store, tmp_path, domain or changed(**SYNONYM))


def test_both_a_fill_is_there_when_the_next_generation_takes_over(town: Callable[..., Town]) -> None:
    it = town()
    it.bot.get_or_call("can i borrow a book", lambda _: "Yes.", KIM)
    assert it.later.get("can i borrow a novel", LEE).answer == "Yes."


def test_both_a_fill_follows_its_question_to_the_new_key(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.get_or_call("can i borrow a magazine", lambda _: "Two at a time.", KIM)
    assert it.later.get("can i borrow a book", KIM).answer == "Two at a time."


def test_both_counts_what_it_keeps_twice(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.get_or_call("can i borrow a magazine", lambda _: "Two at a time.", KIM)
    assert it.bot.stats()["next_generation.moved"] == 1


def test_both_an_asynchronous_fill(town: Callable[..., Town]) -> None:
    it = town()

    async def ask() -> None:
        async def call(_: str) -> str:
            return "Yes."

        await AsyncSlotCache.over(it.bot).get_or_call("can i borrow a book", call, KIM)

    asyncio.run(ask())
    assert it.later.get("can i borrow a book", KIM).answer == "Yes."


def test_both_an_approved_answer(town: Callable[..., Town]) -> None:
    it = town()
    it.bot.approve("can i borrow a book", "Yes, ten.", KIM, author="ann")
    assert it.later.get("can i borrow a book", KIM).answer == "Yes, ten."


def test_both_a_hit_that_is_approved(town: Callable[..., Town]) -> None:
    it = town()
    it.unaware.put("can i borrow a book", Answer("Yes."), KIM)
    it.bot.approve_hit(str(it.bot.get("can i borrow a book", KIM).hit_id), author="ann", answer="Yes, ten.")
    assert it.later.get("can i borrow a book", KIM).answer == "Yes, ten."


def test_both_imported_answers(town: Callable[..., Town]) -> None:
    it = town()
    it.bot.import_answers([{"question": "can i borrow a book", "answer": "Yes, ten."}], KIM.but(customer=None))
    assert it.later.get("can i borrow a book", KIM).answer == "Yes, ten."


def test_both_a_learned_answer_leaves_an_approved_one_and_the_key_waits(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.approve("can i borrow a book", "Ten.", KIM, author="ann")
    it.clock.advance(1)
    it.bot.put("can i borrow a magazine", Answer("Two."), KIM)
    assert (it.in_next(), len(it.store.waiting())) == (["Ten."], 1)


def test_both_of_two_approved_answers_the_newer_wins_and_the_key_waits(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.approve("can i borrow a book", "Ten.", KIM, author="ann")
    it.clock.advance(1)
    it.bot.approve("can i borrow a magazine", "Two.", KIM, author="ann")
    assert (it.in_next(), len(it.store.waiting())) == (["Two."], 1)


def test_both_an_answer_that_replaces_another_is_no_conflict(town: Callable[..., Town]) -> None:
    it = town()
    it.bot.put("can i borrow a book", Answer("Ten."), KIM)
    it.clock.advance(1)
    it.bot.approve("can i borrow a book", "Eleven.", KIM, author="ann")
    assert (it.in_next(), len(it.store.waiting())) == (["Eleven."], 0)


def test_both_never_widen_an_owner(town: Callable[..., Town]) -> None:
    it = town(changed(concepts={"borrow": ["nab~"]}))
    assert it.bot.put("can i nab a book", Answer("Kim's own answer"), KIM).stored
    assert it.in_next() == []


def test_both_never_prolong_an_answer(town: Callable[..., Town]) -> None:
    it = town()
    it.bot.put("can i borrow a book", Answer("Yes."), KIM)
    it.clock.advance(101)
    assert it.later.get("can i borrow a book", KIM).hit is False


def test_both_lose_an_answer_that_is_reported(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.put("can i borrow a magazine", Answer("Wrong."), KIM)
    it.bot.report_false_hit(str(it.bot.get("can i borrow a magazine", KIM).hit_id))
    assert it.in_next() == []


def test_both_keep_a_reported_key_in_quarantine(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.put("can i borrow a magazine", Answer("Wrong."), KIM)
    it.bot.report_false_hit(str(it.bot.get("can i borrow a magazine", KIM).hit_id))
    assert it.later.put("can i borrow a book", Answer("Wrong again."), KIM).reason == "quarantined"


def test_both_lose_what_a_bot_takes_back_that_knows_of_one_only(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.put("can i borrow a magazine", Answer("Wrong."), KIM)
    it.unaware.report_false_hit(str(it.unaware.get("can i borrow a magazine", KIM).hit_id))
    it.job.withdraw()
    assert it.in_next() == []


def test_both_lose_what_is_invalidated_though_its_key_moved(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.put("can i borrow a magazine", Answer("Two."), KIM)
    it.bot.invalidate(slots={"medium": "magazine"})
    assert it.in_next() == []


def test_both_a_next_parser_that_fails_costs_nothing(
    town: Callable[..., Town], monkeypatch: pytest.MonkeyPatch
) -> None:
    it = town()

    def fail(_: str) -> Parse:
        raise RuntimeError("damaged")

    monkeypatch.setattr(it.after, "parse", fail)
    outcome = it.bot.get_or_call("can i borrow a book", lambda _: "Yes.", KIM)
    assert (outcome.answer, it.bot.stats()["next_parser_failures"]) == ("Yes.", 1)


def test_both_and_the_job_agree_on_what_they_carry(town: Callable[..., Town]) -> None:
    it = town(magazines_are_books())
    it.bot.put("can i borrow a magazine", Answer("Two."), KIM)
    list(it.job.build())
    list(it.job.finish())
    assert (it.in_next(), it.job.counts()["moved"]) == (["Two."], 1)


def test_both_hits_never_fall_while_new_questions_come_in(town: Callable[..., Town]) -> None:
    """Between any two steps a new question is asked, and then all that were asked so far, by readers of the moment."""
    it = town()
    things = [f"can i borrow {n} {thing}" for thing in ("books", "dvds", "magazines") for n in range(2, 10)]
    for text in things[:8]:
        it.bot.put(text, Answer(text), KIM)
    coming, asked, rates = iter(things[8:]), things[:8], []

    def load(reader: SlotCache) -> None:
        fresh = next(coming, None)
        if fresh is not None:
            reader.get_or_call(fresh, lambda text: text, KIM)
            asked.append(fresh)
        rates.append(sum(reader.get(text, KIM).hit for text in asked) / len(asked))

    for _ in it.job.build():
        load(it.bot)
    it.job.withdraw()
    load(it.bot)
    load(it.later)
    for _ in it.job.finish():
        load(it.later)
    assert (min(rates), len(asked)) == (1.0, len(things))
