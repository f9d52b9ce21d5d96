from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from slotcache.errors import Abstain
from slotcache.evaluation.causes import Cause, Stage, silence
from slotcache.parsing.learned import LearnedReading
from slotcache.parsing.parser import Trace
from slotcache.parsing.reading import Reading
from slotcache.parsing.types import Parse


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "normalise empty", id="nothing asked"),
        pytest.param("can i renew a bоok", "normalise unreadable", id="a Cyrillic letter"),
        pytest.param("how do i renew a zeppelin", "guard residue: zeppelin", id="a word that the domain lacks"),
        pytest.param("how do i renew a qwxzv", "spelling unknown word: qwxzv", id="a word that no language has"),
        pytest.param("book", "fill no frame: book", id="known words that no intent claims"),
        pytest.param("can i renew a dvd or a magazine", "fill conflict: medium=book, medium=dvd", id="two values"),
        pytest.param("how do i not renew a book", "guard protected negation: not", id="a loose protected word"),
        pytest.param("mail jo@example.org how to renew a book", "owner personal: email", id="personal data"),
    ],
)
def test_causes_of_a_silence(seen, text: str, told: str) -> None:
    assert str(seen(text).cause) == told


def test_causes_of_a_key_there_are_none(seen) -> None:
    assert seen("how do i renew a book").cause is None


@dataclass
class _Slots:
    """What the learned reader saw."""

    intent: tuple[str, float]
    slots: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)


def _trace(learned: _Slots, *readings: Reading) -> Trace:
    intents = (learned.intent, ("other", 0.0))
    return Trace("", readings=list(readings), learned=LearnedReading((), intents, learned.slots))


STANDING = Reading("renew_loan", {"medium": "book"})


@pytest.mark.parametrize(
    ("abstain", "trace", "cause"),
    [
        pytest.param(
            Abstain.READERS_DISAGREE,
            _trace(_Slots(("fines", 0.99)), STANDING),
            Cause(Stage.AGREEMENT, "another intent", ("renew_loan against fines 99%",)),
            id="the learned reader names another intent",
        ),
        pytest.param(
            Abstain.READERS_DISAGREE,
            _trace(_Slots(("fines", 0.4), {"medium": (("dvd", 0.999),)}), STANDING),
            Cause(Stage.AGREEMENT, "another value of medium", ("medium=book against dvd 100%",)),
            id="it is surer of another value",
        ),
        pytest.param(
            Abstain.OUT_OF_SCOPE,
            _trace(_Slots(("out_of_scope", 0.99)), STANDING),
            Cause(Stage.AGREEMENT, "out of scope against a reading", ("renew_loan",)),
            id="it refuses a reading that stands",
        ),
        pytest.param(
            Abstain.OUT_OF_SCOPE,
            _trace(_Slots(("out_of_scope", 0.6))),
            Cause(Stage.CLASSIFY, "out of scope"),
            id="it takes the question for none of ours",
        ),
        pytest.param(
            Abstain.AMBIGUOUS,
            _trace(_Slots(("fines", 0.5)), STANDING, Reading("fines")),
            Cause(Stage.CLASSIFY, "ambiguous intent", ("fines", "renew_loan")),
            id="two intents stand",
        ),
        pytest.param(
            Abstain.AMBIGUOUS,
            _trace(_Slots(("fines", 0.5)), STANDING, Reading("renew_loan")),
            Cause(Stage.FILL, "ambiguous values", ("renew_loan",)),
            id="two values stand",
        ),
    ],
)
def test_causes_of_a_silence_by_the_learned_reader(abstain: Abstain, trace: Trace, cause: Cause) -> None:
    assert silence(Parse("", abstain=abstain), trace) == cause


@pytest.mark.parametrize("abstain", list(Abstain))
def test_causes_every_abstention_has_a_stage(abstain: Abstain) -> None:
    trace = Trace("")
    assert silence(Parse("", abstain=abstain), trace).stage in Stage


def test_causes_print_their_words() -> None:
    assert str(Cause(Stage.GUARD, "residue", ("a", "b"))) == "guard residue: a, b"
