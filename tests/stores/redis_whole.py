"""Looks at the keys of a Redis store from outside and says what does not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slotcache.stores.redis import RedisStore
from slotcache.stores.redis_layout import INDEXED


def misfits(store: RedisStore, client: Any) -> list[str]:
    """Everything in which entries, cells, indexes and orders contradict each other; empty when all is well.

    Args:
        store: The store.
        client: A client of redis-py for the same servers.
    """
    prefix = store.url.options.prefix
    buckets = {
        key.split(b"{")[1].split(b"}")[0].decode() for key in client.scan_iter(match=f"{prefix}:{{*", count=1000)
    }
    return [text for bucket in sorted(buckets) for text in _misfits(f"{prefix}:{{{bucket}}}:", client)]


def _misfits(base: str, client: Any) -> Iterator[str]:
    entries = {number: line.split() for number, line in client.hgetall(f"{base}entries").items()}
    placed = {}
    indexes: dict[str, set[bytes]] = {}
    for key in client.scan_iter(match=f"{base}*", count=1000):
        name = key.decode().removeprefix(base)
        if name.startswith("cell:"):
            for variant, held in client.hgetall(key).items():
                placed[held.split(b" ")[0]] = (name.removeprefix("cell:").encode(), variant)
        elif name.startswith("index:"):
            indexes[name.removeprefix("index:")] = set(client.smembers(key))
    expected: dict[str, set[bytes]] = {}
    for number, (_, _, _, _, _, _, *labels) in entries.items():
        for label in labels:
            if label.decode()[0] in INDEXED:
                expected.setdefault(label.decode(), set()).add(number)
    if placed != {number: (line[0], line[1]) for number, line in entries.items()}:
        yield f"{base}: cells hold {len(placed)} entries, and {len(entries)} are listed"
    if indexes != expected:
        yield f"{base}: indexes {sorted(set(indexes) ^ set(expected))} differ"
    aged = {name: set(client.zrange(f"{base}{name}", 0, -1)) for name in ("learned", "approved", "expiry")}
    for name, letter in (("learned", b"l"), ("approved", b"a")):
        if aged[name] != {number for number, line in entries.items() if line[3] == letter}:
            yield f"{base}: {name} differs"
    if aged["expiry"] != {number for number, line in entries.items() if line[4] != b"-"}:
        yield f"{base}: expiry differs"
