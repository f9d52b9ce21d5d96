"""Additions to the domain that analysts propose: checked, tried out and shown as a diff; nothing applies by itself.

A proposal is a domain patch. Once somebody accepts it, the export carries it to the next retraining, whose gate has the
last word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import yaml

from slotcache.domain.check import Kind as Flaw
from slotcache.domain.check import check
from slotcache.domain.patches import merged, patch_from, patched
from slotcache.domain.schema import Domain
from slotcache.errors import DomainError
from slotcache.learning.additions import turning
from slotcache.parsing.normalise import Normaliser
from slotcache.parsing.parser import Parser
from slotcache.parsing.types import Parse
from slotcache.records.redact import readable
from slotcache.review.acts import Act, Kind, standing

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_CONTEXT: Final = 2


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed addition.

    Attributes:
        id: Its subject.
        patch: The addition.
        author: Who proposed it first.
        at: When, in seconds since the epoch.
        text: The question that it was proposed for; empty for none.
        accepted: Who accepted it; empty for nobody.
        taken_out: Who took back that it was accepted; empty for nobody. The next retraining takes it out of the model.
        number: Number of the last act on it.
        act: Id of the act that takes it back when undone: the acceptance, or else the proposal.
    """

    id: str
    patch: Mapping[str, Any]
    author: str
    at: float
    text: str
    accepted: str
    number: int
    act: str
    taken_out: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a proposal would do.

    Attributes:
        problem: Why it cannot be used; empty when it can.
        known: Whether the domain in use says it already, as after the retraining that took it in.
        diff: The parts of the domain that change, as a unified diff.
        warnings: What `slotcache check` finds in the domain with it and not without it.
        before: The reading of the question now; None without a question.
        after: The reading with the addition.
    """

    problem: str = ""
    diff: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    before: Parse | None = None
    after: Parse | None = None
    known: bool = False


def proposals(acts: Iterable[Act]) -> list[Proposal]:
    """What was proposed and not taken back, oldest first."""
    held: dict[str, list[Act]] = {}
    for act in acts:
        held.setdefault(act.subject, []).append(act)
    found = []
    for subject, listed in held.items():
        stands = standing(listed)
        made = next((act for act in stands if act.kind is Kind.PROPOSE), None)
        if made is None:
            continue
        accepted = next((act for act in stands if act.kind is Kind.ACCEPT), None)
        found.append(
            Proposal(
                subject,
                made.body["patch"],
                made.author,
                made.at,
                str(made.body.get("text", "")),
                accepted.author if accepted is not None else "",
                listed[-1].number,
                accepted.id if accepted is not None else made.id,
                _taken_out(listed) if accepted is None else "",
            )
        )
    return found


def _taken_out(acts: list[Act]) -> str:
    once = {act.id for act in acts if act.kind is Kind.ACCEPT}
    return next((act.author for act in reversed(acts) if act.undoes in once), "")


def accepted_id(proposed: str) -> str:
    """Id of the acceptance that a row of an export stands for, from that of its proposal."""
    return f"{proposed}.accepted"


def filler(phrase: str) -> dict[str, Any]:
    """Words that never change an answer."""
    return {"fillers": [_plain(phrase)]}


def synonym(target: str, phrase: str) -> dict[str, Any] | str:
    """Other words for a concept (`cancel`) or for a slot value (`timing=post_shipment`), or what is wrong with that."""
    slot, equals, value = target.strip().partition("=")
    if not all(_NAME.fullmatch(name) for name in ([slot, value] if equals else [slot])):
        return f"{target!r} is neither a concept such as 'cancel' nor a value such as 'timing=post_shipment'"
    phrases = [_plain(phrase)]
    return {"slots": {slot: {"values": {value: phrases}}}} if equals else {"concepts": {slot: phrases}}


def targets(domain: Domain) -> list[str]:
    """Everything that may have a synonym: concepts and values of closed slots."""
    values = [f"{name}={value}" for name, slot in domain.slots.items() for value in slot.values]
    return [*sorted(domain.concepts), *sorted(values)]


def problem_of(patch: Mapping[str, Any], domain: Domain, *, new_value: bool) -> str:
    """Why a proposal cannot be used; empty when the domain with it is valid.

    Args:
        patch: The proposal.
        domain: The domain.
        new_value: Whether it is meant to add a value that the slot does not have yet.
    """
    for name, phrases in patch.get("concepts", {}).items():
        if name not in domain.concepts:
            return f"the domain has no concept {name!r}{_meant(name, domain.concepts)}"
        if not any(phrases):
            return "say the words first"
    for name, slot in patch.get("slots", {}).items():
        known = domain.slots[name].values if name in domain.slots else {}
        for value in slot.get("values", {}):
            if name in domain.slots and (value in known) is new_value:
                if new_value:
                    return f"slot {name!r} has the value {value!r} already; add a synonym to it"
                return f"slot {name!r} has no value {value!r}{_meant(value, known)}"
    turned = turning(patch.get("fillers", ()), domain)
    if turned:
        return f"{turned!r} can turn an answer, so no phrase with it may be passed over"
    return effect(patch, domain).problem


def effect(patch: Mapping[str, Any], domain: Domain, *, parser: Parser | None = None, text: str = "") -> Effect:
    """What a proposal would do to the domain, and to how a question is read.

    Args:
        patch: The proposal.
        domain: The domain as it is.
        parser: The parser of that domain; None to leave the reading out.
        text: The question, redacted.
    """
    try:
        made = patch_from(patch, where="proposal")
        after = patched(domain, merged([made]))
    except DomainError as error:
        return Effect(str(error))
    words = Normaliser(after.rewrites).words
    known = set(check(domain, words))
    new = [finding for finding in check(after, words) if finding not in known]
    broken = [f"{'.'.join(f.path)}: {f.message}" for f in new if f.kind is Flaw.BAD_PATTERN]
    if broken:
        return Effect(broken[0])
    told = tuple(f"{'.'.join(f.path)}: {f.message}" for f in new)
    diff = tuple(_diff(patch, domain, after))
    if not diff:
        return Effect("the domain says this already", known=True)
    if parser is None or not text:
        return Effect(diff=diff, warnings=told)
    reading = Parser(after, parser.model).parse(readable(text))
    return Effect("", diff, told, parser.parse(readable(text)), reading)


def as_yaml(patch: Mapping[str, Any]) -> str:
    """A proposal as a domain patch file, which `slotcache retrain --patch` takes."""
    return yaml.safe_dump(dict(patch), sort_keys=True, allow_unicode=True)


def _diff(patch: Mapping[str, Any], before: Domain, after: Domain) -> Iterable[str]:
    for path in _paths(patch):
        was, now = (_part(domain.model_dump(mode="json"), path) for domain in (before, after))
        old, new = (as_yaml({".".join(path): part}).splitlines() for part in (was, now))
        changed = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
        if changed:
            yield f"@@ {'.'.join(path)} @@"
            yield from (line for line in changed if not line.startswith("@@"))


def _paths(patch: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """The parts of a domain that a patch touches: lists of phrases."""
    for section, content in patch.items():
        if not isinstance(content, Mapping):
            yield (section,)
            continue
        for name, part in content.items():
            values = part.get("values") if isinstance(part, Mapping) else None
            if section == "slots" and isinstance(values, Mapping):
                yield from ((section, name, "values", value) for value in values)
            else:
                yield (section, name)


def _part(data: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        data = data.get(step, []) if isinstance(data, Mapping) else []
    return data


def _plain(phrase: str) -> str:
    return " ".join(phrase.split())


@lru_cache(maxsize=256)
def _close(name: str, known: tuple[str, ...]) -> str:
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _meant(name: str, known: Iterable[str]) -> str:
    near = _close(name, tuple(known))
    return f"; did you mean {near!r}?" if near else ""
