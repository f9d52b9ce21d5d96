"""The files that `slotcache init` writes: a small bike hire, to be changed into another business."""

from __future__ import annotations

from pathlib import Path


def files() -> list[Path]:
    """The starter's files, in the order in which somebody would read them."""
    folder = Path(__file__).parent
    return [folder / name for name in ("domain.yaml", "examples.jsonl", "gate.jsonl")]
