"""The project's exported sentence encoder, as every peer gets it through its own embedding hook.

Needs onnxruntime, tokenizers and numpy only, so that it runs in the environments of the peers as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


class Encoder:
    """Turns texts into unit vectors, or looks up those that were made before (for filling, not for lookups).

    Attributes:
        width: Length of a vector.
        known: Vectors made before, by text.
    """

    def __init__(self, folder: Path) -> None:
        """Open the encoder of a model folder, on one thread as in serving.

        Args:
            folder: Holds `manifest.json` and the files that it names.
        """
        shape = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["encoder"]
        self.width = int(shape["width"])
        self.known: dict[str, np.ndarray[Any, np.dtype[np.float32]]] = {}
        self._tokenizer = Tokenizer.from_file(str(folder / shape["tokenizer"]))
        self._tokenizer.enable_truncation(shape["max_tokens"])
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph = str(folder / shape["graph"])
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def __call__(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The vector of a text, shape (width,), float32."""
        found = self.known.get(text)
        if found is not None:
            return found
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        (vectors,) = self._session.run(None, {"ids": ids})
        return np.asarray(vectors[0], dtype=np.float32)
