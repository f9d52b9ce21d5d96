"""OpenTelemetry spans, when the package `opentelemetry-api` is installed; nothing at all when it is not.

The operator's own SDK decides where spans go. No span holds a customer's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from slotcache.serving.upstream import RawHeaders

try:
    from opentelemetry import propagate, trace
except ImportError:  # the extra is the operator's choice
    _AVAILABLE = False
else:
    _AVAILABLE = True


class Span(Protocol):
    """What can be said about a span."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Note a fact."""


class _NoSpan:
    def set_attribute(self, key: str, value: Any) -> None:
        """Nothing is noted."""


_NO_SPAN = _NoSpan()


class Tracing:
    """Makes spans."""

    def __init__(self, *, enabled: bool = _AVAILABLE) -> None:
        self._tracer = trace.get_tracer("slotcache") if enabled and _AVAILABLE else None

    @contextmanager
    def server(self, name: str, headers: RawHeaders) -> Iterator[Span]:
        """A span for a request, below the caller's own when its headers name one."""
        if self._tracer is None:
            yield _NO_SPAN
            return
        carrier = {key.decode("latin-1"): value.decode("latin-1") for key, value in headers}
        with self._tracer.start_as_current_span(
            name, context=propagate.extract(carrier), kind=trace.SpanKind.SERVER, record_exception=False
        ) as span:
            yield span

    @contextmanager
    def client(self, name: str, headers: RawHeaders) -> Iterator[RawHeaders]:
        """A span for a call of the endpoint; gives the headers with the span's own context in place of the caller's."""
        if self._tracer is None:
            yield headers
            return
        with self._tracer.start_as_current_span(name, kind=trace.SpanKind.CLIENT, record_exception=False) as span:
            if not span.get_span_context().is_valid:
                yield headers
                return
            carrier: dict[str, str] = {}
            propagate.inject(carrier)
            injected = [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in carrier.items()]
            names = {key for key, _ in injected}
            yield [*(pair for pair in headers if pair[0] not in names), *injected]
