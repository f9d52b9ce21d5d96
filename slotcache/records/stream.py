"""The traffic record of many machines in one place: a stream on the Redis or Valkey servers that the bots share.

Every record is one entry of the stream `<prefix>:records`; what writers lost is in the hash `<prefix>:records:lost`.
Entries are in the order in which they arrived, and their ids grow, so that a reader can come back for what is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from slotcache.errors import StoreError, StoreUnavailable
from slotcache.records.places import Kept, Sweep
from slotcache.records.record import Record
from slotcache.stores.redis_link import Call, RedisLink
from slotcache.stores.redis_url import RedisUrl

_PAGE: Final = 1_000
_FIELD: Final = "r"
_SEQUENCE_BITS: Final = 20
"""A position is the time of a stream id in milliseconds, followed by its sequence number in so many bits."""


class StreamPlace:
    """A stream that any number of bots on any number of machines write to."""

    def __init__(self, url: str) -> None:
        """Remember where it is; nothing is connected yet.

        Raises:
            ConfigurationError: the URL makes no sense.
        """
        self._url = RedisUrl.parse(url)
        self._key = f"{{{self._url.options.prefix}:records}}"
        self._link: RedisLink | None = None

    def check(self) -> None:
        """Raise when something else than a traffic record stands in its place."""
        with suppress(StoreUnavailable):  # the bot starts without; what cannot be written is counted
            self._call("TYPE", self._key)

    def write(
        self, records: Sequence[Record], *, writer: str, at: float, lost: int | None, sweep: Sweep | None
    ) -> Kept:
        """Add them one by one; after a failure the rest is lost."""
        written = 0
        try:
            for record in records:
                self._call("XADD", self._key, "*", _FIELD, record.to_json())
                written += 1
            if lost is not None:
                self._call("HSET", f"{self._key}:lost", writer, lost)
            return Kept(written, self._sweep(sweep) if sweep is not None else 0)
        except StoreError:
            return Kept(written, whole=False)

    def read(self, *, after: int = 0) -> Iterator[tuple[int, Record]]:
        """Records with their positions, oldest first.

        Args:
            after: Position of the last record that was read, 0 for none.

        Raises:
            StoreError: the stream cannot be read.
        """
        last = _stream_id(after)
        recent: dict[str, None] = {}
        while True:
            page = self._call("XRANGE", self._key, f"({last}", "+", "COUNT", _PAGE)
            for name, fields in page:
                last = name.decode()
                try:
                    record = Record.from_json(_value(fields))
                except ValueError as error:
                    raise StoreError(
                        f"{self._url.shown}: {last} in {self._key} is no traffic record: {error}"
                    ) from None
                # A record whose acknowledgement was lost on the way was sent once more.
                if record.id not in recent:
                    yield _position(last), record
                recent[record.id] = None
                if len(recent) > _PAGE:
                    del recent[next(iter(recent))]
            if len(page) < _PAGE:
                return

    def last(self) -> int:
        """Position of the last record; 0 when there is none."""
        found = self._call("XREVRANGE", self._key, "+", "-", "COUNT", 1)
        return _position(found[0][0].decode()) if found else 0

    def lost(self) -> int:
        """How many records the writers have reported as lost."""
        return sum(int(count) for count in self._call("HVALS", f"{self._key}:lost"))

    def close(self) -> None:
        """Close the connections."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _call(self, *words: str | bytes | int) -> Any:
        self._link = self._link or RedisLink(self._url, prepare=self._prepare)
        return self._link.call(*words)

    def _prepare(self, call: Call) -> None:
        kind = call("TYPE", self._key).decode()
        if kind not in ("none", "stream"):
            raise StoreError(f"{self._url.shown}: {self._key} is a {kind}, not a traffic record; name another ?prefix=")

    def _sweep(self, sweep: Sweep) -> int:
        old = self._call("XTRIM", self._key, "MINID", max(0, int(sweep.oldest * 1e3)))
        return int(old) + int(self._call("XTRIM", self._key, "MAXLEN", sweep.rows))


def _value(fields: object) -> str:
    """The record among the fields of an entry, which a list (RESP2) or a mapping (RESP3) may hold."""
    pairs = dict(zip(fields[::2], fields[1::2], strict=True)) if isinstance(fields, list) else fields
    if not isinstance(pairs, dict) or _FIELD.encode() not in pairs:
        raise ValueError("it holds none")
    return str(pairs[_FIELD.encode()].decode())


def _position(name: str) -> int:
    time, _, sequence = name.partition("-")
    return (int(time) << _SEQUENCE_BITS) | int(sequence)


def _stream_id(position: int) -> str:
    return f"{position >> _SEQUENCE_BITS}-{position & ((1 << _SEQUENCE_BITS) - 1)}"
