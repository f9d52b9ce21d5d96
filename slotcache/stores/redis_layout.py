"""What the keys of a Redis store are called and hold.

All entries are spread over a fixed number of buckets by their cell, and everything that belongs to a bucket has the
bucket's number as its hash tag. A bucket thus lives on one node of a cluster, entries with their indexes, history and
leases, and one script (`redis_bucket.lua`) changes all of it at once: no index member dangles, whatever dies when. What
spans buckets is done bucket by bucket.

With prefix `slotcache` and bucket 7:

    slotcache:{7}:meta          hash: next entry number, number of the latest mark, entries evicted
    slotcache:{7}:cell:<cell>   hash: variant -> entry number and the entry as JSON; all that a lookup reads
    slotcache:{7}:entries       hash: entry number -> cell, variant, token, origin, expiry, digest, labels
    slotcache:{7}:index:<label> set of entry numbers, for the labels that answer most questions
    slotcache:{7}:expiry        sorted set: entry numbers by expiry; `learned` and `approved`: by age
    slotcache:{7}:history:<cell> list of entries that left recall; `left`: their cells, oldest first
    slotcache:{7}:marks         list of the latest invalidations, which answers being made meanwhile are checked against
    slotcache:{7}:lease:<cell><variant>  end and holder of a fill in progress; expires by itself
    slotcache:schema            version of all this and the number of buckets
    slotcache:switches, slotcache:feedback, slotcache:quarantine, slotcache:waiting   one key each

Numbers of entries are small integers, so that Redis keeps small indexes in four bytes a member. A label is a kind and a
digest: names of customers and words of tags do not show in key names.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final
from zlib import crc32

from slotcache.address import CELL_LENGTH, digest
from slotcache.entry import Entry, Selector

SCHEMA_VERSION: Final = 1
"""Raised with every change of what the keys hold."""

INDEXED: Final = "istcTe"
"""Kinds of label that have a set of their own; the script knows the same letters."""

SCRIPT: Final = files("slotcache.stores").joinpath("redis_bucket.lua").read_text(encoding="utf-8")
"""The operations of a bucket."""

_PREFERRED: Final = "ctsiTe"
"""The same letters, those with the smallest sets first."""


class Layout:
    """Names of the keys under one prefix with a number of buckets."""

    def __init__(self, prefix: str, buckets: int) -> None:
        self.prefix = prefix
        self.buckets = buckets
        self.schema = f"{prefix}:schema"
        self.switches = f"{prefix}:switches"
        self.feedback = f"{prefix}:feedback"
        self.quarantine = f"{prefix}:quarantine"
        self.waiting = f"{prefix}:waiting"

    def bucket(self, cell: str) -> int:
        """The bucket of a cell."""
        return crc32(cell.encode("utf-8", "surrogatepass")) % self.buckets

    def name(self, bucket: int, what: str) -> str:
        """A key of a bucket."""
        return f"{self.prefix}:{{{bucket}}}:{what}"

    def cell(self, cell: str) -> str:
        """The key that holds the entries of a cell."""
        return self.name(self.bucket(cell), f"cell:{cell}")

    def history(self, cell: str) -> str:
        """The key that holds what left a cell."""
        return self.name(self.bucket(cell), f"history:{cell}")


def fields_of(entry: Entry) -> tuple[str, ...]:
    """The nine fields of an entry that the script's `put` takes."""
    expires = "-" if entry.expires is None else repr(float(entry.expires))
    return (
        entry.cell,
        entry.address.variant,
        token_of(entry.id),
        "a" if entry.approved else "l",
        repr(float(entry.created)),
        expires,
        # Two entries of one address whose digests are equal say the same.
        digest(entry.answer, entry.origin.value, expires, entry.author, *entry.tags, size=8),
        "".join(f" {label}" for label in dict.fromkeys(labels_of(entry))),
        entry.to_json(),
    )


def token_of(entry_id: str) -> str:
    """The part of an entry's id that is its own within the cell."""
    return entry_id[CELL_LENGTH:]


def labels_of(entry: Entry) -> Iterator[str]:
    """Everything that a selector may name about an entry."""
    key, namespace = entry.key, entry.address.namespace
    yield _label("k", str(key))
    yield _label("i", key.intent)
    yield _label("T", namespace.tenant)
    yield _label("c", namespace.customer)
    yield _label("e", namespace.epoch)
    yield _label("g", namespace.generation)
    if not key.is_verbatim:
        for name, value in key.slots:
            yield _label("n", name)
            yield _label("s", name, value)
    for tag in entry.tags:
        yield _label("t", tag)


def labels_wanted(selector: Selector) -> tuple[str, ...]:
    """The labels that an entry must carry to be selected: exactly those entries that `Selector.matches` accepts."""
    plain = {
        "k": selector.key,
        "i": selector.intent,
        "t": selector.tag,
        "e": selector.epoch,
        "T": selector.tenant,
        "c": selector.customer,
        "g": selector.generation,
    }
    labels = [_label(kind, value) for kind, value in plain.items() if value is not None]
    labels += [_label("n", name) if value == "*" else _label("s", name, value) for name, value in selector.slots]
    return tuple(labels)


def best_index(labels: tuple[str, ...]) -> str | None:
    """The label whose set is likely the smallest; None when none of them has a set and all entries must be walked."""
    indexed = [label for label in labels if label[0] in INDEXED]
    return min(indexed, key=lambda label: _PREFERRED.index(label[0]), default=None)


@lru_cache(maxsize=8192)
def _label(kind: str, *parts: str) -> str:
    """A label. What is empty (no tenant, no customer) gets none that has a set: nearly every entry would be in it."""
    return (kind if any(parts) or kind not in INDEXED else "-") + digest(kind, *parts, size=8)
