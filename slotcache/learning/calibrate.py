"""Sets the bars between the two readers by risk control on examples that the heads were not fitted to.

The learned reader may add a key (`alone`, `choose`) only from a probability at which the upper bound of its share of
wrong keys stays below a stated risk; where the examples are too few to show that, it may not. It may take a key away
(`veto`, `scope`, `slot_veto`) from where the model before it might, as long as the share of wrong refusals that is seen
allows it, so that a handful of new labels neither lets through what was refused yesterday nor refuses what was read;
otherwise from the lowest probability at which the upper bound of that share does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from slotcache.domain.schema import Domain, Intent
from slotcache.errors import Abstain
from slotcache.evaluation.bounds import proportion
from slotcache.key import Key
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.parsing.agreement import Bars, objections
from slotcache.parsing.learned import Model
from slotcache.parsing.parser import Parser, Trace
from slotcache.parsing.reading import Reading
from slotcache.parsing.types import Parse

NEVER: Final = 2.0
"""A bar that no probability reaches."""

NOTHING: Final[Mapping[str, float]] = MappingProxyType({})

_GRID: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 0.9997, 0.9999)
_OPEN: Final = Bars(veto=NEVER, scope=NEVER, slot_veto=NEVER, choose=0.0, alone=0.0)


@dataclass(frozen=True, slots=True)
class Risks:
    """How often the learned reader may be wrong, as bounds of shares in [0, 1].

    Attributes:
        added: Wrong keys among those that it adds.
        refused: Right readings of the deterministic reader that it refuses.
        confidence: Of the bounds, over all bars tried at once.
    """

    added: float = 0.01
    refused: float = 0.015
    confidence: float = 0.95


DEFAULTS: Final = Risks()


@dataclass(slots=True)
class _Events:
    """Probabilities at which something happened, and whether it was right."""

    alone: list[tuple[float, bool]]
    choose: list[tuple[float, bool]]
    vetoes: list[float]
    scopes: list[float]
    slot_vetoes: list[float]
    right: int = 0


def calibrate(
    folder: Path,
    domain: Domain,
    examples: Sequence[Example],
    *,
    risks: Risks = DEFAULTS,
    former: Mapping[str, float] = NOTHING,
    step: Callable[[Example], object] = lambda _: None,
) -> Bars:
    """Bars for a model folder.

    Args:
        folder: The model.
        domain: The domain it reads with.
        examples: Labelled examples it was not fitted on.
        risks: How often it may be wrong.
        former: Bars of the model that it is to replace.
        step: Called with each example when it was looked at.
    """
    model = Model.load(folder, domain=domain.name)
    model.manifest = model.manifest.model_copy(update={"bars": asdict(_OPEN)})
    events = _observe(Parser(domain), Parser(domain, model), domain, examples, step)

    def refusing(bar: str, chances: Sequence[float]) -> float:
        found = _lowest_refusing(chances, events.right, risks, getattr(Bars(), bar))
        before = former.get(bar, NEVER)
        seen = sum(chance >= before for chance in chances)
        return before if before < NEVER and seen <= risks.refused * events.right else found

    return Bars(
        veto=refusing("veto", events.vetoes),
        scope=refusing("scope", events.scopes),
        slot_veto=refusing("slot_veto", events.slot_vetoes),
        choose=_lowest_adding(events.choose, risks),
        alone=_lowest_adding(events.alone, risks),
    )


def key_of(example: Example) -> str | None:
    """The printed key that a label stands for; None when it is out of scope."""
    if example.intent.partition("/")[0] == OUT_OF_SCOPE:
        return None
    return str(Key.of(example.intent, example.slots))


def intent_key(parse: Parse) -> str | None:
    """The printed intent key of a reading; None when it has none."""
    return str(parse.key) if parse.key is not None and not parse.key.is_verbatim else None


def _observe(
    exact: Parser, both: Parser, domain: Domain, examples: Iterable[Example], step: Callable[[Example], object]
) -> _Events:
    closed = [name for name, slot in domain.slots.items() if slot.type == "closed" and not slot.everywhere]
    known = frozenset(both.model.labels) if both.model else frozenset[str]()
    events = _Events([], [], [], [], [])
    for example in examples:
        alone = exact.parse(example.text)
        parse, trace = both.trace(example.text)
        truth, key = key_of(example), intent_key(alone)
        if key is None:
            added = intent_key(parse)
            if added is not None:
                kind = events.choose if alone.abstain is Abstain.AMBIGUOUS else events.alone
                kind.append((parse.confidence, added == truth))
        elif key == truth and trace.learned is not None:
            events.right += 1
            top, chance = trace.learned.intents[0]
            if top == OUT_OF_SCOPE:
                events.scopes.append(chance)
            if alone.intent in known:
                events.vetoes.append(1.0 - dict(trace.learned.intents).get(alone.intent, 0.0))
            against = _against(trace, alone, closed, domain.intents)
            if against is not None:
                events.slot_vetoes.append(against)
        step(example)
    return events


def _against(trace: Trace, parse: Parse, closed: Collection[str], intents: Mapping[str, Intent]) -> float | None:
    """How sure the learned reader is of another value in its surest objection to a reading."""
    assert trace.learned is not None
    assert parse.intent is not None
    ignored = {slot for r in trace.readings if r.intent == parse.intent and r.abstain is None for slot in r.ignored}
    reading = Reading(parse.intent, slots=parse.slots, ignored=tuple(ignored))
    return max((sure for _, _, sure in objections(reading, trace.learned, closed, intents)), default=None)


def _lowest_adding(events: Sequence[tuple[float, bool]], risks: Risks) -> float:
    for bar in _GRID:
        reached = [right for chance, right in events if chance >= bar]
        if reached and _upper(reached.count(False), len(reached), risks) <= risks.added:
            return bar
    return NEVER


def _lowest_refusing(chances: Sequence[float], right: int, risks: Risks, otherwise: float) -> float:
    for bar in _GRID:
        if _upper(sum(chance >= bar for chance in chances), right, risks) <= risks.refused:
            return bar
    return otherwise


def _upper(count: int, total: int, risks: Risks) -> float:
    # Every bar of the grid is tried, so each gets its share of the error; the bound is one-sided.
    error = 2 * (1 - risks.confidence) / len(_GRID)
    return proportion(count, total, confidence=1 - error).high
