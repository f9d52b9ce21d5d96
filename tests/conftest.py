"""What tests of several rooms share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.learning.heads import Settings, fit
from slotcache.learning.model_writer import assemble
from slotcache.model_files import EncoderShape
from slotcache.parsing.encoder import Encoder
from slotcache.parsing.ngrams import Ngrams

WIDTH = 24
MAX_TOKENS = 16
FRAMES = {
    ("renew_loan", "before"): (
        "can i renew a book before it is due",
        "renewing a loan before its due date",
        "renew early",
    ),
    ("renew_loan", "after"): ("can i renew a book after it is due", "renewing an overdue loan", "renew late"),
    ("pay_fine", "before"): ("can i pay the fine before i return it", "pay a charge early", "settle the fine up front"),
    ("pay_fine", "after"): ("can i pay the fine after i return it", "pay a charge late", "settle the fine afterwards"),
}
OUTSIDE = ("what is the weather", "play some music", "who won the match", "tell me a joke")


def library_examples() -> list[Example]:
    """Labelled questions to a small library's desk."""
    openers = ("", "hello ", "please ", "tell me ")
    inside = [
        Example(opener + text, intent, {"timing": timing}, group=f"{intent}-{timing}")
        for (intent, timing), texts in FRAMES.items()
        for text in texts
        for opener in openers
    ]
    return inside + [Example(o + t, f"{OUT_OF_SCOPE}/far_oos") for t in OUTSIDE for o in openers]


def write_tiny_encoder(folder: Path, texts: Iterable[str] | None = None) -> EncoderShape:
    """Write an encoder whose sentence vector is the normalised mean of seeded vectors of the words of some texts."""
    folder.mkdir(parents=True, exist_ok=True)
    known = texts if texts is not None else [example.text for example in library_examples()]
    words = sorted({word for text in known for word in text.split()})
    vocabulary = {word: at for at, word in enumerate(["[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = np.random.default_rng(7).standard_normal((len(vocabulary), WIDTH)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["pieces", "ids"], ["hidden"], axis=0),
        helper.make_node("ReduceMean", ["hidden"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("ReduceL2", ["mean"], ["length"], axes=[1], keepdims=1),
        helper.make_node("Div", ["mean", "length"], ["vector"]),
    ]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, WIDTH])],
        [numpy_helper.from_array(vectors, "pieces")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "encoder.onnx"))
    return EncoderShape(
        graph="encoder.onnx",
        tokenizer="tokenizer.json",
        width=WIDTH,
        max_tokens=MAX_TOKENS,
        layers=1,
        pieces=len(vocabulary),
    )


@pytest.fixture(scope="session")
def tiny_model_master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder for the domain `library`, trained once; copy it before changing it."""
    root = tmp_path_factory.mktemp("models")
    shape = write_tiny_encoder(root / "encoder")
    examples = library_examples()
    heads = fit(
        [e for at, e in enumerate(examples) if at % 3],
        [e for at, e in enumerate(examples) if at % 3 == 0],
        Encoder(root / "encoder", shape).many,
        settings=Settings(ngrams=Ngrams(512)),
    )
    assemble(root / "encoder", root / "1", shape, heads, version="1", domain="library", provenance={"from": "tests"})
    return root / "1"


@pytest.fixture
def tiny_model(tiny_model_master: Path, tmp_path: Path) -> Path:
    """A model folder of one's own, in a folder of versions."""
    return Path(shutil.copytree(tiny_model_master, tmp_path / "versions" / "1"))


@pytest.fixture
def edit_manifest() -> Callable[..., None]:
    """Change entries of a model's manifest."""

    def edit(folder: Path, **changes: object) -> None:
        path = folder / "manifest.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, **changes}), encoding="utf-8")

    return edit
