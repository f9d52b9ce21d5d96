"""Exact bounds of a proportion: what a count of errors says about the rate behind it."""

from __future__ import annotations

from dataclasses import dataclass

from slotcache.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count out of a total, with the two-sided exact bounds of the rate behind it.

    Attributes:
        count: How often it happened.
        total: Out of how many.
        low: Lower bound of the rate, in [0, 1].
        high: Upper bound of the rate, in [0, 1].
    """

    count: int
    total: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The observed rate, in [0, 1]; 0.0 of nothing."""
        return self.count / self.total if self.total else 0.0

    def as_dict(self) -> dict[str, float]:
        """For JSON output."""
        return {"count": self.count, "total": self.total, "rate": self.rate, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        if not self.total:
            return "- of 0"
        return f"{self.count} of {self.total} = {self.rate:.2%} [{self.low:.2%}, {self.high:.2%}]"


def proportion(count: int, total: int, *, confidence: float = 0.95) -> Proportion:
    """A proportion with its Clopper-Pearson bounds.

    Args:
        count: How often it happened, 0 <= count <= total.
        total: Out of how many; of none the bounds are [0, 1].
        confidence: Two-sided confidence, in (0, 1).

    Raises:
        ConfigurationError: count, total or confidence is out of range.

    Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), in its form by quantiles of the beta distribution.

    >>> proportion(0, 2000).high < 0.0019
    True
    """
    from scipy.stats import beta

    if not 0 <= count <= total:
        raise ConfigurationError(f"a proportion needs 0 <= count <= total, not {count} of {total}")
    if not 0 < confidence < 1:
        raise ConfigurationError(f"confidence is {confidence!r}; it must lie between 0 and 1")
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, total - count + 1))
    high = 1.0 if count == total else float(beta.ppf(1 - tail, count + 1, total - count))
    return Proportion(count, total, low, high)
