"""What nobody may add to a domain, whoever accepted it: a word that can turn an answer as one to be passed over."""

from __future__ import annotations

from collections.abc import Iterable

from slotcache.domain.schema import Domain
from slotcache.parsing.normalise import Normaliser


def turning(phrases: Iterable[str], domain: Domain) -> str:
    """A word of some phrases that the domain protects; empty for none."""
    words = Normaliser(domain.rewrites).words
    protected = {words(phrase) for listed in domain.protected.values() for phrase in listed}
    return next((word for phrase in phrases for word in words(phrase) if (word,) in protected), "")
