"""What Prometheus is told. `Metrics` is an observer of the cache, and the proxy tells it the rest.

Labels hold reasons, intents, stages and status classes: closed sets, never a tenant, a customer, a key or a text. If a
domain has hundreds of intents, those beyond the first 500 are counted as `other`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from slotcache.entry import Entry
from slotcache.events import Answered, Decision, Event, Kept, LookedUp, Outcome, Switched, Trouble, Withdrawn
from slotcache.serving.logs import intent_of

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_MOST_INTENTS: Final = 500
_BUCKETS: Final = (
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
)  # fmt: skip


class Metrics:
    """Counters, gauges and histograms of one proxy, in a registry of their own."""

    def __init__(self) -> None:
        """Make all of them, at zero."""
        self.registry = CollectorRegistry()
        self._intents: dict[str, str] = {}
        self.lookups = self._counter(
            "lookups", "Questions looked up, by what came of it.", "outcome", "reason", "intent"
        )
        self.unsupported = self._counter("unsupported", "Requests that no stored answer can serve.", "detail")
        self.coalesced = self._counter("coalesced", "Questions answered by a call that another caller made.", "intent")
        self.not_stored = self._counter("not_stored", "Answers of the model that were not kept.", "reason")
        self.stored = self._counter("stored", "Answers kept.", "origin")
        self.saved_calls = self._counter("saved_calls", "Calls of the model that were not needed.")
        self.saved_tokens = self._counter("saved_tokens", "Tokens of those calls, where known.", "kind")
        self.saved_money = self._counter("saved_money", "Price of those calls, in the operator's currency.")
        self.spent_calls = self._counter("spent_calls", "Calls of the model, looked up before or not.")
        self.spent_tokens = self._counter("spent_tokens", "Tokens of those calls, where known.", "kind")
        self.spent_money = self._counter("spent_money", "Price of those calls, in the operator's currency.")
        self.withdrawn = self._counter("withdrawn", "Answers taken out of recall on somebody's word.", "reason")
        self.switched = self._counter("switched", "Intents switched off or on.", "to")
        self.trouble = self._counter("trouble", "Failures that no customer noticed.", "where")
        self.replies = self._counter("upstream_replies", "Replies of the endpoint, by class of status.", "status")
        self.failures = self._counter("upstream_failures", "Calls without a whole reply.", "reason")
        self.doubted = self._counter("untrusted_headers", "Trusted headers from somebody who is not trusted.")
        self.refused = self._counter("refused", "Requests that the proxy itself turned away.", "reason")
        self.gone = self._counter("clients_gone", "Requests whose client left before it had the whole response.")
        self.store = Gauge(
            "slotcache_store",
            "What the store tells about itself once a minute: what it holds, and what became of the rest.",
            ["what"],
            registry=self.registry,
        )
        self.running = Gauge("slotcache_requests_running", "Requests in progress.", registry=self.registry)
        self.parser_loaded = Gauge(
            "slotcache_parser_loaded", "Whether questions can be read: 1, or 0.", registry=self.registry
        )
        self.seconds = Histogram(
            "slotcache_seconds",
            "Time by stage: read (the request), lookup, upstream_first (to the endpoint's first byte), upstream, "
            "hit (a whole request answered from the cache), miss (any other).",
            ["stage"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._stages = {
            stage: self.seconds.labels(stage)
            for stage in ("read", "lookup", "upstream_first", "upstream", "hit", "miss")
        }
        self._known: dict[tuple[str, str, str], Counter] = {}

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"slotcache_{name}", about, labels, registry=self.registry)

    def __call__(self, event: Event) -> None:
        """Count an event of the cache."""
        if isinstance(event, LookedUp):
            self._looked_up(event)
        elif isinstance(event, Answered):
            self._answered(event)
        elif isinstance(event, Kept):
            self._kept(event.outcome.reason, event.entry)
        elif isinstance(event, Withdrawn):
            self.withdrawn.labels(event.reason).inc(event.count)
        elif isinstance(event, Switched):
            self.switched.labels("off" if event.off else "on").inc()
        elif isinstance(event, Trouble):
            self.trouble.labels(event.where).inc()

    def observe(self, stage: str, seconds: float) -> None:
        """Note how long a stage took."""
        self._stages[stage].observe(max(seconds, 0.0))

    def spend(self, tokens_in: int, tokens_out: int, cost: float) -> None:
        """Note what a call of the model took."""
        self.spent_calls.inc()
        if tokens_in or tokens_out:
            self.spent_tokens.labels("input").inc(tokens_in)
            self.spent_tokens.labels("output").inc(tokens_out)
        if cost:
            self.spent_money.inc(cost)

    def holds(self, counts: Mapping[str, int]) -> None:
        """Note what the store tells about itself."""
        for what, number in counts.items():
            self.store.labels(what).set(number)

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self.registry)

    def _looked_up(self, event: LookedUp) -> None:
        outcome = event.outcome
        intent = self._intent(outcome)
        name = (outcome.decision.value, outcome.reason, intent)
        counter = self._known.get(name)
        if counter is None:
            counter = self._known[name] = self.lookups.labels(*name)
        counter.inc()
        self._stages["lookup"].observe(event.seconds)
        if outcome.decision is Decision.HIT and event.served is not None:
            self._save(event.served.tokens_in, event.served.tokens_out, event.served.cost)

    def _answered(self, event: Answered) -> None:
        outcome = event.outcome
        if outcome.coalesced:
            self.coalesced.labels(self._intent(outcome)).inc()
            made = event.served
            self._save(*((made.tokens_in, made.tokens_out, made.cost) if made is not None else (0, 0, 0.0)))
        elif outcome.decision is not Decision.HIT:
            self._kept(outcome.not_stored, event.stored)

    def _kept(self, reason: str | None, entry: Entry | None) -> None:
        if entry is not None:
            self.stored.labels(entry.origin.value).inc()
        elif reason is not None:
            self.not_stored.labels(reason).inc()

    def _save(self, tokens_in: int, tokens_out: int, cost: float) -> None:
        self.saved_calls.inc()
        if tokens_in or tokens_out:
            self.saved_tokens.labels("input").inc(tokens_in)
            self.saved_tokens.labels("output").inc(tokens_out)
        if cost:
            self.saved_money.inc(cost)

    def _intent(self, outcome: Outcome) -> str:
        intent = intent_of(outcome.key)
        known = self._intents.get(intent)
        if known is None:
            known = intent if len(self._intents) < _MOST_INTENTS else "other"
            if known == intent:
                self._intents[intent] = intent
        return known
