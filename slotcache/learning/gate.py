"""The gate: what champion and challenger do with the same questions, and whether the challenger may take over.

It may when no pair that must not share an answer meets, no personal question is shared, no labelled question gets a
wrong key that the champion did not give it, no intent loses more coverage than stated, and reading is quick enough.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from slotcache.domain.schema import Domain
from slotcache.evaluation import accepted
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.pairs import Outcome, Pair, judge, report
from slotcache.learning.calibrate import intent_key, key_of
from slotcache.learning.examples import Example
from slotcache.learning.pace import percentile
from slotcache.parsing.types import Parse

Read = Callable[[str], Parse]
Step = Callable[[str], object]

SHOWN: Final = 50
"""How many questions of one refusal are listed."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked at the gate.

    Attributes:
        pairs: Pairs that may or must not share an answer, reviewed ones among them.
        personal: Questions that no two customers may share.
        labelled: Labelled questions that no head was fitted on.
        reviewed: Questions that analysts labelled.
    """

    pairs: tuple[Pair, ...]
    personal: tuple[str, ...] = ()
    labelled: tuple[Example, ...] = ()
    reviewed: tuple[Example, ...] = ()

    def __len__(self) -> int:
        return 2 * len(self.pairs) + len(self.personal) + len(self.labelled) + len(self.reviewed)

    def texts(self) -> list[str]:
        """Every distinct question."""
        paired = [text for pair in self.pairs for text in (pair.a, pair.b)]
        asked = [*paired, *self.personal, *(example.text for example in (*self.labelled, *self.reviewed))]
        return list(dict.fromkeys(asked))


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a challenger may do worse than the champion, and what it may not exceed.

    Attributes:
        intent: Share of an intent's questions that may lose their key; one question always may.
        overall: Share of all labelled questions that may.
        outside: Share of out-of-scope questions that may be accepted, where the champion accepts fewer.
        disputed: Share of the reviewed questions that the domain's phrases read otherwise than labelled, three of which
            always may be; more is a bad set of labels, or a domain that needs mending first.
        latency: Seconds within which 95 % of the questions must be read, when nothing else keeps the processor busy.
    """

    intent: float = 0.05
    overall: float = 0.01
    outside: float = 0.01
    disputed: float = 0.2
    latency: float = 0.05


DEFAULTS: Final = Bounds()
_ALWAYS_DISPUTED: Final = 3


@dataclass(frozen=True, slots=True)
class WrongKey:
    """A labelled question under a key that its label does not give."""

    text: str
    label: str | None
    key: str

    def __str__(self) -> str:
        return f"{self.text!r}: read as {self.key}, labelled {self.label or 'out of scope'}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one parser did.

    Attributes:
        false_hits: Pairs that must not meet and do.
        hits: Pairs that may meet and do.
        leaks: Personal questions that are shared.
        wrong: Labelled questions under a wrong key, by text.
        disputed: Reviewed questions under a wrong key, by text.
        covered: Intent -> labelled questions with a key of that intent.
        outside: Out-of-scope questions that were accepted.
        latency: Seconds within which 95 % of the questions were read.
    """

    false_hits: tuple[Outcome, ...]
    hits: Proportion
    leaks: tuple[Parse, ...]
    wrong: dict[str, WrongKey]
    disputed: dict[str, WrongKey]
    covered: dict[str, Proportion]
    outside: Proportion
    latency: float

    def as_dict(self) -> dict[str, Any]:
        """For a manifest or a report."""
        return {
            "false_hits": [outcome.as_dict() for outcome in self.false_hits[:SHOWN]],
            "hits": self.hits.as_dict(),
            "personal_leaks": [parse.text for parse in self.leaks[:SHOWN]],
            "wrong_keys": [str(wrong) for wrong in list(self.wrong.values())[:SHOWN]],
            "disputed": [str(wrong) for wrong in list(self.disputed.values())[:SHOWN]],
            "coverage": {intent: [share.count, share.total] for intent, share in sorted(self.covered.items())},
            "out_of_scope_accepted": self.outside.as_dict(),
            "p95_milliseconds": round(1e3 * self.latency, 3),
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """One ground on which a challenger is refused.

    Attributes:
        ground: `false_hit`, `personal_leak`, `wrong_key`, `intent_regression`, `coverage`, `out_of_scope`,
            `disputed_labels`, `protected_labels`, `latency`, `load`.
        summary: What happened, with figures.
        cases: The pairs, questions or cells that decided.
    """

    ground: str
    summary: str
    cases: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"ground": self.ground, "summary": self.summary, "cases": list(self.cases)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a challenger may take over, and what that rests on."""

    refusals: tuple[Refusal, ...]
    champion: Measured | None = None
    challenger: Measured | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.refusals

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "passed": self.passed,
            "refusals": [refusal.as_dict() for refusal in self.refusals],
            "champion": self.champion.as_dict() if self.champion else None,
            "challenger": self.challenger.as_dict() if self.challenger else None,
            "notes": list(self.notes),
        }


def measure(
    read: Read,
    questions: Questions,
    *,
    step: Step = lambda _: None,
    timer: Callable[[], float] = time.perf_counter,
) -> Measured:
    """Ask one parser everything.

    Args:
        read: The parser.
        questions: What to ask.
        step: Called with each text when it was read.
        timer: Seconds of a clock that is never set.
    """
    seconds: list[float] = []

    def timed(text: str) -> Parse:
        start = timer()
        parse = read(text)
        seconds.append(timer() - start)
        step(text)
        return parse

    pairs = report([judge(pair, timed) for pair in questions.pairs])
    leaks = tuple(parse for parse in map(timed, questions.personal) if accepted.shared(parse))
    wrong: dict[str, WrongKey] = {}
    covered: dict[str, list[bool]] = defaultdict(list)
    outside: list[bool] = []
    for example in questions.labelled:
        parse = timed(example.text)
        truth, key = key_of(example), intent_key(parse)
        if truth is None:
            outside.append(key is not None)
        else:
            covered[example.intent].append(parse.intent == example.intent)
            if key not in (None, truth):
                wrong[example.text] = WrongKey(example.text, truth, str(key))
    return Measured(
        pairs.false_hits,
        pairs.same_customer.hits,
        leaks,
        wrong,
        _disputed(timed, questions.reviewed),
        {intent: proportion(sum(found), len(found)) for intent, found in covered.items()},
        proportion(sum(outside), len(outside)),
        percentile(seconds),
    )


@dataclass(frozen=True, slots=True)
class Disputes:
    """Labels that the words of their own question speak against.

    Attributes:
        reviewed: How many labels there are.
        keys: Those that the domain's phrases read as another key.
        protected: Those among them where a slot that can turn the answer (before or after) is said otherwise.
    """

    reviewed: int = 0
    keys: tuple[WrongKey, ...] = ()
    protected: tuple[WrongKey, ...] = ()


def disputes(read: Read, domain: Domain, reviewed: Sequence[Example]) -> Disputes:
    """Labels that reading by code alone contradicts.

    A model can be taught to contradict, too, and then questions would merely lose their keys; so the labels are judged
    by the phrases that people wrote.

    Args:
        read: The domain's reading without any model.
        domain: The domain.
        reviewed: The labels.
    """
    protecting = {name for name, slot in domain.slots.items() if slot.protects}
    keys, protected = [], []
    for example in reviewed:
        parse = read(example.text)
        truth, key = key_of(example), intent_key(parse)
        if key is None or key == truth:
            continue
        keys.append(WrongKey(example.text, truth, key))
        said = {name: value for name, value in parse.slots.items() if name in protecting}
        if parse.intent == example.intent and any(example.slots.get(name) != value for name, value in said.items()):
            protected.append(keys[-1])
    return Disputes(len(reviewed), tuple(keys), tuple(protected))


def compare(
    champion: Measured, challenger: Measured, disputed: Disputes | None = None, bounds: Bounds = DEFAULTS
) -> Verdict:
    """Whether the challenger may take over.

    Args:
        champion: What the model in use did.
        challenger: What the new one did.
        disputed: Labels that the words of their question speak against.
        bounds: What may be worse.
    """
    refusals = [
        *_absolute(challenger),
        *_wrong(champion, challenger),
        *_labels(disputed if disputed is not None else Disputes(), bounds),
        *_coverage(champion, challenger, bounds),
        *_outside(champion, challenger, bounds),
    ]
    if challenger.latency > bounds.latency:
        taken = f"95 % of the questions take up to {1e3 * challenger.latency:.1f} ms"
        refusals.append(Refusal("latency", f"{taken}; the bound is {1e3 * bounds.latency:.1f} ms"))
    told = {case for refusal in refusals for case in refusal.cases}
    notes = tuple(f"still wrong: {wrong}" for wrong in challenger.disputed.values() if str(wrong) not in told)
    return Verdict(tuple(refusals), champion, challenger, notes)


def _disputed(read: Read, reviewed: Iterable[Example]) -> dict[str, WrongKey]:
    found = {}
    for example in reviewed:
        truth, key = key_of(example), intent_key(read(example.text))
        if key is not None and key != truth:
            found[example.text] = WrongKey(example.text, truth, key)
    return found


def _absolute(challenger: Measured) -> Iterable[Refusal]:
    if challenger.false_hits:
        cases = tuple(f"{o.pair.a!r} / {o.pair.b!r} meet under {o.a.key}" for o in challenger.false_hits[:SHOWN])
        yield Refusal("false_hit", f"{len(challenger.false_hits)} pairs that must not share an answer do", cases)
    if challenger.leaks:
        cases = tuple(f"{parse.text!r}: {parse.key}" for parse in challenger.leaks[:SHOWN])
        yield Refusal("personal_leak", f"{len(challenger.leaks)} personal questions are shared", cases)


def _wrong(champion: Measured, challenger: Measured) -> Iterable[Refusal]:
    both = ((champion.wrong, challenger.wrong), (champion.disputed, challenger.disputed))
    new = [w for old, now in both for text, w in now.items() if old.get(text) != w]
    if new:
        cases = tuple(map(str, new[:SHOWN]))
        yield Refusal("wrong_key", f"{len(new)} labelled questions get a wrong key that they did not have", cases)


def _labels(disputed: Disputes, bounds: Bounds) -> Iterable[Refusal]:
    if len(disputed.keys) > max(_ALWAYS_DISPUTED, bounds.disputed * disputed.reviewed):
        cases = tuple(map(str, disputed.keys[:SHOWN]))
        summary = (
            f"the domain's phrases read {len(disputed.keys)} of {disputed.reviewed} reviewed questions otherwise than "
            f"labelled (at most {bounds.disputed:.0%} may be): the labels or the domain are wrong"
        )
        yield Refusal("disputed_labels", summary, cases)
    if disputed.protected:
        cases = tuple(map(str, disputed.protected[:SHOWN]))
        summary = (
            f"{len(disputed.protected)} labels contradict words that turn the answer; correct the label, or the phrase "
            "of the domain"
        )
        yield Refusal("protected_labels", summary, cases)


def _coverage(champion: Measured, challenger: Measured, bounds: Bounds) -> Iterable[Refusal]:
    cells = []
    for intent, before in sorted(champion.covered.items()):
        after = challenger.covered.get(intent, proportion(0, before.total))
        if before.count - after.count > max(1.0, bounds.intent * before.total):
            cells.append(f"{intent}: {before.count} of {before.total} before, {after.count} after")
    if cells:
        allowed = f"{bounds.intent:.0%} of an intent's questions, or one"
        yield Refusal("intent_regression", f"{len(cells)} intents lose more than {allowed}", tuple(cells))
    total = sum(share.total for share in champion.covered.values())
    had, has = (sum(share.count for share in m.covered.values()) for m in (champion, challenger))
    if had - has > max(1.0, bounds.overall * total):
        summary = f"{has} of {total} labelled questions get a key, {had} before; at most {bounds.overall:.0%} less"
        yield Refusal("coverage", summary)


def _outside(champion: Measured, challenger: Measured, bounds: Bounds) -> Iterable[Refusal]:
    allowed = max(champion.outside.rate, bounds.outside)
    if challenger.outside.rate > allowed:
        summary = f"out-of-scope questions accepted: {challenger.outside}; at most {allowed:.2%} may be"
        yield Refusal("out_of_scope", summary)
