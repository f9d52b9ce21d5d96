"""Where the base examples and other assets lie: in the installed wheel, or in the checkout of an editable install."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def shipped(name: str) -> Path:
    """Path of a folder that ships with slotcache: `models`, `training/groups` or `training/gate`.

    The wheel carries `training/gate` as `slotcache/_training/gate`. Whether the folder is there is not checked.
    """
    in_wheel = _PACKAGE / f"_{name}"
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parent / name
