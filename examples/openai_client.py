"""The official client behind the cache: whole answers, streams, and two customers.

python examples/openai_client.py
"""

from __future__ import annotations

from openai import OpenAI
from stand_in import endpoint

from slotcache import MemoryStore, Outcome, Parser, Scope, SlotCache
from slotcache.serving.adapters.openai import wrap


def tell(outcome: Outcome) -> None:
    """Print what came of a question."""
    print(f"   {outcome.decision} ({outcome.reason}) {outcome.key}")


def main() -> None:
    """Ask the same thing in three ways, and another thing."""
    url, key = endpoint()
    cache = SlotCache(Parser.load(), MemoryStore())
    client = wrap(OpenAI(base_url=url, api_key=key), cache, tell=tell)
    for customer, stream, question in (
        ("c1", False, "can i cancel my order after it ships?"),
        ("c2", False, "hey, can i still cancel my order once its been shipped??"),
        ("c2", True, "can i cancel my order after it has shipped"),
        ("c2", False, "can i cancel my order before it ships?"),
    ):
        print(f"{customer}: {question}")
        asker = client.with_scope(Scope(tenant="acme", customer=customer))
        messages = [{"role": "user", "content": question}]
        reply = asker.chat.completions.create(model="gpt-4o-mini", messages=messages, stream=stream)
        if stream:
            print("   ", *(chunk.choices[0].delta.content or "" for chunk in reply if chunk.choices), sep="")
        else:
            print("   ", reply.choices[0].message.content, sep="")


if __name__ == "__main__":
    main()
