"""Stores entries until it is killed, and prints each one's number once the store has acknowledged it."""

from __future__ import annotations

import itertools
import sys

from slotcache.stores import open_store
from tests.stores.contract import NOW, entry, lease_for


def main(where: str) -> None:
    store = open_store(where)
    for number in itertools.count():
        # Two generations of answers on a few addresses, so that puts supersede, with leases, tags and a long text.
        kept = entry(
            answer=f"{number}:" + "x" * 3_000,
            tenant=str(number % 50),
            token=f"{number:016x}",
            created=NOW + number,
            tags=(f"t{number % 7}",),
        )
        store.put(kept, lease=lease_for(store, kept, holder=str(number), now=NOW + number))
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
