"""How long a parser takes for a question when nothing else keeps the processor busy, though something may."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

ASKED: Final = 300
REPEATS: Final = 5


def percentile(seconds: Sequence[float]) -> float:
    """The time within which 95 % were done; 0.0 of none."""
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))] if seconds else 0.0


def undisturbed(
    read: Callable[[str], object], texts: Sequence[str], *, timer: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds within which 95 % of some questions are read, each in the best of five attempts.

    What bots beside the job take of the processor makes single readings longer, and says nothing about the model.

    Args:
        read: The parser.
        texts: Questions, of which 300 are asked, spread over all of them.
        timer: Seconds of a clock that is never set.
    """
    chosen = texts[:: max(1, len(texts) // ASKED)][:ASKED]
    return percentile([min(_timed(read, text, timer) for _ in range(REPEATS)) for text in chosen])


def _timed(read: Callable[[str], object], text: str, timer: Callable[[], float]) -> float:
    start = timer()
    read(text)
    return timer() - start
