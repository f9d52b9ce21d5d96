"""Puts errors down to causes: pairs that did not meet, pairs that must not have, questions that got a wrong key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from slotcache.evaluation.causes import Cause, Stage, class_of
from slotcache.evaluation.sight import FILLER, GRAMMAR, Sight
from slotcache.parsing.agreement import OUT_OF_SCOPE
from slotcache.parsing.types import Owner


@dataclass(frozen=True, slots=True)
class Tally:
    """How many errors one cause is behind.

    Attributes:
        stage: The stage.
        cause: Name of the cause.
        alone: Errors that have no other cause; mending this one would mend them.
        count: Errors in all that have it.
        words: What was at fault, most often first.
    """

    stage: Stage
    cause: str
    alone: int
    count: int
    words: tuple[tuple[str, int], ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "stage": self.stage.value,
            "cause": self.cause,
            "alone": self.alone,
            "count": self.count,
            "words": dict(self.words),
        }


def missed(a: Sight, b: Sight) -> tuple[Cause, ...]:
    """Why two questions that one answer serves did not meet: one cause, or one for each side that has no key."""
    silent = [_proposed(s, other) for s, other in ((a, b), (b, a)) if s.cause is not None]
    if silent:
        return tuple(dict.fromkeys(silent))
    return (apart(a, b),)


def apart(a: Sight, b: Sight) -> Cause:
    """Why two questions with intent keys do not meet."""
    first, second = a.parse, b.parse
    if first.intent != second.intent:
        return Cause(Stage.CLASSIFY, "two intents", (f"{first.intent} / {second.intent}",))
    if first.key != second.key:
        differ = sorted(n for n in {*first.slots, *second.slots} if first.slots.get(n) != second.slots.get(n))
        detail = tuple(f"{n}: {first.slots.get(n, '-')} / {second.slots.get(n, '-')}" for n in differ)
        return Cause(Stage.FILL, f"two keys, {' + '.join(differ)}", detail)
    if first.fingerprint != second.fingerprint:
        odd = (Counter(first.fingerprint) - Counter(second.fingerprint)) + (
            Counter(second.fingerprint) - Counter(first.fingerprint)
        )
        classes = sorted({class_of(word, first if word in first.fingerprint else second) for word in odd})
        return Cause(Stage.GUARD, f"fingerprint {' + '.join(classes)}", tuple(sorted(odd)))
    if first.owner is Owner.NEVER:
        return Cause(Stage.OWNER, "never cached", (str(first.intent),))
    return Cause(Stage.OWNER, "owners differ", (f"{first.owner} / {second.owner}",))


def met(a: Sight, b: Sight) -> Cause:
    """What made two questions meet that need different answers: the words in which they differ, and what they became.

    A repair of spelling is named first, then a value that the intent dropped, then words that were taken for the same
    thing, then words that were passed over.
    """
    if a.parse.key is not None and a.parse.key.is_verbatim:
        return Cause(Stage.NORMALISE, "same words", (a.parse.canonical,))
    repaired = tuple(f"{was} -> {now}" for was, now in sorted({**a.repairs, **b.repairs}.items()))
    odd = _odd_words(a, b)
    if repaired and not odd:
        return Cause(Stage.SPELLING, "repaired to one word", repaired)
    ignored = sorted({*a.ignored, *b.ignored})
    if ignored:
        return Cause(Stage.FILL, f"dropped {' + '.join(ignored)}", odd)
    if a.merged or b.merged:
        return Cause(Stage.FILL, "merged values", odd)
    if not odd:
        return Cause(Stage.NORMALISE, "same words", repaired)
    if all(word.endswith((f" is {FILLER}", f" is {GRAMMAR}")) for word in odd):
        return Cause(Stage.GUARD, "passed over", odd)
    return Cause(Stage.FILL, "taken for one thing", odd)


def let_in(sight: Sight) -> Cause:
    """Why a question that is none of the domain's got an intent key."""
    intent = str(sight.parse.intent)
    if not sight.intents:
        return Cause(Stage.FILL, "read by code alone", (intent,))
    top, chance = sight.intents[0]
    if top == OUT_OF_SCOPE:
        return Cause(Stage.AGREEMENT, "learned reader not heeded", (f"{intent} against out of scope {chance:.0%}",))
    return Cause(Stage.CLASSIFY, "taken for an intent", (f"{top} {chance:.0%}",))


def leaked(sight: Sight) -> Cause:
    """Why a personal question got a key that others share."""
    if sight.parse.key is not None and sight.parse.key.is_verbatim:
        return Cause(Stage.OWNER, "verbatim key is shared")
    return Cause(Stage.OWNER, "the intent is shared", (str(sight.parse.intent),))


def misread(sight: Sight, intent: str, slots: Mapping[str, str]) -> Cause:
    """Why a question got another key than its label.

    A key that says all that the label says and more ("finer by ...") costs a miss, never a wrong answer.
    """
    if sight.parse.intent != intent:
        chances = dict(sight.intents)
        told = (f"{sight.parse.intent}, not {intent}",)
        if sight.intents and sight.intents[0][0] == intent:
            return Cause(Stage.AGREEMENT, "learned reader not heeded", (f"{told[0]} {chances[intent]:.0%}",))
        if sight.proposed is not None and intent not in sight.proposed:
            return Cause(Stage.PROPOSE, "not proposed", told)
        return Cause(Stage.CLASSIFY, "another intent", told)
    said = sight.parse.slots
    differ = sorted(name for name in {*said, *slots} if said.get(name) != slots.get(name))
    detail = tuple(f"{name}: {said.get(name, '-')}, not {slots.get(name, '-')}" for name in differ)
    mended = {word for repair in sight.repairs.values() for word in repair.split()}
    if any(word in mended and f"{name}=" in role for word, role in sight.words for name in differ):
        return Cause(Stage.SPELLING, f"repaired to a wrong {' + '.join(differ)}", detail)
    finer = slots.items() <= said.items()
    return Cause(Stage.FILL, f"{'finer by' if finer else 'wrong'} {' + '.join(differ)}", detail)


def tally(errors: Iterable[Sequence[Cause]], *, words: int = 8) -> tuple[Tally, ...]:
    """How many errors each cause is behind, most first.

    Args:
        errors: The causes of each error.
        words: How many of the words at fault are named.
    """
    alone: Counter[tuple[Stage, str]] = Counter()
    count: Counter[tuple[Stage, str]] = Counter()
    at_fault: dict[tuple[Stage, str], Counter[str]] = {}
    for causes in errors:
        kinds = {(cause.stage, cause.name) for cause in causes}
        count.update(kinds)
        if len(kinds) == 1:
            alone.update(kinds)
        for cause in causes:
            at_fault.setdefault((cause.stage, cause.name), Counter()).update(set(cause.detail))
    return tuple(
        Tally(stage, name, alone[stage, name], found, tuple(at_fault[stage, name].most_common(words)))
        for (stage, name), found in sorted(count.items(), key=lambda item: (-item[1], item[0]))
    )


def _proposed(sight: Sight, other: Sight) -> Cause:
    """The cause of a silence; where the other side names the intent, a refusal by a model that never proposed it is
    put down to the proposal.
    """
    cause = sight.cause
    assert cause is not None
    right = other.parse.intent
    refused = cause.stage in (Stage.CLASSIFY, Stage.AGREEMENT)
    if refused and right is not None and sight.proposed is not None and right not in sight.proposed:
        return replace(cause, stage=Stage.PROPOSE, name=f"not proposed, {cause.name}")
    return cause


def _odd_words(a: Sight, b: Sight) -> tuple[str, ...]:
    first, second = Counter(word for word, _ in a.words), Counter(word for word, _ in b.words)
    odd = {*(first - second), *(second - first)}
    return tuple(dict.fromkeys(f"{word} is {role}" for word, role in (*a.words, *b.words) if word in odd))
