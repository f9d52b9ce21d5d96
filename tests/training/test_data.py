"""The training text: labels, and a split that leaks nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from slotcache.domain.schema import Domain
from training.data import FIT, check, examples, load

VOICES = ("terse", "rambling", "phone", "typo", "caps", "british", "american", "indian", "passive", "polite")


def write(path: Path, rows: Iterable[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "orders.jsonl",
        (
            {"group": f"ord-{at:03}", "kind": "policy", "voice": voice, "text": f"{voice} words of meaning {at}"}
            for at in range(20)
            for voice in VOICES
        ),
    )
    write(tmp_path / "labels_orders.jsonl", [{"group": "ord-000", "key": "cancel_order(timing=post_shipment)"}])
    write(
        tmp_path / "out_of_scope.jsonl",
        [
            {"group": "oos-1", "kind": "far_oos", "text": "will it rain"},
            {"group": "oos-2", "kind": "personal_data", "text": "my mail is a@example.org"},
        ],
    )
    return tmp_path


def test_data_labels_the_wordings_of_a_labelled_group(folder: Path) -> None:
    found = {e.text: (e.intent, dict(e.slots)) for e in examples(load(folder).utterances)}
    assert found["terse words of meaning 0"] == ("cancel_order", {"timing": "post_shipment"})


def test_data_takes_groups_for_intents_only_on_request(folder: Path) -> None:
    corpus = load(folder)
    assert {e.intent for e in examples(corpus.utterances)} == {"cancel_order", "out_of_scope/far_oos"}
    assert "ord_001" in {e.intent for e in examples(corpus.utterances, by_group=True)}


def test_data_leaves_personal_data_out(folder: Path) -> None:
    assert not any("@" in utterance.text for utterance in load(folder).utterances)


def test_data_keeps_a_voice_of_a_family_on_one_side(folder: Path) -> None:
    sides: dict[tuple[str, str], set[str]] = {}
    for utterance in load(folder).utterances:
        sides.setdefault((utterance.family, utterance.voice), set()).add(utterance.split)
    assert all(len(found) == 1 for found in sides.values())


def test_data_splits_the_same_way_every_time(folder: Path) -> None:
    assert load(folder) == load(folder)


def test_data_holds_nothing_out_that_was_fitted_in_another_order(folder: Path) -> None:
    rows = [
        {
            "group": f"x-{at}",
            "voice": voice,
            "text": f"is {at} back in stock" if at % 2 else f"back in stock is {at - 1}",
        }
        for at in range(1, 40)
        for voice in VOICES
    ]
    write(folder / "stock.jsonl", [{**row, "group": "x"} for row in rows])
    utterances = load(folder).utterances
    fitted = {frozenset(u.text.split()) for u in utterances if u.split == FIT}
    assert not [u for u in utterances if u.split != FIT and frozenset(u.text.split()) in fitted]


def test_data_drops_a_text_with_two_meanings(folder: Path) -> None:
    write(folder / "more.jsonl", [{"group": g, "voice": "terse", "text": "refund?"} for g in ("a-1", "a-2")])
    corpus = load(folder)
    assert corpus.conflicting == ("refund?",)
    assert "refund?" not in {utterance.text for utterance in corpus.utterances}


def test_data_refuses_two_labels_for_one_group(folder: Path) -> None:
    write(folder / "labels_more.jsonl", [{"group": "ord-000", "key": "track_order()"}])
    with pytest.raises(ValueError, match="ord-000 is labelled"):
        load(folder)


def test_data_names_the_line_that_is_not_json(folder: Path) -> None:
    (folder / "bad.jsonl").write_text('{"group": "a", "text": "b"}\n{\n')
    with pytest.raises(ValueError, match=r"bad\.jsonl:2: not JSON"):
        load(folder)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"slots": {"timing": {"values": {"post_shipment": []}}}}, "ord-000: the domain has no intent 'cancel_order'"),
        ({"intents": {"cancel_order": {"frames": []}}}, "ord-000: the domain has no timing=post_shipment"),
    ],
)
def test_data_refuses_labels_that_the_domain_lacks(folder: Path, domain: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(load(folder), Domain.model_validate({"name": "shop", **domain}))
