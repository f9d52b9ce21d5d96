from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from slotcache.serving.tracing import Tracing
from tests.serving.harness import Bot

Make = Callable[..., Bot]
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return made


def named(spans: tuple[ReadableSpan, ...]) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans}


async def test_tracing_request_and_call_are_spans_of_the_callers_trace(
    exporter: InMemorySpanExporter, make_bot: Make
) -> None:
    bot = make_bot(tracing=Tracing())
    await bot.ask(headers=PARENT)
    spans = named(exporter.get_finished_spans())
    request, call = spans["slotcache request"], spans["slotcache upstream"]
    assert f"{request.context.trace_id:032x}" == TRACE
    assert call.parent is not None
    assert call.parent.span_id == request.context.span_id
    assert bot.endpoint.seen[0].headers["traceparent"] == f"00-{TRACE}-{call.context.span_id:016x}-01"


async def test_tracing_span_says_what_became_of_the_question(exporter: InMemorySpanExporter, make_bot: Make) -> None:
    bot = make_bot(tracing=Tracing())
    await bot.ask()
    exporter.clear()
    await bot.ask()
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {
        "slotcache.outcome": "hit",
        "slotcache.reason": "learned",
        "slotcache.intent": "cancel_order",
    }


async def test_tracing_span_says_why_a_request_was_no_question(exporter: InMemorySpanExporter, make_bot: Make) -> None:
    bot = make_bot(tracing=Tracing())
    await bot.ask(n=2)
    span = named(exporter.get_finished_spans())["slotcache request"]
    assert dict(span.attributes or {}) == {
        "slotcache.outcome": "bypass",
        "slotcache.reason": "request_unsupported",
        "slotcache.detail": "several_choices",
    }


@pytest.mark.parametrize("enabled", [True, False])
async def test_tracing_without_an_sdk_changes_nothing(make_bot: Make, enabled: bool) -> None:
    bot = make_bot(tracing=Tracing(enabled=enabled))
    await bot.ask(headers=PARENT)
    assert bot.endpoint.seen[0].headers["traceparent"].split("-")[1] == TRACE
