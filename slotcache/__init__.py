"""slotcache: a cache for support bots that reads each question into an exact key instead of comparing vectors.

    from slotcache import Parser, Scope, SlotCache

    cache = SlotCache(Parser.load())
    outcome = cache.get_or_call("can i cancel after it ships?", call_the_model, Scope(tenant="acme"))

Names are imported when they are first used, so that a command or a test pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from slotcache.address import Scope
    from slotcache.aio import AsyncSlotCache
    from slotcache.answers import Answer
    from slotcache.cache import SlotCache
    from slotcache.domain.loader import load_domain
    from slotcache.domain.schema import Domain
    from slotcache.errors import Abstain, SlotcacheError
    from slotcache.events import Decision, Outcome, Stored
    from slotcache.key import Key
    from slotcache.parsing.parser import Parser
    from slotcache.parsing.types import Owner, Parse
    from slotcache.policy import Directives, Policy
    from slotcache.prompts import PromptTemplate
    from slotcache.records.traffic import TrafficRecord
    from slotcache.stores import open_store
    from slotcache.stores.memory import MemoryStore
    from slotcache.stores.redis import RedisStore
    from slotcache.stores.sqlite import SqliteStore

__all__ = [
    "Abstain",
    "Answer",
    "AsyncSlotCache",
    "Decision",
    "Directives",
    "Domain",
    "Key",
    "MemoryStore",
    "Outcome",
    "Owner",
    "Parse",
    "Parser",
    "Policy",
    "PromptTemplate",
    "RedisStore",
    "Scope",
    "SlotCache",
    "SlotcacheError",
    "SqliteStore",
    "Stored",
    "TrafficRecord",
    "load_domain",
    "open_store",
]

_HOMES: Final = {
    "Abstain": "errors",
    "Answer": "answers",
    "AsyncSlotCache": "aio",
    "Decision": "events",
    "Directives": "policy",
    "Domain": "domain.schema",
    "Key": "key",
    "MemoryStore": "stores.memory",
    "Outcome": "events",
    "Owner": "parsing.types",
    "Parse": "parsing.types",
    "Parser": "parsing.parser",
    "Policy": "policy",
    "PromptTemplate": "prompts",
    "RedisStore": "stores.redis",
    "Scope": "address",
    "SlotCache": "cache",
    "SlotcacheError": "errors",
    "SqliteStore": "stores.sqlite",
    "Stored": "events",
    "TrafficRecord": "records.traffic",
    "load_domain": "domain.loader",
    "open_store": "stores",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'slotcache' has no attribute {name!r}")
    value = getattr(import_module(f"slotcache.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
