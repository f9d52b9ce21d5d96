"""Exports the encoder as one ONNX file with 8-bit weights, and its tokenizer."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Final

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import Tensor, nn
from torch.nn import functional

from slotcache.model_files import EncoderShape
from training.network import WIDTH, Encoder

GRAPH: Final = "encoder.onnx"
TOKENIZER: Final = "tokenizer.json"
_OPSET: Final = 17


class _Unit(nn.Module):
    """The encoder as it is served: word pieces in, a unit vector out."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor) -> Tensor:
        return functional.normalize(self.encoder(ids))


def export(
    encoder: Encoder, tokenizer: dict[str, Any], folder: Path, *, max_tokens: int, int8: bool = True
) -> EncoderShape:
    """Write graph and tokenizer into a folder and return the encoder's shape."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (folder / TOKENIZER).write_text(text, encoding="utf-8")
    full = folder / "full.onnx"
    _graph(encoder.eval(), full, max_tokens)
    if int8:
        ready = folder / "ready.onnx"
        quant_pre_process(str(full), str(ready), skip_symbolic_shape=True)
        quantize_dynamic(str(ready), str(folder / GRAPH), weight_type=QuantType.QInt8, per_channel=True)
        ready.unlink()
        full.unlink()
    else:
        full.replace(folder / GRAPH)
    return EncoderShape(
        graph=GRAPH,
        tokenizer=TOKENIZER,
        width=WIDTH,
        max_tokens=max_tokens,
        layers=len(encoder.layers),
        pieces=encoder.shape.pieces,
    )


def _graph(encoder: Encoder, path: Path, max_tokens: int) -> None:
    """Write the graph in full precision; positions beyond the bound are left out of it."""
    kept = encoder.positions.weight
    encoder.positions.weight = nn.Parameter(kept[:max_tokens].clone())
    with warnings.catch_warnings():
        # The exporter that needs no further package says so on every call.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Unit(encoder),
            (torch.ones((1, 16), dtype=torch.long),),
            str(path),
            input_names=["ids"],
            output_names=["vector"],
            dynamic_axes={"ids": {1: "tokens"}},
            opset_version=_OPSET,
            dynamo=False,
        )
    encoder.positions.weight = kept
