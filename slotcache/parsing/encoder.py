"""Turns an utterance into a unit vector with the ONNX sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from slotcache.errors import ModelError
from slotcache.model_files import EncoderShape

MAX_CHARACTERS: Final = 2_000
"""Text beyond this many characters is not looked at; the word-piece bound cuts sooner on ordinary text."""


def open_graph(path: Path) -> onnxruntime.InferenceSession:
    """Open an ONNX graph on one thread; a serving process runs many questions beside each other, not one on many cores.

    Raises:
        ModelError: the file is not a graph that this runtime can run.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    # onnxruntime raises classes of its own C++ module that share no public base.
    except Exception as error:
        raise ModelError(f"{path} cannot be opened: {error}; install the model again") from None


class Encoder:
    """The sentence encoder of one model folder. Thread-safe."""

    def __init__(self, folder: Path, shape: EncoderShape) -> None:
        self.shape = shape
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / shape.tokenizer))
        # tokenizers raises plain Exception.
        except Exception as error:
            raise ModelError(f"{folder / shape.tokenizer} cannot be read: {error}; install the model again") from None
        self._tokenizer.enable_truncation(shape.max_tokens)
        self._tokenizer.no_padding()
        self._session = open_graph(folder / shape.graph)

    def __call__(self, text: str) -> tuple[NDArray[np.float32], bool]:
        """Encode one text.

        Returns:
            A unit vector of shape (1, width), and whether the text was longer than the encoder reads.
        """
        # Lone surrogates are no text that the tokenizer takes.
        seen = text[:MAX_CHARACTERS].encode(errors="replace").decode()
        encoding = self._tokenizer.encode(seen)
        ids = np.array([encoding.ids], dtype=np.int64)
        (vector,) = self._session.run(None, {"ids": ids})
        return vector, bool(encoding.overflowing) or len(text) > MAX_CHARACTERS

    def many(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts one by one, exactly as they will be served.

        Returns:
            Unit vectors, shape (texts, width).
        """
        if not texts:
            return np.zeros((0, self.shape.width), dtype=np.float32)
        return np.concatenate([self(text)[0] for text in texts])
