"""LangChain's cache of models. Any chat model takes it; a fake one of LangChain's own answers here.

python examples/langchain_cache.py
"""

from __future__ import annotations

from contextvars import ContextVar

from langchain_core.globals import set_llm_cache
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.serving.adapters.langchain import SlotcacheCache

customer: ContextVar[str | None] = ContextVar("customer", default=None)
"""Who is logged in; LangChain's interface has no place for it."""


def main() -> None:
    """Ask the same thing twice in different words."""
    cache = SlotCache(Parser.load(), MemoryStore())
    set_llm_cache(SlotcacheCache(cache, scope=lambda: Scope(tenant="acme", customer=customer.get())))
    done = {"finish_reason": "stop"}
    replies = iter([AIMessage(f"Answer {number} of the model.", response_metadata=done) for number in (1, 2)])
    model = GenericFakeChatModel(messages=replies)
    for who, question in (
        ("c1", "can i cancel my order after it ships?"),
        ("c2", "hey, can i still cancel my order once its been shipped??"),
        ("c2", "can i cancel my order before it ships?"),
    ):
        customer.set(who)
        print(f"{who}: {question}\n   {model.invoke(question).content}")
    print({name: count for name, count in cache.stats().items() if name.startswith(("hit", "miss"))})


if __name__ == "__main__":
    main()
