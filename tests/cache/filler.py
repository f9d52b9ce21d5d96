"""Asks one question through a store, with a model that takes its time, and prints what came of it."""

from __future__ import annotations

import sys
import time

from slotcache.cache import SlotCache
from slotcache.policy import Policy
from slotcache.stores import open_store
from slotcache.stores.sqlite import SqliteStore
from slotcache.testing import ScriptedParser
from tests.cache.shells import ACME, READINGS


def main(where: str, seconds: float, lease: float) -> None:
    def model(text: str) -> str:
        print("calling", flush=True)
        time.sleep(seconds)
        return "yes"

    store = open_store(where) if "://" in where else SqliteStore(where, busy_seconds=5)
    with SlotCache(ScriptedParser(READINGS), store, policy=Policy(lease=lease)) as cache:
        outcome = cache.get_or_call("can i cancel?", model, ACME)
        print(outcome.answer, "coalesced" if outcome.coalesced else outcome.not_stored, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
