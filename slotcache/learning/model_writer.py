"""Writes a model folder: ONNX graphs, a tokenizer in JSON, and the manifest that binds them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from slotcache.learning.examples import Example
from slotcache.learning.heads import DEFAULTS, Heads, Settings, fit
from slotcache.model_files import (
    FORMAT,
    MANIFEST,
    EncoderShape,
    HeadShape,
    Manifest,
    NgramShape,
    read_manifest,
    sha256,
    verify,
)
from slotcache.parsing.encoder import Encoder

HEADS: Final = "heads.onnx"
_OPSET: Final = 17
_IR: Final = 9
"""Oldest file format that holds this opset, so that older runtimes read it too."""


def train_heads(
    base: Path,
    out: Path,
    examples: Sequence[Example],
    calibration: Sequence[Example],
    *,
    version: str,
    domain: str,
    provenance: Mapping[str, Any],
    settings: Settings = DEFAULTS,
    measure: Callable[[Path], Mapping[str, Any]] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Manifest:
    """Fit heads on the frozen encoder of a model folder and write a new model folder.

    Args:
        base: Model folder whose encoder is kept.
        out: Folder to write; an existing one is replaced only once the new one is complete.
        examples: Labelled examples to fit on.
        calibration: Labelled examples to calibrate on, apart from those.
        version: Version of the new model.
        domain: Domain that the labels belong to.
        provenance: What the model was made from, for the manifest.
        settings: Dials of the fit.
        measure: Called with the finished folder; what it returns becomes the manifest's metrics.
        report: Called with the name of each step.

    Raises:
        ModelError: the base folder is missing or damaged.
        ValueError: too little to train on.
    """
    shape = verify(base).encoder
    return assemble(
        base,
        out,
        shape,
        fit(examples, calibration, Encoder(base, shape).many, settings=settings, report=report),
        version=version,
        domain=domain,
        provenance=provenance,
        measure=measure,
    )


def assemble(
    encoder_folder: Path,
    out: Path,
    shape: EncoderShape,
    heads: Heads,
    *,
    version: str,
    domain: str,
    provenance: Mapping[str, Any],
    measure: Callable[[Path], Mapping[str, Any]] | None = None,
) -> Manifest:
    """Write a model folder from an encoder's files and fitted heads."""
    beside = out.with_name(f".{out.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for name in (shape.graph, shape.tokenizer):
        shutil.copyfile(encoder_folder / name, beside / name)
    onnx.save(graph(heads), str(beside / HEADS))
    manifest = Manifest(
        format=FORMAT,
        version=version,
        domain=domain,
        encoder=shape,
        heads=_shape(heads),
        files={path.name: sha256(path) for path in sorted(beside.iterdir())},
        provenance=dict(provenance),
    )
    _write(manifest, beside)
    if measure is not None:
        manifest = manifest.model_copy(update={"metrics": dict(measure(beside))})
        _write(manifest, beside)
    if out.exists():
        shutil.rmtree(out)
    beside.rename(out)
    return manifest


def amend(folder: Path, *, files: Mapping[str, str] | None = None, **changes: Any) -> Manifest:
    """Change what a manifest says, and write further JSON files beside it.

    The manifest is replaced last and in one step, so that a folder is complete as it was or as it is now.

    Args:
        folder: The model folder.
        files: File name -> text.
        changes: Manifest fields.
    """
    manifest = read_manifest(folder)
    digests = dict(manifest.files)
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
        digests[name] = sha256(folder / name)
    manifest = manifest.model_copy(update={**changes, "files": digests})
    beside = folder / f".{MANIFEST}.new"
    beside.write_text(_printed(manifest), encoding="utf-8")
    beside.replace(folder / MANIFEST)
    return manifest


def graph(heads: Heads) -> onnx.ModelProto:
    """The heads as one graph: sentence vector, n-gram buckets and values in; logits and prototype cosines out.

    N-gram weights are kept as 8-bit integers with one scale a class.
    """
    blocks = [heads.intent, *heads.slots.values()]
    vector = np.concatenate([block.vector for block in blocks], axis=1)
    ngrams = np.concatenate([block.ngrams for block in blocks], axis=1)
    bias = np.concatenate([block.bias for block in blocks])
    scale = np.maximum(np.abs(ngrams).max(axis=0), 1e-8) / 127.0
    constants = {
        "vector_weights": vector,
        "ngram_weights": np.round(ngrams / scale).astype(np.int8),
        "ngram_scale": scale.astype(np.float32),
        "bias": bias,
        "prototypes": np.ascontiguousarray(heads.prototypes.T),
        "row": np.array([1, -1], dtype=np.int64),
        "flat": np.array([-1], dtype=np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["ngram_weights", "buckets"], ["rows_int8"], axis=0),
        helper.make_node("Cast", ["rows_int8"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["values", "row"], ["values_row"]),
        helper.make_node("MatMul", ["values_row", "rows"], ["ngram_sums"]),
        helper.make_node("Mul", ["ngram_sums", "ngram_scale"], ["ngram_logits"]),
        helper.make_node("MatMul", ["vector", "vector_weights"], ["vector_logits"]),
        helper.make_node("Add", ["ngram_logits", "vector_logits"], ["both_logits"]),
        helper.make_node("Add", ["both_logits", "bias"], ["logits_row"]),
        helper.make_node("Reshape", ["logits_row", "flat"], ["logits"]),
        helper.make_node("MatMul", ["vector", "prototypes"], ["cosines_row"]),
        helper.make_node("Reshape", ["cosines_row", "flat"], ["cosines"]),
    ]
    inputs = [
        helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, vector.shape[0]]),
        helper.make_tensor_value_info("buckets", TensorProto.INT64, ["ngrams"]),
        helper.make_tensor_value_info("values", TensorProto.FLOAT, ["ngrams"]),
    ]
    outputs = [
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, [len(bias)]),
        helper.make_tensor_value_info("cosines", TensorProto.FLOAT, [len(heads.prototypes)]),
    ]
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    made = helper.make_model(
        helper.make_graph(nodes, "heads", inputs, outputs, tensors),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR,
        producer_name="slotcache",
    )
    onnx.checker.check_model(made)
    return made


def _shape(heads: Heads) -> HeadShape:
    ngrams = heads.ngrams
    return HeadShape(
        graph=HEADS,
        classes=heads.intent.names,
        slots={slot: head.names for slot, head in heads.slots.items()},
        prototypes=heads.owners,
        floor=heads.floor,
        most=heads.most,
        ngrams=NgramShape(buckets=ngrams.buckets, words=ngrams.words, shortest=ngrams.shortest, longest=ngrams.longest),
    )


def _write(manifest: Manifest, folder: Path) -> None:
    (folder / MANIFEST).write_text(_printed(manifest), encoding="utf-8")


def _printed(manifest: Manifest) -> str:
    return json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"
