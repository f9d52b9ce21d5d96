"""Where the models and the base examples lie: inside the installed wheel, or in the checkout of an editable install."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent


def shipped(name: str) -> Path:
    """Path of a folder that ships with slotcache, such as `models` or `training/gate`.

    The path exists in every complete installation; it is not checked here.
    """
    in_wheel = _PACKAGE / "_shipped"
    return (in_wheel if in_wheel.is_dir() else _PACKAGE.parent) / name
