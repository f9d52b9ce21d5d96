from __future__ import annotations

from dataclasses import replace

import pytest

from slotcache.errors import Abstain
from slotcache.evaluation.blame import apart, leaked, let_in, met, misread, missed, tally
from slotcache.evaluation.causes import Cause, Stage
from slotcache.evaluation.sight import Sight
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse


def _keyed(printed: str, *, owner: Owner = Owner.SHARED, fingerprint: tuple[str, ...] = (), **more) -> Sight:
    key = Key.parse(printed)
    protected = {"negation": fingerprint} if fingerprint else {}
    parse = Parse(
        printed,
        key=key,
        intent=key.intent,
        slots=key.as_dict(),
        owner=owner,
        fingerprint=fingerprint,
        protected=protected,
    )
    return Sight(parse, **more)


BOOK = _keyed("renew_loan(medium=book)")
SILENT = Sight(Parse("x", abstain=Abstain.RESIDUE), cause=Cause(Stage.GUARD, "residue", ("x",)))
REFUSED = Sight(
    Parse("y", abstain=Abstain.OUT_OF_SCOPE),
    cause=Cause(Stage.CLASSIFY, "out of scope"),
    proposed=frozenset({"fines"}),
)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (BOOK, _keyed("renew_loan(medium=dvd)"), "fill two keys, medium: medium: book / dvd"),
        (BOOK, _keyed("fines()"), "classify two intents: renew_loan / fines"),
        (BOOK, _keyed("renew_loan(medium=book)", fingerprint=("not",)), "guard fingerprint negation: not"),
        (BOOK, _keyed("renew_loan(medium=book)", owner=Owner.CUSTOMER), "owner owners differ: shared / customer"),
        (*[_keyed("my_loans()", owner=Owner.NEVER)] * 2, "owner never cached: my_loans"),
    ],
)
def test_blame_two_keys_that_do_not_meet(a: Sight, b: Sight, told: str) -> None:
    assert str(apart(a, b)) == told


@pytest.mark.parametrize(
    ("a", "b", "causes"),
    [
        (SILENT, BOOK, [SILENT.cause]),
        (SILENT, REFUSED, [SILENT.cause, REFUSED.cause]),
        (SILENT, SILENT, [SILENT.cause]),
    ],
)
def test_blame_missed_names_each_side(a: Sight, b: Sight, causes: list[Cause]) -> None:
    assert list(missed(a, b)) == causes


def test_blame_a_refusal_of_what_was_never_proposed_is_the_proposals() -> None:
    assert missed(REFUSED, BOOK) == (Cause(Stage.PROPOSE, "not proposed, out of scope"),)


def test_blame_a_refusal_of_what_was_proposed_stays_the_classifiers() -> None:
    proposed = replace(REFUSED, proposed=frozenset({"renew_loan"}))
    assert missed(proposed, BOOK) == (REFUSED.cause,)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        pytest.param("how do i renew a book", "hello how do i renew a book", "guard passed over", id="a filler"),
        pytest.param("how do i renew a book", "how do i renew a novel", "fill taken for one thing", id="a synonym"),
        pytest.param(
            "how do i renew a novel", "how do i renew a novle", "spelling repaired to one word", id="a repair"
        ),
        pytest.param("how do i renew a book", "How do I renew a book?", "normalise same words", id="spelling only"),
        pytest.param(
            "how do i renew a magazine", "how do i renew a magazine?", "fill merged values", id="a merged value"
        ),
    ],
)
def test_blame_met_says_what_became_of_the_difference(seen, a: str, b: str, told: str) -> None:
    first, second = seen(a), seen(b)
    assert first.parse.key == second.parse.key
    assert str(met(first, second)).startswith(told)


def test_blame_met_names_the_words(seen) -> None:
    cause = met(seen("how do i renew a book"), seen("how do i renew a novel"))
    assert any(word.startswith("novel is ") for word in cause.detail)


def test_blame_met_by_verbatim_keys() -> None:
    parse = Parse("x", key=Key.verbatim("x"), owner=Owner.CUSTOMER, abstain=Abstain.RESIDUE, canonical="x")
    assert met(Sight(parse), Sight(parse)) == Cause(Stage.NORMALISE, "same words", ("x",))


def test_blame_met_by_a_dropped_slot() -> None:
    dropped = _keyed("renew_loan(medium=book)", ignored=("colour",), words=(("red", "colour=red"),))
    assert met(BOOK, dropped) == Cause(Stage.FILL, "dropped colour", ("red is colour=red",))


@pytest.mark.parametrize(
    ("intents", "stage"),
    [
        ((), Stage.FILL),
        ((("out_of_scope", 0.8),), Stage.AGREEMENT),
        ((("renew_loan", 0.8),), Stage.CLASSIFY),
    ],
)
def test_blame_let_in(intents: tuple, stage: Stage) -> None:
    assert let_in(replace(BOOK, intents=intents)).stage is stage


def test_blame_leaked_names_the_intent() -> None:
    assert leaked(BOOK).detail == ("renew_loan",)


@pytest.mark.parametrize(
    ("sight", "intent", "slots", "told"),
    [
        pytest.param(BOOK, "renew_loan", {"medium": "dvd"}, "fill wrong medium", id="another value"),
        pytest.param(BOOK, "renew_loan", {}, "fill finer by medium", id="more than the label says"),
        pytest.param(BOOK, "fines", {}, "classify another intent", id="another intent"),
        pytest.param(
            replace(BOOK, intents=(("fines", 0.7),)),
            "fines",
            {},
            "agreement learned reader not heeded",
            id="the learned one knew",
        ),
        pytest.param(replace(BOOK, proposed=frozenset()), "fines", {}, "propose not proposed", id="never proposed"),
        pytest.param(
            replace(BOOK, repairs={"boook": "book"}, words=(("book", "medium=book"),)),
            "renew_loan",
            {"medium": "dvd"},
            "spelling repaired to a wrong medium",
            id="a repair",
        ),
    ],
)
def test_blame_misread(sight: Sight, intent: str, slots: dict[str, str], told: str) -> None:
    assert str(misread(sight, intent, slots)).startswith(told)


def test_blame_tally_counts_errors_with_one_cause_apart() -> None:
    residue, frame = Cause(Stage.GUARD, "residue", ("x",)), Cause(Stage.FILL, "no frame", ("y",))
    other_word = replace(residue, detail=("z",))
    got = tally([(residue,), (residue, other_word), (residue, frame)])
    assert [(t.cause, t.count, t.alone) for t in got] == [("residue", 3, 2), ("no frame", 1, 0)]
    assert dict(got[0].words) == {"x": 3, "z": 1}
