"""A plain function behind the cache.

python examples/decorator.py
"""

from __future__ import annotations

from slotcache import MemoryStore, Outcome, Parser, Scope, SlotCache
from slotcache.serving.adapters.decorator import cached

cache = SlotCache(Parser.load(), MemoryStore())


def tell(outcome: Outcome) -> None:
    """Print what came of a question."""
    print(f"   {outcome.decision} ({outcome.reason}) {outcome.key}")


@cached(cache, scope=lambda question, customer: Scope(tenant="acme", customer=customer), tell=tell)
def answer(question: str, customer: str) -> str:
    """What the bot says; in a real bot this asks a model."""
    print(f"   (the model is asked: {question!r})")
    return f"The answer to {question!r}."


if __name__ == "__main__":
    for customer, question in (
        ("c1", "can i cancel my order after it ships?"),
        ("c2", "hey, can i still cancel my order once its been shipped??"),
        ("c2", "can i cancel my order before it ships?"),
    ):
        print(f"{customer}: {question}")
        print(f"   {answer(question, customer)}")
