"""A bounded memory for results that are costly to compute."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Remembers the most recently used results, between half of and all of `size`.

    Two generations take turns instead of a list in order of use, so a look-up is one or two dictionary look-ups
    without a lock. Threads that meet may compute a result twice or forget one early; they never see a wrong one.
    """

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The remembered result, or None."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: K, value: V) -> None:
        """Remember a result."""
        young = self._young
        if len(young) >= self._half:
            self._old = young
            self._young = young = {}
        young[key] = value

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old = {}, {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
