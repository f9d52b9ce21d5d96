"""Remembers which conversations really took place here.

A chat request carries its whole history, and whoever sends it can put any words into the model's mouth. An answer may
be kept for others only when the earlier turns of the model are those it gave: to this tenant, under this prompt, in
this very order. What is forgotten, or was said through another process, costs a fill and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from slotcache.address import digest
from slotcache.memo import Memo
from slotcache.serving.requests import Turn

_REMEMBERED = 100_000


class Conversations:
    """The conversations of one process, as digests, in bounded memory."""

    def __init__(self, *, most: int = _REMEMBERED) -> None:
        """Remember nothing yet; `most` is how many answers are remembered."""
        self._known: Memo[str, bool] = Memo(most)

    def note(self, who: tuple[str, ...], turns: Iterable[Turn], question: str, answer: str) -> None:
        """Remember what was answered after these turns.

        Args:
            who: Tenant, model and prompt, as they separate answers.
            turns: The turns before the question.
            question: The question.
            answer: What the model, or the cache in its place, said.
        """
        told = _start(who)
        for turn in (*turns, Turn("user", question), Turn("assistant", answer)):
            told = digest(told, *turn)
        self._known.put(told, True)

    def took_place(self, who: tuple[str, ...], turns: Iterable[Turn]) -> bool:
        """Whether every turn of the model among these was said just there."""
        told = _start(who)
        for turn in turns:
            told = digest(told, *turn)
            if turn.role == "assistant" and self._known.get(told) is None:
                return False
        return True


def _start(who: tuple[str, ...]) -> str:
    return digest("conversation", *who)
