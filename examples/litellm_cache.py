"""LiteLLM's cache.

python examples/litellm_cache.py
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # LiteLLM fetches a list of prices otherwise

import litellm
from stand_in import endpoint

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.serving.adapters.litellm import SlotcacheCache


def main() -> None:
    """Ask the same thing twice in different words."""
    url, key = endpoint()
    cache = SlotCache(Parser.load(), MemoryStore())
    litellm.cache = SlotcacheCache(cache, scope=Scope(tenant="acme"))
    for question in (
        "can i cancel my order after it ships?",
        "hey, can i still cancel my order once its been shipped??",
        "can i cancel my order before it ships?",
    ):
        messages = [{"role": "user", "content": question}]
        reply = litellm.completion(model="openai/gpt-4o-mini", api_base=url, api_key=key, messages=messages)
        print(f"{question}\n   {reply.choices[0].message.content}")
        time.sleep(0.5)  # LiteLLM keeps answers in the background
    print({name: count for name, count in cache.stats().items() if name.startswith(("hit", "miss"))})


if __name__ == "__main__":
    main()
