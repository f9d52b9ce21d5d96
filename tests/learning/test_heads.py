"""Fitting heads: right on what it has not seen, honest about how sure it is, the same every time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from slotcache.errors import ModelError
from slotcache.learning.examples import Example
from slotcache.learning.heads import Floats, Settings, fit, well_said
from slotcache.learning.model_writer import graph, train_heads
from slotcache.model_files import read_manifest, verify
from slotcache.parsing.learned import Model
from slotcache.parsing.ngrams import Ngrams

SETTINGS = Settings(ngrams=Ngrams(256))
TOPICS = {"cancel": "cancel stop scrap", "refund": "money refund back", "track": "where track parcel"}


def encode(texts: Sequence[str]) -> Floats:
    """Bag of first letters: a frozen encoder that needs no file."""
    vectors = np.full((len(texts), 26), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, ord(word[0]) - 97] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def shop(voices: Sequence[str]) -> list[Example]:
    return [
        Example(f"{voice} {word} {when} it ships", intent, {"timing": when})
        for intent, words in TOPICS.items()
        for word in words.split()
        for when in ("before", "after")
        for voice in voices
    ]


FITTED, KEPT = shop(("hello", "please", "hey")), shop(("kindly",))


def test_fit_reads_held_out_wordings() -> None:
    heads = fit(FITTED, KEPT, encode, settings=SETTINGS)
    session = onnxruntime.InferenceSession(graph(heads).SerializeToString(), providers=["CPUExecutionProvider"])
    right = []
    for example in KEPT:
        buckets, values = heads.ngrams(example.text)
        inputs = {"vector": encode([example.text]), "buckets": buckets, "values": values}
        logits, _ = session.run(None, inputs)
        intent = heads.intent.names[int(logits[: len(heads.intent.names)].argmax())]
        timing = heads.slots["timing"].names[int(logits[len(heads.intent.names) :].argmax())]
        right.append((intent, timing) == (example.intent, example.slots["timing"]))
    assert all(right)


def test_fit_is_the_same_twice() -> None:
    first, second = (fit(FITTED, KEPT, encode, settings=SETTINGS) for _ in range(2))
    assert np.allclose(first.intent.vector, second.intent.vector)


def test_fit_is_less_sure_when_calibration_contradicts_it() -> None:
    wrong = [replace(e, intent="track" if e.intent == "cancel" else "cancel") for e in KEPT if e.intent != "refund"]
    honest, humbled = (fit(FITTED, kept, encode, settings=SETTINGS) for kept in (KEPT, wrong))
    assert np.abs(humbled.intent.vector).max() < np.abs(honest.intent.vector).max()


def test_fit_gives_heads_only_to_the_slots_asked_for() -> None:
    heads = fit(FITTED, KEPT, encode, settings=replace(SETTINGS, slots=frozenset()))
    assert heads.slots == {}


def test_fit_makes_one_prototype_a_meaning() -> None:
    heads = fit(FITTED, KEPT, encode, settings=SETTINGS)
    assert [heads.intent.names[at] for at in heads.owners] == ["cancel", "cancel", "refund", "refund", "track", "track"]


def test_fit_keeps_every_calibration_intent_above_the_floor() -> None:
    heads = fit(FITTED, KEPT, encode, settings=SETTINGS)
    owners = np.array(heads.owners)
    cosines = encode([e.text for e in KEPT]) @ heads.prototypes.T
    places = [heads.intent.names.index(e.intent) for e in KEPT]
    own = [row[owners == place].max() for row, place in zip(cosines, places, strict=True)]
    assert min(own) >= heads.floor


@pytest.mark.parametrize(("fitted", "kept"), [(FITTED[:1], KEPT), (FITTED, [])])
def test_fit_refuses_too_little(fitted: list[Example], kept: list[Example]) -> None:
    with pytest.raises(ValueError, match="give at least 2 and 1"):
        fit(fitted, kept, encode, settings=SETTINGS)


def test_graph_loses_little_to_eight_bits() -> None:
    heads = fit(FITTED, KEPT, encode, settings=SETTINGS)
    session = onnxruntime.InferenceSession(graph(heads).SerializeToString(), providers=["CPUExecutionProvider"])
    text = KEPT[0].text
    buckets, values = heads.ngrams(text)
    vector = encode([text])
    logits, _ = session.run(None, {"vector": vector, "buckets": buckets, "values": values})
    exact = (vector @ heads.intent.vector)[0] + values @ heads.intent.ngrams[buckets] + heads.intent.bias
    assert logits[: len(exact)] == pytest.approx(exact, abs=0.1)


def retrain(base: Path, out: Path, more: Sequence[Example] = ()) -> None:
    examples = [*shop(("hello", "please")), *more]
    train_heads(
        base, out, examples, KEPT, version=out.name, domain="library", provenance={"base": "1"}, settings=SETTINGS
    )


def test_train_heads_writes_a_model_that_loads(tiny_model: Path) -> None:
    out = tiny_model.parent / "2"
    retrain(tiny_model, out)
    assert Model.load(out, domain="library").read("please cancel before it ships").intents[0][0] == "cancel"


def test_train_heads_keeps_the_encoder(tiny_model: Path) -> None:
    out = tiny_model.parent / "2"
    retrain(tiny_model, out)
    assert read_manifest(out).files["encoder.onnx"] == read_manifest(tiny_model).files["encoder.onnx"]


def test_train_heads_writes_onnx_and_json_only(tiny_model: Path) -> None:
    out = tiny_model.parent / "2"
    retrain(tiny_model, out)
    assert {path.suffix for path in out.iterdir()} == {".onnx", ".json"}


def test_train_heads_replaces_a_version_as_a_whole(tiny_model: Path) -> None:
    out = tiny_model.parent / "2"
    retrain(tiny_model, out)
    (out / "stray").touch()
    retrain(tiny_model, out, [Example("kindly stop", "cancel")])
    assert {path.name for path in out.iterdir()} == {"manifest.json", *verify(out).files}


def test_train_heads_keeps_what_was_measured(tiny_model: Path) -> None:
    out = tiny_model.parent / "2"
    train_heads(
        tiny_model,
        out,
        shop(("hello",)),
        KEPT,
        version="2",
        domain="library",
        provenance={},
        settings=SETTINGS,
        measure=lambda folder: {"version_measured": read_manifest(folder).version},
    )
    assert json.loads((out / "manifest.json").read_text())["metrics"] == {"version_measured": "2"}


def test_train_heads_refuses_a_damaged_base(tiny_model: Path) -> None:
    (tiny_model / "encoder.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="damaged"):
        retrain(tiny_model, tiny_model.parent / "2")


@pytest.mark.parametrize(
    ("spoken_of", "examples", "kept"), [(30, 3000, True), (29, 3000, False), (2, 100, True), (1, 100, False)]
)
def test_heads_only_for_slots_that_enough_examples_speak_of(spoken_of: int, examples: int, kept: bool) -> None:
    said = [Example(str(at), "intent", {"medium": "book"} if at < spoken_of else {}) for at in range(examples)]
    assert well_said(said, ["medium"]) == (frozenset({"medium"}) if kept else frozenset())
