"""Re-keying: answers follow their questions, never change hands, and hits go on meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.cache import SlotCache
from slotcache.domain.patches import patch_from, patched
from slotcache.domain.schema import Domain
from slotcache.entry import Selector
from slotcache.events import Decision
from slotcache.generations import Fate
from slotcache.learning.rekey import Journal, Rekeying
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Owner
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.testing import FakeClock
from tests.learning.conftest import LIBRARY, NOW

KIM = Scope(tenant="town", customer="kim")
LEE = Scope(tenant="town", customer="lee")


def changed(**patch: Any) -> Domain:
    return patched(LIBRARY, patch_from(patch, where="test"))


def intent_changed(name: str, **changes: Any) -> Domain:
    data = LIBRARY.model_dump(mode="json")
    data["intents"][name] |= changes
    return Domain.model_validate(data)


def magazines_are_books() -> Domain:
    data = LIBRARY.model_dump(mode="json")
    values = data["slots"]["medium"]["values"]
    values["book"] += values.pop("magazine")
    data["intents"]["renew_loan"]["slots"]["medium"] = None
    return Domain.model_validate(data)


class Desk:
    """A cache before the change, the parser after it, and the re-keying between them."""

    def __init__(self, store: Store, folder: Path, domain: Domain, policy: Policy | None = None) -> None:
        self.store, self.policy = store, policy or Policy()
        self.clock = FakeClock(NOW)
        self.before = Parser(LIBRARY)
        self.after = Parser(domain)
        self.path = folder / "journal.jsonl"
        self.old = SlotCache(self.before, store, policy=self.policy, clock=self.clock)
        self.new = SlotCache(self.after, store, policy=self.policy, clock=self.clock)
        self.rekeying = self.resume()

    def resume(self) -> Rekeying:
        return Rekeying(self.store, self.after, Journal(self.path), policy=self.policy, clock=self.clock)

    def ask(self, text: str, answer: str, scope: Scope = KIM) -> None:
        assert self.old.put(text, Answer(answer), scope).stored

    def rekey(self) -> dict[str, int]:
        list(self.rekeying.build())
        list(self.rekeying.finish())
        return self.rekeying.counts()

    def served(self, text: str, scope: Scope = KIM) -> str | None:
        outcome = self.new.get(text, scope)
        return outcome.answer if outcome.decision is Decision.HIT else None


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Callable[..., Desk]:
    return lambda domain, policy=None: Desk(store, tmp_path, domain, policy)


SYNONYM = {"fillers": ["quick one"]}


def test_rekey_keeps_an_unchanged_key(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM))
    it.ask("can i borrow a book", "Yes.")
    assert it.rekey()["unchanged"] == 1
    assert it.served("can i borrow a novel", LEE) == "Yes."


def test_rekey_moves_an_answer_to_the_new_key_of_its_question(desk: Callable[..., Desk]) -> None:
    it = desk(magazines_are_books())
    it.ask("can i borrow a magazine", "Yes, two.")
    assert it.rekey()["moved"] == 1
    assert it.served("can i borrow a book") == "Yes, two."


@pytest.mark.parametrize(("first", "second"), [("book", "magazine"), ("magazine", "book")])
def test_rekey_conflict_is_won_by_the_newer_approved(desk: Callable[..., Desk], first: str, second: str) -> None:
    it = desk(magazines_are_books())
    for thing, answer in ((first, "older"), (second, "newer")):
        it.clock.advance(1)
        it.old.approve(f"can i borrow a {thing}", answer, KIM, author="ann")
    assert it.rekey()["conflict"] == 1
    assert it.served("can i borrow a book") == "newer"


def test_rekey_conflict_is_won_by_an_approved_answer_over_a_newer_learned_one(desk: Callable[..., Desk]) -> None:
    it = desk(magazines_are_books())
    it.old.approve("can i borrow a book", "approved", KIM, author="ann")
    it.clock.advance(1)
    it.ask("can i borrow a magazine", "learned")
    it.rekey()
    assert it.served("can i borrow a magazine") == "approved"
    assert len(it.store.waiting()) == 1


def test_rekey_conflict_keeps_both_answers_for_people(desk: Callable[..., Desk]) -> None:
    it = desk(magazines_are_books())
    it.ask("can i borrow a book", "one")
    it.clock.advance(1)
    it.ask("can i borrow a magazine", "two")
    rows = [row for row in it.rekeying.build() if row.fate is Fate.CONFLICT]
    assert [(row.winner, row.loser) for row in rows] == [("two", "one")]


def test_rekey_takes_out_what_cannot_be_read(desk: Callable[..., Desk]) -> None:
    gone = LIBRARY.model_dump(mode="json")
    del gone["intents"]["borrow_item"]
    it = desk(Domain.model_validate(gone))
    it.ask("can i borrow a book", "Yes.")
    counts = it.rekey()
    assert counts["out_of_recall"] == 1
    assert it.store.counts()["entries"] == 0


def test_rekey_takes_out_an_answer_for_a_key_that_is_gone(desk: Callable[..., Desk]) -> None:
    gone = LIBRARY.model_dump(mode="json")
    del gone["intents"]["borrow_item"]
    it = desk(Domain.model_validate(gone))
    it.old.import_answers([{"key": "borrow_item(aspect=eligibility)", "answer": "Yes."}], Scope(tenant="town"))
    assert it.rekey()["out_of_recall.key_unknown"] == 1


def test_rekey_never_widens_an_owner(desk: Callable[..., Desk]) -> None:
    it = desk(changed(concepts={"borrow": ["nab~"]}))
    it.ask("can i nab a book", "Kim's own answer")  # verbatim, and so Kim's alone
    assert it.rekey()["out_of_recall.owner_widened"] == 1
    assert it.served("can i borrow a book", LEE) is None


def test_rekey_does_not_guess_the_owner_of_a_shared_answer(desk: Callable[..., Desk]) -> None:
    it = desk(intent_changed("borrow_item", owner="customer"))
    it.ask("can i borrow a book", "Yes.")
    assert it.rekey()["out_of_recall.owner_narrowed"] == 1
    assert it.served("can i borrow a book", KIM) is None


def test_rekey_takes_out_what_became_live(desk: Callable[..., Desk]) -> None:
    it = desk(intent_changed("borrow_item", owner="never"))
    it.ask("can i borrow a book", "Yes.")
    assert it.rekey()["out_of_recall.owner_never"] == 1


def test_rekey_never_prolongs_an_answer(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM), Policy(ttl=100.0))
    it.ask("can i borrow a book", "Yes.")
    it.clock.advance(60)
    it.rekey()
    it.clock.advance(50)
    assert it.served("can i borrow a book") is None


def test_rekey_keeps_a_quarantine(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM))
    it.ask("can i borrow a book", "Wrong.")
    hit = it.old.get("can i borrow a book", KIM)
    list(it.rekeying.build())
    it.old.report_false_hit(str(hit.hit_id))
    it.rekeying.withdraw()
    assert it.served("can i borrow a book") is None


def test_rekey_follows_an_invalidation_that_came_meanwhile(desk: Callable[..., Desk]) -> None:
    it = desk(magazines_are_books())
    it.ask("can i borrow a magazine", "Yes.")
    (key,) = {str(entry.key) for entry in it.store.find(Selector())}
    list(it.rekeying.build())
    it.store.retire(next(e.id for e in it.store.find(Selector(key=key))), reason="invalidated", now=it.clock())
    it.rekeying.withdraw()
    assert it.served("can i borrow a magazine") is None


def test_rekey_takes_an_answer_that_was_replaced_meanwhile(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM))
    it.ask("can i borrow a book", "old")
    list(it.rekeying.build())
    it.clock.advance(1)
    it.old.approve("can i borrow a book", "new", KIM, author="ann")
    list(it.rekeying.finish())
    assert it.served("can i borrow a book") == "new"


def test_rekey_carries_over_what_is_kept_while_it_runs(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM))
    it.ask("can i borrow a book", "Yes.")
    list(it.rekeying.build())
    it.ask("can i borrow a dvd", "Also yes.")
    list(it.rekeying.finish())
    assert it.served("can i borrow a dvd") == "Also yes."


def test_rekey_goes_on_where_it_was_stopped(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM))
    for thing in ("book", "dvd", "magazine"):
        it.ask(f"can i borrow a {thing}", thing)
    next(it.rekeying.build())
    with it.path.open("a") as file:
        file.write('\n{"source": "cut of')
    it.rekeying = it.resume()
    assert len(list(it.rekeying.build())) == 2
    assert it.rekeying.counts()["unchanged"] == 3


@pytest.mark.parametrize("stopped_after", range(4))
def test_rekey_loses_nothing_when_stopped_while_closing(desk: Callable[..., Desk], stopped_after: int) -> None:
    it = desk(changed(**SYNONYM))
    for thing in ("book", "dvd", "magazine"):
        it.ask(f"can i borrow a {thing}", thing)
    list(it.rekeying.build())
    closing = it.rekeying.finish()
    for _ in range(stopped_after):
        next(closing)
    it.rekeying = it.resume()
    it.rekey()
    assert [it.served(f"can i borrow a {thing}") for thing in ("book", "dvd", "magazine")] == [
        "book",
        "dvd",
        "magazine",
    ]


def test_rekey_hits_go_on_under_load(desk: Callable[..., Desk]) -> None:
    """Readers ask between every two steps, under the generation in use at that moment."""
    it = desk(changed(**SYNONYM))
    texts = [f"can i borrow {n} {thing}" for n in (2, 3, 4, 5) for thing in ("books", "dvds", "magazines")]
    for text in texts:
        it.ask(text, text)
    reader, rates = it.old, []

    def load() -> None:
        rates.append(sum(reader.get(text, KIM).hit for text in texts) / len(texts))

    for _ in it.rekeying.build():
        load()
    it.rekeying.withdraw()
    reader = it.new
    load()
    for _ in it.rekeying.finish():
        load()
    assert min(rates) == 1.0


def test_rekey_preview_changes_nothing(desk: Callable[..., Desk]) -> None:
    it = desk(intent_changed("borrow_item", owner="customer"))
    it.ask("can i borrow a book", "Yes.")
    assert [row.reason for row in it.rekeying.preview()] == ["owner_narrowed"]
    assert it.store.counts()["entries"] == 1


def test_rekey_verbatim_answer_of_all_stays_of_all_where_the_operator_says_so(desk: Callable[..., Desk]) -> None:
    it = desk(changed(**SYNONYM), Policy(verbatim_owner=Owner.SHARED))
    it.ask("where are the lockers", "Upstairs.")
    it.rekey()
    assert it.served("where are the lockers", LEE) == "Upstairs."
