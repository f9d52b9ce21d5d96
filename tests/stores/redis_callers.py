"""Many callers of one process who ask the same question at the same time; prints what came of each and the calls made.

The process says `ready`, waits for a line, and then lets all of them ask.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter

from slotcache.cache import SlotCache
from slotcache.stores import open_store
from slotcache.testing import ScriptedParser
from tests.cache.shells import ACME, READINGS


def main(url: str, callers: int) -> None:
    calls: list[str] = []
    outcomes: Counter[str] = Counter()

    def model(text: str) -> str:
        calls.append(text)
        time.sleep(1.0)
        return "yes"

    def ask() -> None:
        outcome = cache.get_or_call("can i cancel?", model, ACME)
        assert outcome.answer == "yes"
        outcomes["coalesced" if outcome.coalesced else str(outcome.reason)] += 1

    with SlotCache(ScriptedParser(READINGS), open_store(url)) as cache:
        cache.get("can i cancel?", ACME)
        threads = [threading.Thread(target=ask) for _ in range(callers)]
        print("ready", flush=True)
        sys.stdin.readline()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps({"calls": len(calls), "outcomes": outcomes, "counted": cache.stats().get("coalesced", 0)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
