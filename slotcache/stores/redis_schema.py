"""Finds out at start whether the servers and what they hold under a prefix can be used."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

from slotcache.errors import StoreError, StoreUnavailable
from slotcache.stores.redis_layout import SCHEMA_VERSION
from slotcache.stores.redis_link import Call

_DROPS_ANY: Final = "allkeys"


def prepare(call: Call, *, prefix: str, buckets: int, where: str) -> int:
    """Check the servers, and write the version down where there is none yet.

    Args:
        call: Sends a command.
        prefix: What all keys begin with.
        buckets: Into how many buckets a new store is divided.
        where: The address, for messages.

    Returns:
        The number of buckets that is in force.

    Raises:
        StoreError: the keys belong to a newer slotcache or to another program, or the server drops any key when full.
        StoreUnavailable: the servers do not answer.
    """
    _refuse_eviction(call, where)
    name = f"{prefix}:schema"
    held = call("GET", name)
    if held is None:
        call("SET", name, json.dumps({"schema": SCHEMA_VERSION, "buckets": buckets}), "NX")
        held = call("GET", name) or b""
    try:
        known = json.loads(held)
        version, divided = int(known["schema"]), int(known["buckets"])
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{where}: the key {name} is not slotcache's; choose another prefix") from None
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{where}: the keys under {prefix!r} have schema {version} and this slotcache knows up to "
            f"{SCHEMA_VERSION}; upgrade slotcache, or choose another prefix"
        )
    return divided


def _refuse_eviction(call: Call, where: str) -> None:
    told: Any = {}
    with suppress(StoreUnavailable):
        # Users without the right to ask are believed.
        told = call("INFO", "memory")
    policy = str(told.get("maxmemory_policy", "")) if isinstance(told, dict) else ""
    if policy.startswith(_DROPS_ANY):
        raise StoreError(
            f"{where} drops any key when it is full (maxmemory-policy {policy}), indexes among them, and then an "
            "invalidation would miss answers; set it to noeviction or to a volatile-* policy"
        )
