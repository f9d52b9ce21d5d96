from __future__ import annotations

from typing import Any

import pytest

from slotcache import errors
from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.decide import Admitted, Bypass, Hit, Miss, admit, decide, entry_for, may_fill, recall
from slotcache.entry import Entry, Origin
from slotcache.errors import Abstain, NotStored
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import DAY, PLAIN, Directives, Policy
from slotcache.prompts import read_prompt
from slotcache.testing import reading

NOW = 1_700_000_000.0
CUSTOMER = Scope(tenant="acme", customer="c1")
KEY = "cancel_order(timing=pre_shipment)"
SHARED = reading("can i cancel?", KEY)
OWN = reading("cancel mine", KEY, owner=Owner.CUSTOMER)
LIVE = reading("where is it?", "track_order()", owner=Owner.NEVER)
VERBATIM = reading("blorp?", 'verbatim("blorp?")', owner=Owner.CUSTOMER, abstain=Abstain.OUT_OF_SCOPE, fillable=False)


def admitted(parse: Parse, scope: Scope = CUSTOMER, policy: Policy | None = None, **options: Any) -> Admitted:
    verdict = judged(parse, scope, policy, **options)
    assert isinstance(verdict, Admitted)
    return verdict


def judged(parse: Parse, scope: Scope, policy: Policy | None = None, **options: Any) -> Admitted | Bypass:
    policy = policy or Policy()
    return admit(parse, scope, policy, prompt=read_prompt(scope, policy.prompts), **options)


def held(parse: Parse = SHARED, scope: Scope = CUSTOMER, policy: Policy | None = None, **changes: Any) -> Entry:
    policy = policy or Policy()
    entry = entry_for(admitted(parse, scope, policy), parse, Answer("yes"), policy, NOW, token="0" * 16)
    return entry.but(**changes)


@pytest.mark.parametrize(
    ("parse", "scope", "reason"),
    [
        (Parse("x", abstain=Abstain.OUT_OF_SCOPE), CUSTOMER, errors.Bypass.NO_KEY),
        (Parse("x", abstain=Abstain.INTENT_OFF), CUSTOMER, errors.Bypass.INTENT_OFF),
        (Parse("x", abstain=Abstain.FOLLOW_UP), CUSTOMER, errors.Bypass.CONTEXT_DEPENDENT),
        (LIVE, CUSTOMER, errors.Bypass.OWNER_NEVER),
        (OWN, Scope(), errors.Bypass.NO_CUSTOMER),
        (VERBATIM, Scope(), errors.Bypass.NO_CUSTOMER),
        (reading("x", KEY, owner=None), CUSTOMER, errors.Bypass.OWNER_NEVER),
        (reading("x", KEY, personal=("order",)), Scope(), errors.Bypass.NO_CUSTOMER),
    ],
)
def test_decide_bypasses_what_has_no_place(parse: Parse, scope: Scope, reason: errors.Bypass) -> None:
    assert decide(parse, scope, Policy(), (), NOW) == Bypass(reason)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"directives": Directives(no_cache=True)}, errors.Bypass.NO_CACHE),
        ({"off": {"cancel_order"}}, errors.Bypass.INTENT_OFF),
        ({"policy": Policy(intents_off=frozenset({"cancel_order"}))}, errors.Bypass.INTENT_OFF),
        ({"scope": Scope(prompt="a"), "prompt_varies": True}, errors.Bypass.PROMPT_UNDECLARED),
    ],
)
def test_decide_bypasses_for_reasons_of_the_moment(options: dict[str, Any], reason: errors.Bypass) -> None:
    scope, policy = options.pop("scope", CUSTOMER), options.pop("policy", Policy())
    assert decide(SHARED, scope, policy, (held(),), NOW, **options) == Bypass(reason)


def test_decide_takes_a_declared_prompt_whatever_varies() -> None:
    scope = CUSTOMER.but(prompt_version="v1")
    assert isinstance(decide(SHARED, scope, Policy(), (held(scope=scope),), NOW, prompt_varies=True), Hit)


def test_decide_serves_the_answer_to_the_same_question() -> None:
    assert decide(SHARED, CUSTOMER, Policy(), (held(),), NOW + 5) == Hit(held(), 5.0)


def test_decide_finds_nothing_in_an_empty_cell() -> None:
    assert decide(SHARED, CUSTOMER, Policy(), (), NOW) == Miss(errors.Miss.NOT_FOUND)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [((), ("not",)), (("not",), ()), (("not",), ("never",)), (("a", "b"), ("b", "a"))],
)
def test_decide_blocks_a_one_sided_protected_word_and_names_the_near_miss(
    stored: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    near = held(reading("one", KEY, fingerprint=stored))
    other = reading("other", KEY, fingerprint=asked)
    assert decide(other, CUSTOMER, Policy(), (near,), NOW) == Miss(errors.Miss.GUARD_MISMATCH, near=near)


def test_decide_serves_a_paraphrase_whose_protected_words_the_key_carries() -> None:
    other = reading("cancel before shipping?", KEY, protected={"event": ("before",)})
    assert isinstance(decide(other, CUSTOMER, Policy(), (held(),), NOW), Hit)


def test_decide_takes_the_variant_that_fits() -> None:
    plain = held()
    negated = held(reading("one", KEY, fingerprint=("not",)), answer="no")
    assert decide(SHARED, CUSTOMER, Policy(), (plain, negated), NOW) == Hit(plain, 0.0)


def test_decide_does_not_name_an_expired_near_miss() -> None:
    near = held(reading("one", KEY, fingerprint=("not",)))
    assert decide(SHARED, CUSTOMER, Policy(), (near,), NOW + 8 * DAY) == Miss(errors.Miss.NOT_FOUND)


@pytest.mark.parametrize(
    "wrong",
    [
        held(scope=CUSTOMER.but(tenant="other")),
        held(reading("x", "cancel_order(timing=post_shipment)")),
    ],
    ids=["tenant", "key"],
)
def test_decide_never_serves_an_entry_that_lies_in_the_wrong_place(wrong: Entry) -> None:
    decision = decide(SHARED, CUSTOMER, Policy(), (wrong,), NOW)
    assert decision == Miss(errors.Miss.GUARD_MISMATCH, near=wrong)


@pytest.mark.parametrize(("after", "kind"), [(7 * DAY - 0.001, Hit), (7 * DAY, Miss)])
def test_decide_expiry_is_absolute_and_exclusive(after: float, kind: type[Hit | Miss]) -> None:
    assert isinstance(decide(SHARED, CUSTOMER, Policy(), (held(),), NOW + after), kind)


@pytest.mark.parametrize(("back", "reason"), [(60.0, None), (61.0, errors.Miss.EXPIRED)])
def test_decide_does_not_trust_an_entry_from_the_future(back: float, reason: errors.Miss | None) -> None:
    decision = decide(SHARED, CUSTOMER, Policy(), (held(),), NOW - back)
    assert decision == (Hit(held(), 0.0) if reason is None else Miss(reason))


@pytest.mark.parametrize(
    ("policy", "directives", "reason"),
    [
        (Policy(approved_only=True), PLAIN, errors.Miss.NOT_APPROVED),
        (Policy(observe=True), PLAIN, errors.Miss.OBSERVED),
        (Policy(), Directives(max_age=10), errors.Miss.TOO_OLD),
        (Policy(), Directives(max_age=0), errors.Miss.TOO_OLD),
    ],
    ids=["approved_only", "observe", "max_age", "max_age_0"],
)
def test_decide_withholds_what_the_rules_forbid_and_names_it(
    policy: Policy, directives: Directives, reason: errors.Miss
) -> None:
    decision = decide(SHARED, CUSTOMER, policy, (held(),), NOW + 10, directives=directives)
    assert decision == Miss(reason, withheld=held())


def test_decide_serves_approved_answers_where_only_they_are_served() -> None:
    approved = held(origin=Origin.APPROVED)
    assert isinstance(decide(SHARED, CUSTOMER, Policy(approved_only=True), (approved,), NOW), Hit)


def test_decide_serves_an_answer_just_younger_than_max_age() -> None:
    assert isinstance(decide(SHARED, CUSTOMER, Policy(), (held(),), NOW + 9, directives=Directives(max_age=10)), Hit)


def test_admit_shares_a_shared_key_between_customers() -> None:
    one, other = (admitted(SHARED, CUSTOMER.but(customer=name)) for name in ("c1", None))
    assert one.address == other.address


@pytest.mark.parametrize("parse", [OWN, VERBATIM], ids=["customer", "verbatim"])
def test_admit_keeps_the_answers_of_customers_apart(parse: Parse) -> None:
    one, other = (admitted(parse, CUSTOMER.but(customer=name)) for name in ("c1", "c2"))
    assert one.address.cell != other.address.cell


def test_admit_keeps_a_customers_answer_apart_from_the_shared_one() -> None:
    assert admitted(SHARED).address.cell != admitted(OWN).address.cell


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "x"},
        {"locale": "x"},
        {"model": "x"},
        {"prompt_version": "x"},
        {"prompt": "x"},
        {"policy_epoch": "x"},
        {"context": "x"},
        {"extra": (("tools", "x"),)},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("parse", [SHARED, OWN, VERBATIM], ids=["shared", "customer", "verbatim"])
def test_admit_separates_by_each_field_of_the_scope(parse: Parse, change: dict[str, Any]) -> None:
    assert admitted(parse, CUSTOMER.but(**change)).address.cell != admitted(parse).address.cell


def test_admit_separates_by_the_parser_that_read() -> None:
    assert admitted(SHARED, generation="1").address.cell != admitted(SHARED, generation="2").address.cell


def test_admit_does_not_separate_by_what_varies_in_the_prompt() -> None:
    one, other = (admitted(SHARED, CUSTOMER.but(prompt_version="1", varying=(name,))) for name in ("Anna", "Bob"))
    assert one.address == other.address


def test_admit_leaves_the_context_out_of_a_self_contained_question_where_allowed() -> None:
    policy = Policy(self_contained_context=True)
    assert admitted(SHARED, CUSTOMER.but(context="hi"), policy).address == admitted(SHARED, CUSTOMER, policy).address


def test_admit_never_leaves_the_context_out_of_a_verbatim_key() -> None:
    policy = Policy(self_contained_context=True)
    assert (
        admitted(VERBATIM, CUSTOMER.but(context="hi"), policy).address != admitted(VERBATIM, CUSTOMER, policy).address
    )


def test_admit_takes_a_follow_up_with_its_context() -> None:
    follow_up = reading("and after?", 'verbatim("and after?")', owner=Owner.CUSTOMER, abstain=Abstain.FOLLOW_UP)
    one, other = (admitted(follow_up, CUSTOMER.but(context=said)) for said in ("a", "b"))
    assert one.address.cell != other.address.cell


@pytest.mark.parametrize(
    ("parse", "policy", "owner"),
    [
        (SHARED, Policy(), Owner.SHARED),
        (VERBATIM, Policy(), Owner.CUSTOMER),
        (VERBATIM, Policy(verbatim_owner=Owner.SHARED), Owner.SHARED),
        (reading("x", 'verbatim("x")', personal=("order",)), Policy(verbatim_owner=Owner.SHARED), Owner.CUSTOMER),
        (
            reading("x", 'verbatim("x")', abstain=Abstain.PERSONAL),
            Policy(verbatim_owner=Owner.CUSTOMER),
            Owner.CUSTOMER,
        ),
        (reading("x", KEY, personal=("order",)), Policy(), Owner.CUSTOMER),
        (LIVE, Policy(live_ttl={"track_order": 30}), Owner.CUSTOMER),
    ],
)
def test_admit_gives_the_owner(parse: Parse, policy: Policy, owner: Owner) -> None:
    assert admitted(parse, CUSTOMER.but(context="c"), policy).owner is owner


@pytest.mark.parametrize(
    "parse",
    [
        reading("x", 'verbatim("x")', owner=Owner.NEVER),
        reading("x", 'verbatim("x")', owner=Owner.NEVER, personal=("order",)),
    ],
    ids=["never", "never and personal"],
)
def test_admit_never_widens_never(parse: Parse) -> None:
    assert judged(parse, CUSTOMER, Policy(verbatim_owner=Owner.SHARED)) == Bypass(errors.Bypass.OWNER_NEVER)


def test_admit_lets_the_operator_switch_verbatim_keys_off() -> None:
    assert judged(VERBATIM, CUSTOMER, Policy(verbatim_owner=Owner.NEVER)) == Bypass(errors.Bypass.OWNER_NEVER)


def test_admit_ties_a_question_to_its_asker_when_the_cache_finds_personal_data() -> None:
    assert admitted(SHARED, personal=True).owner is Owner.CUSTOMER


@pytest.mark.parametrize(
    ("parse", "policy", "life"),
    [
        (SHARED, Policy(ttl=100), 100),
        (OWN, Policy(customer_ttl=50), 50),
        (SHARED, Policy(ttl_by_intent={"cancel_order": 20}), 20),
        (LIVE, Policy(live_ttl={"track_order": 30}, ttl_by_intent={"track_order": 900}), 30),
        (VERBATIM, Policy(ttl_by_intent={"verbatim": 40}), 40),
    ],
)
def test_admit_gives_the_life_of_an_answer(parse: Parse, policy: Policy, life: float) -> None:
    assert admitted(parse, CUSTOMER, policy).ttl == life


@pytest.mark.parametrize(
    ("parse", "options", "reason"),
    [
        (SHARED, {}, None),
        (reading("gran says ...", KEY, fillable=False), {}, NotStored.NOT_FILLABLE),
        (reading("gran says ...", KEY, fillable=False, owner=Owner.CUSTOMER), {}, NotStored.NOT_FILLABLE),
        (SHARED, {"personal_prompt": True}, NotStored.NOT_FILLABLE),
        (OWN, {"personal_prompt": True}, None),
        (VERBATIM, {}, None),
        (SHARED, {"directives": Directives(no_store=True)}, NotStored.NO_STORE),
        (SHARED, {"policy": Policy(approved_only=True)}, NotStored.APPROVED_ONLY),
    ],
)
def test_may_fill_only_from_clean_questions(parse: Parse, options: dict[str, Any], reason: NotStored | None) -> None:
    policy, directives = options.pop("policy", Policy()), options.pop("directives", PLAIN)
    assert may_fill(admitted(parse, CUSTOMER, policy, **options), policy, directives) is reason


@pytest.mark.parametrize(
    ("origin", "policy", "ttl", "expires"),
    [
        (Origin.LEARNED, Policy(ttl=100), None, NOW + 100),
        (Origin.LEARNED, Policy(ttl=100), 10, NOW + 10),
        (Origin.LEARNED, Policy(ttl=100), 1_000, NOW + 100),
        (Origin.APPROVED, Policy(ttl=100), None, None),
        (Origin.APPROVED, Policy(approved_ttl=500), None, NOW + 500),
        (Origin.APPROVED, Policy(), 10, NOW + 10),
    ],
)
def test_entry_for_lets_callers_only_shorten_its_life(
    origin: Origin, policy: Policy, ttl: float | None, expires: float | None
) -> None:
    place = admitted(SHARED, CUSTOMER, policy)
    entry = entry_for(place, SHARED, Answer("yes"), policy, NOW, token="0" * 16, origin=origin, ttl=ttl)
    assert entry.expires == expires


def test_recall_gives_the_age() -> None:
    assert recall(admitted(SHARED), (held(),), Policy(), NOW + 12.5) == Hit(held(), 12.5)
