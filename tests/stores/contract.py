"""What every store must do. A store's own test module makes a subclass and names a `store` fixture.

class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self): ...
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from slotcache.address import Address, Namespace
from slotcache.entry import Entry, Origin, Selector
from slotcache.key import Key
from slotcache.stores.base import Feedback, Lease, PutResult, Quarantine, Store, place_of

NOW = 1_700_000_000.0


def entry(
    key: str = "cancel_order(timing=pre_shipment)",
    *,
    answer: str = "an answer",
    origin: Origin = Origin.LEARNED,
    created: float = NOW,
    life: float | None = 100.0,
    fingerprint: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    token: str = "0" * 16,
    **namespace: str,
) -> Entry:
    """An entry with the address that its fields give it."""
    address = Address.of(Namespace(**namespace), Key.parse(key), fingerprint)
    return Entry(
        id=address.cell + token,
        address=address,
        answer=answer,
        origin=origin,
        created=created,
        expires=None if life is None else created + life,
        question="can i cancel?",
        canonical="can i cancel",
        protected={"event": ("before",)},
        tags=tags,
        parser="test-1",
        tokens_in=10,
        tokens_out=20,
        cost=0.5,
    )


def quarantine(*, tenant: str = "", customer: str = "", at: float = NOW) -> Quarantine:
    """A quarantine of the key of `entry`."""
    return Quarantine(tenant, customer, "cancel_order(timing=pre_shipment)", at, "hit.1", "kim")


def lease_for(store: Store, wanted: Entry, *, holder: str = "me", now: float = NOW, seconds: float = 30.0) -> Lease:
    return store.acquire(wanted.cell, wanted.address.variant, holder=holder, now=now, seconds=seconds)


class StoreContract:
    """The contract tests; subclass it."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        raise NotImplementedError

    def test_get_gives_what_was_put(self, store: Store) -> None:
        kept = entry(tags=("a", "b"), fingerprint=("not", "before"), tenant="acme", customer="é", epoch="7")
        assert store.put(kept) is PutResult.STORED
        assert tuple(store.get(kept.cell)) == (kept,)

    def test_get_of_an_unknown_cell_is_empty(self, store: Store) -> None:
        assert tuple(store.get("0" * 40)) == ()

    def test_get_gives_expired_entries_too(self, store: Store) -> None:
        kept = entry(life=1.0)
        store.put(kept)
        assert tuple(store.get(kept.cell)) == (kept,)

    @pytest.mark.parametrize(
        "other",
        [
            {"tenant": "b"},
            {"locale": "b"},
            {"model": "b"},
            {"prompt": "b"},
            {"epoch": "b"},
            {"context": "b"},
            {"owner": "customer", "customer": "b"},
            {"extra": "b"},
            {"generation": "b"},
            {"key": "cancel_order(timing=post_shipment)"},
        ],
        ids=lambda other: next(iter(other)),
    )
    def test_get_never_crosses_a_line_of_the_address(self, store: Store, other: dict[str, str]) -> None:
        store.put(entry(**other))
        assert tuple(store.get(entry().cell)) == ()

    def test_variants_of_a_cell_stand_beside_each_other(self, store: Store) -> None:
        plain, other = entry(), entry(fingerprint=("not",), token="1" * 16)
        store.put(plain)
        store.put(other)
        assert {held.id: held for held in store.get(plain.cell)} == {plain.id: plain, other.id: other}

    def test_put_supersedes_and_remembers(self, store: Store) -> None:
        former, later = entry(answer="old"), entry(answer="new", token="1" * 16, created=NOW + 5)
        store.put(former)
        assert store.put(later) is PutResult.STORED
        assert [held.answer for held in store.get(former.cell)] == ["new"]
        assert [(old.entry.answer, old.reason, old.at) for old in store.history(former.cell)] == [
            ("old", "superseded", NOW + 5)
        ]

    def test_superseded_entry_is_not_found_by_id(self, store: Store) -> None:
        former, later = entry(answer="old"), entry(answer="new", token="1" * 16)
        store.put(former)
        store.put(later)
        assert store.entry(former.id) is None

    def test_learned_never_replaces_approved(self, store: Store) -> None:
        approved = entry(answer="approved", origin=Origin.APPROVED, life=None)
        store.put(approved)
        assert store.put(entry(token="1" * 16)) is PutResult.APPROVED_EXISTS
        assert [held.answer for held in store.get(approved.cell)] == ["approved"]

    def test_learned_replaces_an_approved_one_whose_time_is_over(self, store: Store) -> None:
        store.put(entry(answer="approved", origin=Origin.APPROVED, life=10))
        later = entry(answer="learned", token="1" * 16, created=NOW + 10)
        assert store.put(later) is PutResult.STORED

    def test_approved_replaces_learned(self, store: Store) -> None:
        store.put(entry())
        approved = entry(answer="approved", origin=Origin.APPROVED, token="1" * 16)
        assert store.put(approved) is PutResult.STORED
        assert [held.answer for held in store.get(approved.cell)] == ["approved"]

    def test_same_approved_answer_again_changes_nothing(self, store: Store) -> None:
        approved = entry(origin=Origin.APPROVED, life=None)
        store.put(approved)
        again = entry(origin=Origin.APPROVED, life=None, token="1" * 16, created=NOW + 1)
        assert store.put(again) is PutResult.UNCHANGED
        assert store.history(approved.cell) == ()

    def test_put_many_counts_what_is_new(self, store: Store) -> None:
        first, second = (entry(origin=Origin.APPROVED, life=None, tenant=tenant) for tenant in "ab")
        assert store.put_many([first, second]) == 2
        assert store.put_many([first, second]) == 0

    def test_lease_is_granted_once(self, store: Store) -> None:
        assert lease_for(store, entry(), holder="a").granted
        assert not lease_for(store, entry(), holder="b").granted

    def test_lease_of_one_variant_leaves_the_others_free(self, store: Store) -> None:
        lease_for(store, entry(), holder="a")
        assert lease_for(store, entry(fingerprint=("not",)), holder="b").granted

    def test_lease_runs_out(self, store: Store) -> None:
        lease_for(store, entry(), holder="a", seconds=30)
        assert not lease_for(store, entry(), holder="b", now=NOW + 29.9).granted
        assert lease_for(store, entry(), holder="b", now=NOW + 30).granted

    def test_lease_is_respected_by_an_asker_whose_clock_is_behind(self, store: Store) -> None:
        lease_for(store, entry(), holder="a", now=NOW + 0.001)
        assert not lease_for(store, entry(), holder="b", now=NOW).granted

    def test_lease_from_before_the_clock_was_set_back_runs_out(self, store: Store) -> None:
        lease_for(store, entry(), holder="a", now=NOW + 86_400)
        assert lease_for(store, entry(), holder="b").granted

    def test_lease_tells_what_is_held(self, store: Store) -> None:
        store.put(entry())
        assert lease_for(store, entry()).held == (entry(),)

    def test_put_with_a_lease_ends_it(self, store: Store) -> None:
        lease = lease_for(store, entry(), holder="a")
        assert store.put(entry(), lease=lease) is PutResult.STORED
        assert lease_for(store, entry(), holder="b").granted

    def test_put_with_a_lost_lease_is_refused(self, store: Store) -> None:
        late = lease_for(store, entry(), holder="a", seconds=30)
        lease_for(store, entry(), holder="b", now=NOW + 30)
        assert store.put(entry(), lease=late) is PutResult.LEASE_LOST
        assert tuple(store.get(entry().cell)) == ()

    def test_put_after_the_lease_was_released_is_refused(self, store: Store) -> None:
        lease = lease_for(store, entry())
        store.release(lease)
        assert store.put(entry(), lease=lease) is PutResult.LEASE_LOST

    def test_put_with_a_lease_that_nobody_took_over_is_kept(self, store: Store) -> None:
        lease = lease_for(store, entry(), seconds=30)
        assert store.put(entry(created=NOW + 31), lease=lease) is PutResult.STORED

    def test_release_by_another_holder_changes_nothing(self, store: Store) -> None:
        late = lease_for(store, entry(), holder="a", seconds=30)
        lease_for(store, entry(), holder="b", now=NOW + 30)
        store.release(late)
        assert not lease_for(store, entry(), holder="c", now=NOW + 31).granted

    def test_put_after_an_invalidation_that_matches_is_refused(self, store: Store) -> None:
        lease = lease_for(store, entry())
        store.invalidate(Selector(intent="cancel_order"), reason="invalidated", now=NOW)
        assert store.put(entry(), lease=lease) is PutResult.INVALIDATED
        assert tuple(store.get(entry().cell)) == ()

    def test_put_after_an_invalidation_of_something_else_is_kept(self, store: Store) -> None:
        lease = lease_for(store, entry())
        store.invalidate(Selector(intent="return_item"), reason="invalidated", now=NOW)
        assert store.put(entry(), lease=lease) is PutResult.STORED

    def test_put_with_a_lease_from_after_the_invalidation_is_kept(self, store: Store) -> None:
        store.invalidate(Selector(intent="cancel_order"), reason="invalidated", now=NOW)
        assert store.put(entry(), lease=lease_for(store, entry())) is PutResult.STORED

    def test_put_after_more_invalidations_than_are_remembered_is_refused(self, store: Store) -> None:
        lease = lease_for(store, entry())
        for number in range(300):
            store.invalidate(Selector(tag=f"t{number}"), reason="invalidated", now=NOW)
        assert store.put(entry(), lease=lease) is PutResult.INVALIDATED

    def test_retire_moves_to_the_history(self, store: Store) -> None:
        store.put(entry())
        assert store.retire(entry().id, reason="false_hit", now=NOW + 1) == entry()
        assert tuple(store.get(entry().cell)) == ()
        assert [(old.entry, old.reason, old.at) for old in store.history(entry().cell)] == [
            (entry(), "false_hit", NOW + 1)
        ]

    def test_retire_ends_a_fill_in_progress(self, store: Store) -> None:
        store.put(entry())
        lease = lease_for(store, entry())
        store.retire(entry().id, reason="false_hit", now=NOW)
        assert store.put(entry(token="1" * 16), lease=lease) is PutResult.LEASE_LOST

    @pytest.mark.parametrize("unknown", ["", "nonsense", "0" * 56, "ü" * 56])
    def test_retire_of_an_unknown_id_is_nothing(self, store: Store, unknown: str) -> None:
        assert store.retire(unknown, reason="false_hit", now=NOW) is None

    @pytest.mark.parametrize(
        ("selector", "expected"),
        [
            (Selector(), {"1", "2", "3", "4"}),
            (Selector(key="cancel_order(timing=pre_shipment)"), {"1", "4"}),
            (Selector(intent="cancel_order"), {"1", "2", "4"}),
            (Selector(slots=(("timing", "post_shipment"),)), {"2"}),
            (Selector(slots=(("timing", "*"),)), {"1", "2", "4"}),
            (Selector(slots=(("timing", "*"), ("product", "*"))), set()),
            (Selector(slots=(("text", "*"),)), set()),
            (Selector(tag="x"), {"1", "3"}),
            (Selector(epoch="2"), {"2"}),
            (Selector(tenant="b"), {"4"}),
            (Selector(customer="c"), {"3"}),
            (Selector(generation="g"), {"4"}),
            (Selector(intent="cancel_order", tag="x"), {"1"}),
            (Selector(intent="unheard_of"), set()),
        ],
        ids=lambda value: value.to_json() if isinstance(value, Selector) else "",
    )
    def test_find_and_invalidate_select_alike(self, store: Store, selector: Selector, expected: set[str]) -> None:
        store.put(entry(answer="1", tags=("x",)))
        store.put(entry("cancel_order(timing=post_shipment)", answer="2", tags=("xx",), epoch="2"))
        store.put(entry('verbatim("timing")', answer="3", tags=("x", "y"), owner="customer", customer="c"))
        store.put(entry(answer="4", tenant="b", generation="g"))
        assert {found.answer for found in store.find(selector)} == expected
        assert store.invalidate(selector, reason="invalidated", now=NOW) == len(expected)
        assert {found.answer for found in store.find(Selector())} == {"1", "2", "3", "4"} - expected

    def test_invalidated_entries_are_remembered_with_the_reason(self, store: Store) -> None:
        store.put(entry())
        store.invalidate(Selector(intent="cancel_order"), reason="invalidated", now=NOW + 3)
        assert [(old.reason, old.at) for old in store.history(entry().cell)] == [("invalidated", NOW + 3)]

    def test_find_walks_over_many(self, store: Store) -> None:
        store.put_many([entry(tenant=str(number)) for number in range(1_200)])
        assert len({found.id for found in store.find(Selector(intent="cancel_order"))}) == 1_200

    def test_sweep_takes_what_is_over(self, store: Store) -> None:
        store.put(entry(life=10, tenant="a"))
        store.put(entry(life=20, tenant="b"))
        store.put(entry(life=None, tenant="c", origin=Origin.APPROVED))
        assert store.sweep(NOW + 10) == 1
        assert {found.address.namespace.tenant for found in store.find(Selector())} == {"b", "c"}

    def test_switches_are_kept(self, store: Store) -> None:
        store.set_switch("cancel_order", off=True, now=NOW)
        store.set_switch("cancel_order", off=True, now=NOW)
        store.set_switch("return_item", off=True, now=NOW)
        store.set_switch("return_item", off=False, now=NOW)
        assert store.switches() == {"cancel_order"}

    def test_feedback_counts_a_hit_once_for_each_author(self, store: Store) -> None:
        first = Feedback("hit.1", NOW, "kim", "wrong carrier", "cancel_order()")
        for report in (first, Feedback("hit.1", NOW + 1, "kim"), Feedback("hit.1", NOW + 2, "lee")):
            store.add_feedback(report)
        assert tuple(store.feedback()) == (first, Feedback("hit.1", NOW + 2, "lee"))

    def test_learned_answer_is_refused_in_quarantine(self, store: Store) -> None:
        store.add_quarantine(quarantine())
        assert store.put(entry()) is PutResult.QUARANTINED
        assert store.put(entry(), lease=lease_for(store, entry())) is PutResult.QUARANTINED
        assert tuple(store.get(entry().cell)) == ()

    def test_learned_answers_in_quarantine_are_left_out_of_many(self, store: Store) -> None:
        store.add_quarantine(quarantine(tenant="a"))
        assert store.put_many([entry(tenant=tenant) for tenant in "abc"]) == 2
        assert {found.address.namespace.tenant for found in store.find(Selector())} == {"b", "c"}

    def test_put_that_is_refused_in_quarantine_ends_the_lease(self, store: Store) -> None:
        lease = lease_for(store, entry(), holder="a")
        store.add_quarantine(quarantine())
        assert store.put(entry(), lease=lease) in (PutResult.QUARANTINED, PutResult.INVALIDATED)
        assert lease_for(store, entry(), holder="b").granted

    @pytest.mark.parametrize(
        "other", [{"locale": "b"}, {"epoch": "b"}, {"generation": "b"}, {"fingerprint": ("not",)}], ids=str
    )
    def test_quarantine_is_for_the_key_wherever_it_is_asked(self, store: Store, other: dict[str, str]) -> None:
        store.add_quarantine(quarantine())
        assert store.put(entry(**other)) is PutResult.QUARANTINED

    @pytest.mark.parametrize(
        "other",
        [{"tenant": "b"}, {"owner": "customer", "customer": "b"}, {"key": "cancel_order(timing=post_shipment)"}],
        ids=str,
    )
    def test_quarantine_leaves_others_alone(self, store: Store, other: dict[str, str]) -> None:
        store.add_quarantine(quarantine())
        assert store.put(entry(**other)) is PutResult.STORED

    @pytest.mark.parametrize("many", [False, True], ids=["put", "put_many"])
    def test_approved_answer_ends_the_quarantine(self, store: Store, many: bool) -> None:
        store.add_quarantine(quarantine())
        approved = entry(origin=Origin.APPROVED)
        if many:
            store.put_many([approved])
        else:
            store.put(approved)
        assert not store.in_quarantine(place_of(approved.address))
        assert store.quarantines() == ()

    def test_approved_answer_from_before_the_report_leaves_the_quarantine(self, store: Store) -> None:
        store.add_quarantine(quarantine(at=NOW + 1))
        assert store.put(entry(origin=Origin.APPROVED, locale="b")) is PutResult.STORED
        assert store.put(entry()) is PutResult.QUARANTINED

    def test_quarantine_can_be_ended_once(self, store: Store) -> None:
        store.add_quarantine(quarantine())
        assert [store.end_quarantine(quarantine().place) for _ in range(2)] == [True, False]
        assert store.put(entry()) is PutResult.STORED

    def test_quarantines_are_told_oldest_first_with_their_first_report(self, store: Store) -> None:
        later, first = quarantine(tenant="b", at=NOW + 1), quarantine(customer="é")
        for one in (later, first, quarantine(customer="é", at=NOW + 9)):
            store.add_quarantine(one)
        assert tuple(store.quarantines()) == (first, later)
        assert store.counts()["quarantined"] == 2

    def test_waiting_keys_come_most_often_first(self, store: Store) -> None:
        for key in ("a()", "b()", "b()"):
            store.note_waiting(key, now=NOW)
        assert list(store.waiting().items()) == [("b()", 2), ("a()", 1)]

    def test_counts_follow_the_entries(self, store: Store) -> None:
        store.put_many([entry(tenant=tenant) for tenant in "abc"])
        store.retire(entry(tenant="a").id, reason="false_hit", now=NOW)
        counts = store.counts()
        assert (counts["entries"], counts["history"], counts["evicted"], counts["damaged"]) == (2, 1, 0, 0)

    def test_close_can_be_repeated(self, store: Store) -> None:
        store.close()
        store.close()

    def test_one_of_many_threads_gets_the_lease(self, store: Store) -> None:
        granted: list[bool] = []
        start = threading.Barrier(8)

        def ask(number: int) -> None:
            start.wait()
            granted.append(lease_for(store, entry(), holder=str(number)).granted)

        _in_threads(ask, 8)
        assert sorted(granted) == [False] * 7 + [True]

    def test_threads_lose_no_puts(self, store: Store) -> None:
        def fill(number: int) -> None:
            for turn in range(10):
                store.put(entry(tenant=f"{number}-{turn}"))

        _in_threads(fill, 4)
        assert len(list(store.find(Selector()))) == 40


class SharedStoreContract:
    """What every store does that more than one process can use; `views` gives two views of the same data."""

    @pytest.fixture
    def views(self) -> Iterator[tuple[Store, Store]]:
        raise NotImplementedError

    def test_one_view_sees_what_the_other_puts(self, views: tuple[Store, Store]) -> None:
        here, there = views
        here.put(entry())
        assert tuple(there.get(entry().cell)) == (entry(),)

    def test_one_view_sees_what_the_other_switches_off(self, views: tuple[Store, Store]) -> None:
        here, there = views
        here.set_switch("cancel_order", off=True, now=NOW)
        assert there.switches() == {"cancel_order"}

    def test_one_view_respects_the_lease_of_the_other(self, views: tuple[Store, Store]) -> None:
        here, there = views
        lease_for(here, entry(), holder="a")
        assert not lease_for(there, entry(), holder="b").granted

    def test_quarantine_in_one_view_refuses_what_the_other_was_making(self, views: tuple[Store, Store]) -> None:
        here, there = views
        lease = lease_for(there, entry())
        here.add_quarantine(quarantine())
        assert there.put(entry(), lease=lease) in (PutResult.QUARANTINED, PutResult.INVALIDATED)
        assert tuple(there.get(entry().cell)) == ()

    def test_an_invalidation_in_one_view_refuses_what_the_other_was_making(self, views: tuple[Store, Store]) -> None:
        here, there = views
        lease = lease_for(there, entry())
        here.invalidate(Selector(intent="cancel_order"), reason="invalidated", now=NOW)
        assert there.put(entry(), lease=lease) is PutResult.INVALIDATED


class BoundedStoreContract:
    """What every store does when it is full; `small` holds three entries and remembers two that left."""

    @pytest.fixture
    def small(self) -> Iterator[Store]:
        raise NotImplementedError

    def test_oldest_learned_leaves_first(self, small: Store) -> None:
        small.put(entry(tenant="approved", origin=Origin.APPROVED, created=NOW))
        for number, tenant in enumerate("abc", start=1):
            small.put(entry(tenant=tenant, created=NOW + number))
        assert {found.address.namespace.tenant for found in small.find(Selector())} == {"approved", "b", "c"}

    def test_expired_leaves_before_a_valid_older_one(self, small: Store) -> None:
        small.put(entry(tenant="valid", created=NOW))
        small.put(entry(tenant="over", created=NOW + 1, life=1))
        for number, tenant in enumerate("ab", start=5):
            small.put(entry(tenant=tenant, created=NOW + number))
        assert {found.address.namespace.tenant for found in small.find(Selector())} == {"valid", "a", "b"}

    def test_approved_leave_when_there_is_nothing_else(self, small: Store) -> None:
        for number in range(5):
            small.put(entry(tenant=str(number), origin=Origin.APPROVED, created=NOW + number))
        assert {found.address.namespace.tenant for found in small.find(Selector())} == {"2", "3", "4"}

    def test_evictions_are_counted_and_the_history_is_bounded(self, small: Store) -> None:
        for number in range(9):
            small.put(entry(tenant=str(number), created=NOW + number))
        counts = small.counts()
        assert (counts["entries"], counts["history"], counts["evicted"]) == (3, 2, 6)


def _in_threads(work: object, number: int) -> None:
    assert callable(work)
    threads = [threading.Thread(target=work, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
