"""Shares with their Wilson intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_Z: Final = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total with the 95 % Wilson interval of the rate behind it.

    Attributes:
        count: How often it happened.
        total: Out of how many.
        rate: The observed rate in [0, 1]; 0.0 of nothing.
        low: Lower bound, in [0, 1].
        high: Upper bound, in [0, 1].
    """

    count: int
    total: int
    rate: float
    low: float
    high: float


def share(count: int, total: int) -> Share:
    """A share with its bounds; of nothing they are [0, 1].

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927).

    >>> round(share(0, 100).high, 4), share(0, 0).high
    (0.037, 1.0)
    """
    if not total:
        return Share(0, 0, 0.0, 0.0, 1.0)
    rate = count / total
    spread = _Z * math.sqrt(rate * (1 - rate) / total + _Z * _Z / (4 * total * total))
    middle, scale = rate + _Z * _Z / (2 * total), 1 + _Z * _Z / total
    low = 0.0 if count == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if count == total else min(1.0, (middle + spread) / scale)
    return Share(count, total, round(rate, 6), round(low, 6), round(high, 6))
