"""Structured logs: one JSON object a line, without customers' words unless the operator asked for them."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, TextIO
from urllib.parse import quote

from slotcache.answers import find_personal

LOGGER: Final = logging.getLogger("slotcache.serving")
_SAFE: Final = " !\"#$&'()*+,-./:;<=>?@[]^_`{|}~"


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object; what `extra={"fields": {...}}` holds stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            # The text of an error may quote a customer; its type and place do not.
            line["error"] = record.exc_info[0].__name__
            line["at"] = _place(record.exc_info[2])
        return json.dumps(line, default=str)


def _place(trace: Any) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace is not None else ""


def set_up(stream: TextIO | None = None) -> None:
    """Send all logs of this process to a stream, as JSON."""
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    LOGGER.setLevel(logging.INFO)
    # These two write addresses and URLs of every request.
    for name in ("httpx", "httpcore", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.WARNING)


def say(
    event: str,
    fields: Mapping[str, object] | None = None,
    *,
    level: int = logging.INFO,
    error: BaseException | None = None,
    **more: object,
) -> None:
    """Log an event with its fields; those that are None are left out."""
    if LOGGER.isEnabledFor(level):
        kept = {name: value for name, value in {**(fields or {}), **more}.items() if value is not None}
        LOGGER.log(level, event, extra={"fields": kept}, exc_info=error)


def intent_of(key: str | None) -> str:
    """The intent in a printed key; `verbatim` for a question known only by its words, `none` without a key."""
    return key.partition("(")[0] if key else "none"


@lru_cache(maxsize=4096)
def loggable_key(key: str | None) -> str | None:
    """A printed key as it may stand in a log: only its intent where it holds a customer's own words or numbers."""
    if key is None or not (key.startswith("verbatim(") or find_personal(key)):
        return key
    return intent_of(key)


@lru_cache(maxsize=4096)
def header_key(key: str) -> str:
    """A printed key as a header tells it: ASCII, and a digest in place of a customer's own words or numbers."""
    shown = loggable_key(key)
    if shown != key:
        shown = f"{shown}#{blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
    return quote(shown or "", safe=_SAFE)
