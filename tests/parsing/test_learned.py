"""The learned reader: loading, reading, refusing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from slotcache.errors import ModelError
from slotcache.parsing.learned import LearnedReading, Model
from slotcache.parsing.propose import Proposer


@pytest.fixture(scope="module")
def model(tiny_model_master: Path) -> Model:
    return Model.load(tiny_model_master, domain="library")


def plain(reading: LearnedReading) -> tuple[object, ...]:
    return reading.candidates, reading.intents, dict(reading.slots), reading.truncated


def test_model_tells_its_version_labels_and_slots(model: Model) -> None:
    assert (model.version, model.labels, model.slots) == (
        "1",
        ("out_of_scope", "pay_fine", "renew_loan"),
        {"timing": ("-", "after", "before")},
    )


@pytest.mark.parametrize(
    ("text", "intent", "timing"),
    [
        ("hello can i renew a book before it is due", "renew_loan", "before"),
        ("please can i renew a book after it is due", "renew_loan", "after"),
        ("tell me can i pay the fine after i return it", "pay_fine", "after"),
        ("hello play some music", "out_of_scope", "-"),
    ],
)
def test_model_reads_intent_and_slot(model: Model, text: str, intent: str, timing: str) -> None:
    reading = model.read(text)
    assert (reading.intents[0][0], reading.slots["timing"][0][0]) == (intent, timing)


def test_model_gives_probabilities_that_add_up_to_one_and_descend(model: Model) -> None:
    reading = model.read("can i renew a book before it is due")
    for ranked in (reading.intents, *reading.slots.values()):
        chances = [chance for _, chance in ranked]
        assert sum(chances) == pytest.approx(1.0)
        assert chances == sorted(chances, reverse=True)


def test_model_proposes_the_nearest_intent_first(model: Model) -> None:
    assert model.read("can i renew a book before it is due").candidates[0][0] == "renew_loan"


def test_model_never_proposes_out_of_scope(model: Model) -> None:
    assert "out_of_scope" not in dict(model.read("tell me a joke").candidates)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800", "😀" * 50, "\u202eabc", "订单在哪里", "a" * 1_000_000, "?!," * 700]
)
def test_model_reads_any_text(model: Model, text: str) -> None:
    assert sum(chance for _, chance in model.read(text).intents) == pytest.approx(1.0)


@pytest.mark.parametrize(("words", "truncated"), [(14, False), (15, True), (900, True)])
def test_model_says_when_it_did_not_see_the_end(model: Model, words: int, truncated: bool) -> None:
    assert model.read("due " * words).truncated is truncated


def test_model_reads_alike_from_many_threads(model: Model) -> None:
    texts = ["can i renew a book before it is due", "pay a charge late", "tell me a joke"] * 20
    alone = [plain(model.read(text)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert [plain(reading) for reading in pool.map(model.read, texts)] == alone


def test_encoder_encodes_many_texts_exactly_as_one_by_one(model: Model) -> None:
    texts = ["renew early", "can i pay the fine before i return it", "x"]
    assert np.array_equal(model.encoder.many(texts), np.concatenate([model.encoder(text)[0] for text in texts]))


def test_encoder_gives_unit_vectors(model: Model) -> None:
    vectors = model.encoder.many(["renew early", "pay a charge late"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


def test_encoder_of_no_texts_is_empty(model: Model) -> None:
    assert model.encoder.many([]).shape == (0, model.encoder.shape.width)


def test_model_of_another_domain_is_refused(tiny_model: Path) -> None:
    with pytest.raises(ModelError, match="order_support"):
        Model.load(tiny_model, domain="order_support")


def test_model_whose_graph_does_not_fit_its_manifest_is_refused(
    tiny_model: Path, edit_manifest: Callable[..., None]
) -> None:
    heads = Model.load(tiny_model, domain="library").manifest.heads.model_dump(mode="json")
    edit_manifest(tiny_model, heads={**heads, "classes": [*heads["classes"], "invented"]})
    with pytest.raises(ModelError, match=r"heads\.onnx does not fit its manifest"):
        Model.load(tiny_model, domain="library")


def test_serving_imports_neither_training_library(tiny_model_master: Path) -> None:
    code = (
        "import sys; from slotcache.parsing.learned import Model; "
        f"Model.load({str(tiny_model_master)!r}, domain='library').read('renew'); "
        "print([name for name in ('sklearn', 'scipy', 'torch', 'onnx') if name in sys.modules])"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == "[]"


PROPOSE = Proposer(("a", "b", "c"), (0, 1, 1, 2), floor=0.2, most=2)


@pytest.mark.parametrize(
    ("cosines", "expected"),
    [
        ((0.5, 0.1, 0.75, 0.0), ("b", "a")),
        ((0.2, 0.1, 0.1, 0.1), ("a",)),
        ((0.9, 0.8, 0.1, 0.7), ("a", "b")),
        ((0.1, 0.1, 0.1, 0.1), ()),
    ],
)
def test_propose_takes_each_intents_nearest_prototype_from_the_floor_up(
    cosines: tuple[float, ...], expected: tuple[str, ...]
) -> None:
    found = PROPOSE(np.array(cosines, dtype=np.float32))
    assert tuple(intent for intent, _ in found) == expected
