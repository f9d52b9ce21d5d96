from __future__ import annotations

import pytest

from slotcache.errors import Abstain
from slotcache.evaluation.replay import Replay, ReplayReport
from slotcache.evaluation.traffic import Asked
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import Policy
from slotcache.stores.memory import MemoryStore


class _Parser:
    """`key: words` has that key and may fill it; anything else has none."""

    version = "m1"
    domain_hash = "d1"

    def parse(self, text: str) -> Parse:
        intent, colon, words = text.partition(": ")
        if not colon:
            return Parse(text, abstain=Abstain.OUT_OF_SCOPE, canonical=text)
        return Parse(text, key=Key.of(intent), intent=intent, owner=Owner.SHARED, canonical=words, fillable=True)


def _replay(*traffic: Asked, policy: Policy | None = None) -> ReplayReport:
    run = Replay(_Parser(), MemoryStore(), call=lambda text: f"said to {text}", policy=policy)
    list(run.run(traffic))
    return run.report


def _answered(text: str, answer: str, **more) -> Asked:
    return Asked(text, truth=answer, answer=answer, **more)


def test_replay_counts_outcomes_by_reason() -> None:
    got = _replay(Asked("a: x"), Asked("a: y"), Asked("hello"))
    assert dict(got.outcomes) == {("miss", "not_found"): 1, ("hit", "learned"): 1, ("bypass", "no_key"): 1}
    assert (got.asked, got.hits, dict(got.abstained)) == (3, 1, {"out_of_scope": 1})


def test_replay_unlabelled_judges_nothing() -> None:
    got = _replay(Asked("a: x"), Asked("a: y"))
    assert (got.labelled, got.repeats, got.false_hits) == (0, 0, [])


def test_replay_lists_false_hits_by_answer() -> None:
    (wrong,) = _replay(_answered("a: x", "yes"), _answered("a: y", "no"), _answered("a: z", "yes")).false_hits
    assert (wrong.asked, wrong.filled_by, wrong.key, wrong.expected, wrong.served) == (
        "a: y",
        "a: x",
        "a()",
        "no",
        "yes",
    )


def test_replay_lists_false_hits_by_label() -> None:
    traffic = [Asked("a: x", truth="q1"), Asked("a: y", truth="q2"), Asked("a: z", truth="q1")]
    assert [wrong.asked for wrong in _replay(*traffic).false_hits] == ["a: y"]


def test_replay_counts_what_an_ideal_cache_would_hit() -> None:
    got = _replay(_answered("a: x", "yes"), _answered("b: x", "yes"), _answered("c: x", "no"))
    assert (got.labelled, got.repeats) == (3, 1)


def test_replay_counts_hits_by_kind() -> None:
    got = _replay(
        _answered("a: x", "yes", kind="policy"), _answered("a: y", "yes", kind="policy"), Asked("b", kind="live")
    )
    assert got.by_kind == {"policy": [2, 1], "live": [1, 0]}


@pytest.mark.parametrize(("second", "hits"), [(149.0, 1), (150.0, 0), (10.0, 1)], ids=["young", "expired", "earlier"])
def test_replay_clock_follows_the_traffic(second: float, hits: int) -> None:
    got = _replay(_answered("a: x", "yes", at=50.0), _answered("a: y", "yes", at=second), policy=Policy(ttl=100.0))
    assert got.hits == hits


def test_replay_counts_answers_that_are_not_kept() -> None:
    assert dict(_replay(_answered("a: x", "write to jo@example.com")).not_stored) == {"personal_answer": 1}


def test_replay_counts_tokens_spent_and_saved() -> None:
    got = _replay(_answered("a: x", "y" * 40), _answered("a: x", "y" * 40))
    assert (got.spent_tokens, got.saved_tokens) == (11, 11)


def test_replay_keeps_every_turn() -> None:
    turns = _replay(Asked("a: x"), Asked("a: y"), Asked("hello")).turns
    assert [(turn.key, turn.decision) for turn in turns] == [("a()", "miss"), ("a()", "hit"), (None, "bypass")]
