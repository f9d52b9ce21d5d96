"""The cache against a model of it that fits on a page: whatever is done in whatever order, they agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from slotcache.address import Scope
from slotcache.parsing.types import Owner
from slotcache.policy import Policy
from slotcache.testing import FakeClock, FakeModel, ScriptedParser, reading
from tests.cache.shells import Bench, everything, make_store

TIMES = ("pre", "post")
QUESTIONS = {
    "cancel pre": reading("cancel pre", "cancel(timing=pre)"),
    "call off pre": reading("call off pre", "cancel(timing=pre)"),
    "cancel post": reading("cancel post", "cancel(timing=post)"),
    "not cancel pre": reading("not cancel pre", "cancel(timing=pre)", fingerprint=("not",)),
    "gran says: cancel pre": reading("gran says: cancel pre", "cancel(timing=pre)", fillable=False),
    "return mine": reading("return mine", "return(timing=post)", owner=Owner.CUSTOMER),
    "gibberish": reading("gibberish", 'verbatim("gibberish")', owner=Owner.CUSTOMER, fillable=False),
    "track": reading("track", "track()", owner=Owner.NEVER),
}
SHARED_LIFE, OWN_LIFE = 100.0, 40.0
texts = st.sampled_from([*sorted(QUESTIONS), "cancel pre", "cancel pre", "return mine"])
# One of each comes up more often than the others, so that actions meet on the same entry.
customers = st.sampled_from(["c1", "c1", "c1", "c2", None])
tenants = st.sampled_from(["a", "a", "a", "b"])
intents = st.sampled_from(["cancel", "return", "verbatim"])
Place = tuple[str, str, str, tuple[str, ...]]


@dataclass
class Known:
    """What the model of the cache knows of one entry."""

    answer: str
    approved: bool
    expires: float
    tag: str
    hit_ids: list[str]


class CacheMachine(RuleBasedStateMachine):
    """Puts, gets, calls, waits, invalidates, approves, reports and switches at random."""

    stores = ("memory", "sqlite")

    @initialize(kind=st.sampled_from(["sync", "async"]), number=st.integers(0, 1))
    def start(self, kind: str, number: int) -> None:
        store = self.stores[number % len(self.stores)]
        self.folder = TemporaryDirectory()
        policy = Policy(ttl=SHARED_LIFE, customer_ttl=OWN_LIFE)
        held = make_store(store, Path(self.folder.name))
        self.bench = Bench(kind, ScriptedParser(QUESTIONS), held, policy, FakeClock())
        self.known: dict[Place, Known] = {}
        self.off: set[str] = set()
        self.reported: dict[str, Place] = {}
        self.quarantined: set[tuple[str, str, str]] = set()
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            self.bench.done()
            self.folder.cleanup()

    def bypass(self, text: str, customer: str | None, *, approved: bool = False) -> str | None:
        parse = QUESTIONS[text]
        assert parse.key is not None
        if parse.owner is Owner.NEVER:
            return "owner_never"
        if parse.owner is Owner.CUSTOMER and customer is None:
            return "no_customer"
        return "intent_off" if parse.key.intent in self.off and not approved else None

    def place(self, text: str, tenant: str, customer: str | None) -> Place:
        parse = QUESTIONS[text]
        owner = (customer or "") if parse.owner is Owner.CUSTOMER else ""
        return tenant, owner, str(parse.key), parse.fingerprint

    def expected(self, text: str, tenant: str, customer: str | None) -> tuple[str, str | None]:
        """The reason and the answer that the cache must give."""
        bypass = self.bypass(text, customer)
        if bypass is not None:
            return bypass, None
        place = self.place(text, tenant, customer)
        known = self.known.get(place)
        if known is None:
            beside = [it for at, it in self.known.items() if at[:3] == place[:3] and self.bench.clock.now < it.expires]
            return ("guard_mismatch" if beside else "not_found"), None
        if self.bench.clock.now >= known.expires:
            return "expired", None
        return ("approved" if known.approved else "learned"), known.answer

    def keep(self, text: str, tenant: str, customer: str | None, answer: str, approved: bool, tag: str) -> str | None:
        """What becomes of an answer that is handed in; the reason why it is not kept."""
        bypass = self.bypass(text, customer, approved=approved)
        if bypass is not None:
            return bypass
        parse = QUESTIONS[text]
        assert parse.key is not None
        if not approved and not parse.fillable and not parse.key.is_verbatim:
            return "not_fillable"
        place, now = self.place(text, tenant, customer), self.bench.clock.now
        if approved:
            self.quarantined.discard(place[:3])
        elif place[:3] in self.quarantined:
            return "quarantined"
        former = self.known.get(place)
        if former is not None and former.approved and not approved and now < former.expires:
            return "approved_exists"
        life = OWN_LIFE if parse.owner is Owner.CUSTOMER else SHARED_LIFE
        self.known[place] = Known(answer, approved, float("inf") if approved else now + life, tag, [])
        return None

    def next_answer(self) -> str:
        self.number += 1
        return f"answer {self.number}."

    @rule(text=texts, tenant=tenants, customer=customers)
    def get(self, text: str, tenant: str, customer: str | None) -> None:
        reason, answer = self.expected(text, tenant, customer)
        outcome = self.bench.get(text, Scope(tenant=tenant, customer=customer))
        assert (outcome.reason, outcome.answer) == (reason, answer)
        if outcome.hit_id:
            self.known[self.place(text, tenant, customer)].hit_ids.append(outcome.hit_id)

    @rule(text=texts, tenant=tenants, customer=customers)
    def ask(self, text: str, tenant: str, customer: str | None) -> None:
        reason, answer = self.expected(text, tenant, customer)
        made = self.next_answer()
        model = FakeModel(lambda _: made)
        outcome = self.bench.ask(text, model, Scope(tenant=tenant, customer=customer))
        assert (outcome.reason, outcome.answer) == (reason, answer or made)
        if answer is None:
            refused = self.keep(text, tenant, customer, made, approved=False, tag="")
            assert outcome.not_stored == (None if outcome.decision == "bypass" else refused)
        else:
            assert model.calls == []

    @rule(text=texts, tenant=tenants, customer=customers, tag=st.sampled_from(["", "t"]))
    def put(self, text: str, tenant: str, customer: str | None, tag: str) -> None:
        made = self.next_answer()
        refused = self.keep(text, tenant, customer, made, approved=False, tag=tag)
        scope = Scope(tenant=tenant, customer=customer)
        assert self.bench.put(text, made, scope, tags=[tag] if tag else []).reason == refused

    @rule(text=texts, tenant=tenants, customer=customers)
    def approve(self, text: str, tenant: str, customer: str | None) -> None:
        made = self.next_answer()
        refused = self.keep(text, tenant, customer, made, approved=True, tag="")
        scope = Scope(tenant=tenant, customer=customer)
        assert self.bench.approve(text, made, scope, author="kim").reason == refused

    @rule(seconds=st.sampled_from([1.0, 20.0, 40.0, 60.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.bench.clock.advance(seconds)

    @rule(intent=intents)
    def invalidate_intent(self, intent: str) -> None:
        self.forget([at for at in self.known if at[2].startswith(f"{intent}(")], intent=intent)

    @rule(timing=st.sampled_from([*TIMES, "*"]))
    def invalidate_slots(self, timing: str) -> None:
        wanted = TIMES if timing == "*" else (timing,)
        chosen = [at for at in self.known if any(f"timing={value})" in at[2] for value in wanted)]
        self.forget(chosen, slots={"timing": timing})

    @rule()
    def invalidate_tag(self) -> None:
        self.forget([at for at, known in self.known.items() if known.tag == "t"], tag="t")

    @rule(tenant=tenants)
    def invalidate_tenant(self, tenant: str) -> None:
        self.forget([at for at in self.known if at[0] == tenant], tenant=tenant)

    def forget(self, chosen: list[Place], **what: object) -> None:
        assert self.bench.invalidate(**what, dry_run=True).count == len(chosen)
        assert self.bench.invalidate(**what).count == len(chosen)
        for at in chosen:
            del self.known[at]

    @precondition(lambda self: any(known.hit_ids for known in self.known.values()))
    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        hits = sorted((at, hit_id) for at, known in self.known.items() for hit_id in known.hit_ids)
        at, hit_id = data.draw(st.sampled_from(hits))
        assert self.bench.report_false_hit(hit_id).evicted
        self.reported[hit_id] = at
        self.quarantined.add(at[:3])
        del self.known[at]

    @precondition(lambda self: bool(self.reported))
    @rule(data=st.data())
    def report_again(self, data: st.DataObject) -> None:
        hit_id = data.draw(st.sampled_from(sorted(self.reported)))
        place = self.reported[hit_id]
        known = self.known.get(place)
        replaced = known is not None and known.approved
        report = self.bench.report_false_hit(hit_id)
        assert (report.evicted, report.quarantined) == (False, not replaced)
        if not replaced:
            self.quarantined.add(place[:3])

    @precondition(lambda self: bool(self.quarantined))
    @rule(data=st.data())
    def clear_quarantine(self, data: st.DataObject) -> None:
        tenant, owner, key = data.draw(st.sampled_from(sorted(self.quarantined)))
        assert self.bench.clear_quarantine(key, tenant=tenant, customer=owner)
        self.quarantined.discard((tenant, owner, key))

    @rule(intent=intents, off=st.booleans())
    def switch(self, intent: str, off: bool) -> None:
        (self.bench.switch_off if off else self.bench.switch_on)(intent)
        (self.off.add if off else self.off.discard)(intent)

    @rule()
    def sweep(self) -> None:
        now = self.bench.clock.now
        over = [at for at, known in self.known.items() if now >= known.expires]
        assert self.bench.store.sweep(now) == len(over)
        for at in over:
            del self.known[at]

    @invariant()
    def holds_exactly_what_it_should(self) -> None:
        if not hasattr(self, "bench"):
            return
        held = {
            (space.tenant, space.customer, str(entry.key), entry.address.fingerprint): entry.answer
            for entry in self.bench.store.find(everything())
            for space in [entry.address.namespace]
        }
        assert held == {at: known.answer for at, known in self.known.items()}


CacheMachine.TestCase.settings = settings(max_examples=120, stateful_step_count=50, deadline=None)
TestCacheMachine = CacheMachine.TestCase
