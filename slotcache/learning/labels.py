"""Reads what analysts labelled: examples, pairs and domain patches, validated, deduplicated and free of contradictions.

One JSON object a line:

    {"text": "...", "intent": "cancel_order", "slots": {"timing": "post_shipment"}, "labeller": "kim"}
    {"text": "...", "intent": "out_of_scope"}
    {"text": "...", "personal": true}
    {"text": "...", "retract": true}
    {"a": "...", "b": "...", "same": false, "labeller": "kim"}
    {"a": "...", "b": "...", "retract": true}
    {"patch": {"fillers": ["quick one"]}, "labeller": "kim"}
    {"patch": {"fillers": ["quick one"]}, "retract": true}

A text under two labels is left out altogether and reported: one of the two is wrong, and nothing tells which. It stays
left out, in later runs too, until a row that retracts what stands before it settles the matter.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from slotcache.domain.patches import Patch, merged, patch_from, without
from slotcache.domain.schema import Domain
from slotcache.errors import DomainError, LabelsError
from slotcache.evaluation.pairs import Pair
from slotcache.learning.examples import OUT_OF_SCOPE, Example

LABELLED: Final = f"{OUT_OF_SCOPE}/labelled"
"""Class of texts that an analyst found out of scope."""

_ABOUT: Final = frozenset({"source", "labeller", "time", "model", "note", "id"})
_FIELDS: Final = {
    "example": frozenset({"text", "intent", "slots", "group"}) | _ABOUT,
    "personal": frozenset({"text", "personal"}) | _ABOUT,
    "retraction": frozenset({"text", "retract"}) | _ABOUT,
    "pair": frozenset({"a", "b", "same", "tag"}) | _ABOUT,
    "pair retraction": frozenset({"a", "b", "retract"}) | _ABOUT,
    "patch": frozenset({"patch", "retract"}) | _ABOUT,
}
_BY_FIELD: Final = {"example": "intent", "personal": "personal", "retraction": "retract"}
_SHOWN: Final = 20
_OPEN_VALUE: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Labels:
    """What was labelled, and what was left out.

    Attributes:
        examples: Labelled questions; out-of-scope ones among them.
        pairs: Pairs that may or must not share an answer.
        personal: Questions that no two customers may share.
        patch: Everything accepted into the domain.
        repeated: How many rows said what another had said.
        contradictions: Rows that contradict others, in words; none of them is used.
        at_odds: Examples among those rows, kept so that later runs know of the contradiction.
        taken_out: Labels that use a slot value which was taken out of the domain, in words; none of them is used.
    """

    examples: tuple[Example, ...] = ()
    pairs: tuple[Pair, ...] = ()
    personal: tuple[str, ...] = ()
    patch: Patch = field(default_factory=Patch)
    repeated: int = 0
    contradictions: tuple[str, ...] = ()
    at_odds: tuple[Example, ...] = ()
    taken_out: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """The labels as rows that `read_labels` takes."""
        rows: list[dict[str, Any]] = [
            {"text": e.text, "intent": e.intent.partition("/")[0], "slots": dict(sorted(e.slots.items()))}
            for e in (*self.examples, *self.at_odds)
        ]
        rows += [{"a": p.a, "b": p.b, "same": p.same, "tag": p.tag} for p in self.pairs]
        rows += [{"text": text, "personal": True} for text in self.personal]
        if not self.patch.empty:
            rows.append({"patch": self.patch.model_dump(mode="json", exclude_defaults=True)})
        return rows


def signature(text: str) -> str:
    """What two spellings of one question have in common: letters and digits, without case, marks and spaces."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold().replace("'", "")).split())


def read_labels(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Rows of a file of JSON lines, each with the place it stands in (`file:line`).

    Raises:
        LabelsError: the file cannot be read, or lines are not JSON objects; every one of them is named.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelsError(f"{path}: cannot be read: {error}") from None
    rows: list[tuple[str, Mapping[str, Any]]] = []
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}:{number}: not JSON: {error}")
            continue
        if isinstance(row, dict):
            rows.append((f"{path}:{number}", row))
        else:
            problems.append(f'{path}:{number}: not an object; write {{"text": ..., "intent": ..., "slots": ...}}')
    _raise(problems)
    return rows


def accept(
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    extend: Callable[[Patch], Domain],
    *,
    base: Sequence[Example] = (),
    patches: Iterable[Patch] = (),
) -> Labels:
    """Validate rows against a domain and settle repetitions and contradictions.

    Args:
        rows: Rows with their places.
        extend: Gives the domain with a patch applied; labels may use what a patch beside them adds.
        base: Examples that stand already; a new label that contradicts one is left out.
        patches: Further patches, from files of their own.

    Raises:
        LabelsError: rows cannot be used; the message names each of them with its fix.
        DomainError: the patches do not fit the domain or each other.
    """
    listed = list(rows)
    patch, gone = _additions(listed, patches)
    domain = extend(patch)
    listed, outdated = _in_use(listed, domain, None if gone.empty else extend(merged([gone, patch])))
    problems = [f"{where}: {problem}" for where, row in listed for problem in _problems(row, domain)]
    _raise(problems)
    return replace(_settled(listed, base, patch), taken_out=outdated)


def label_problems(intent: object, slots: object, domain: Domain) -> list[str]:
    """What is wrong with an intent and slot values in a domain, each with its fix."""
    if not isinstance(intent, str) or not intent:
        return ["'intent' must be a text; use 'out_of_scope' where no intent answers"]
    if not isinstance(slots, Mapping) or not all(isinstance(v, str) for v in slots.values()):
        return ["'slots' must map slot names to texts"]
    if intent.partition("/")[0] == OUT_OF_SCOPE:
        return ["an out-of-scope question has no slots; leave 'slots' out"] if slots else []
    if intent not in domain.intents:
        return [f"the domain has no intent {intent!r}{_meant(intent, domain.intents)}"]
    problems = []
    uses = domain.intents[intent]
    for name, value in slots.items():
        slot = domain.slots.get(name)
        if slot is None:
            problems.append(f"the domain has no slot {name!r}{_meant(name, domain.slots)}")
        elif slot.type == "closed" and value not in slot.values:
            problems.append(f"slot {name!r} has no value {value!r}{_meant(value, slot.values)}")
        elif slot.type != "closed" and not _OPEN_VALUE.fullmatch(value):
            problems.append(f"{name}={value!r} is no canonical {slot.type}; copy it from a printed key")
        elif slot.type == "closed" and not (slot.everywhere or slot.protects or name in (*uses.slots, *uses.ignore)):
            # What an intent may not drop stays in its key although it does not list the slot.
            problems.append(f"intent {intent!r} has no slot {name!r}{_meant(name, uses.slots)}")
    return problems


def _additions(rows: Sequence[tuple[str, Mapping[str, Any]]], patches: Iterable[Patch]) -> tuple[Patch, Patch]:
    """What is added to the domain, row by row, and what was added once and taken out again."""
    problems = []
    total = gone = Patch()
    for where, row in rows:
        if "patch" not in row:
            continue
        try:
            patch = patch_from(row["patch"], where=where)
        except DomainError as error:
            problems.append(str(error))
            continue
        if row.get("retract") is True:
            total = without(total, patch)
            # Spellings are no part of a label, and two of them could contradict each other.
            gone = merged([gone, patch.model_copy(update={"rewrites": {}})])
        else:
            total = merged([total, patch])
    _raise(problems)
    return merged([total, *patches]), gone


def _in_use(
    rows: list[tuple[str, Mapping[str, Any]]], domain: Domain, former: Domain | None
) -> tuple[list[tuple[str, Mapping[str, Any]]], tuple[str, ...]]:
    """Rows without the labels that only the domain from before something was taken out has words for."""
    if former is None:
        return rows, ()
    kept, left = [], []
    for where, row in rows:
        problems = list(_problems(row, domain)) if _kind(row) == "example" else []
        if problems and not list(_problems(row, former)):
            left.append(f"{row['text']!r}: {where}: {problems[0]}")
        else:
            kept.append((where, row))
    return kept, tuple(left)


def _problems(row: Mapping[str, Any], domain: Domain) -> Iterator[str]:
    kind = _kind(row)
    if kind is None:
        yield "needs 'text' with 'intent', 'personal' or 'retract', or 'a', 'b' and 'same', or 'patch'"
        return
    unknown = sorted(set(row) - _FIELDS[kind])
    if unknown:
        yield f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS[kind]))}"
    texts = ("a", "b") if kind in ("pair", "pair retraction") else () if kind == "patch" else ("text",)
    for name in texts:
        if not isinstance(row.get(name), str) or not row[name].strip():
            yield f"{name!r} must be a text that is not empty"
    if kind == "pair" and not isinstance(row.get("same"), bool):
        yield "'same' must be true (one answer serves both) or false"
    if kind == "personal" and row["personal"] is not True:
        yield "'personal' must be true; leave it out otherwise"
    if "retract" in row and row["retract"] is not True:
        yield "'retract' must be true; leave the row out otherwise"
    if kind == "example":
        yield from label_problems(row["intent"], row.get("slots") or {}, domain)


def _kind(row: Mapping[str, Any]) -> str | None:
    if "patch" in row:
        return "patch"
    if "a" in row or "b" in row or "same" in row:
        return "pair retraction" if "retract" in row else "pair"
    named = [kind for kind, name in _BY_FIELD.items() if name in row]
    return named[0] if len(named) == 1 else None


def _settled(rows: Sequence[tuple[str, Mapping[str, Any]]], base: Sequence[Example], patch: Patch) -> Labels:
    said: dict[str, dict[object, list[tuple[str, Example]]]] = defaultdict(lambda: defaultdict(list))
    joined: dict[tuple[str, str], dict[bool, list[tuple[str, Pair]]]] = defaultdict(lambda: defaultdict(list))
    personal: dict[str, str] = {}
    known = {signature(example.text): example for example in base}
    repeated = 0
    for where, row in rows:
        kind = _kind(row)
        if kind == "example":
            example = _example(row)
            said[signature(example.text)][_meaning(example)].append((where, example))
        elif kind == "pair":
            pair = Pair(row["a"], row["b"], row["same"], str(row.get("tag", "")))
            joined[_both(row)][pair.same].append((where, pair))
        elif kind == "pair retraction":
            joined.pop(_both(row), None)
        elif kind == "retraction":
            said.pop(signature(row["text"]), None)
            personal.pop(row["text"], None)
        elif kind == "personal":
            repeated += row["text"] in personal
            personal[row["text"]] = where
    examples, contradictions, at_odds = [], [], []
    for text, meanings in said.items():
        if len(meanings) > 1:
            told = "; ".join(f"{places[0][0]} says {_told(places[0][1])}" for places in meanings.values())
            contradictions.append(f"{next(iter(meanings.values()))[0][1].text!r}: {told}")
            at_odds += [places[0][1] for places in meanings.values()]
            continue
        (places,) = meanings.values()
        where, example = places[0]
        repeated += len(places) - 1
        former = known.get(text)
        if former is None:
            examples.append(example)
        elif _meaning(former) == _meaning(example):
            repeated += 1
        else:
            contradictions.append(
                f"{example.text!r}: {where} says {_told(example)}; the examples in use say {_told(former)}"
            )
    pairs = []
    for verdicts in joined.values():
        # Of two people who disagree, the one who says "must not share" costs a miss at worst.
        kept = verdicts.get(False) or verdicts[True]
        pairs.append(kept[0][1])
        repeated += len(kept) - 1
        if len(verdicts) > 1:
            voices = [where for found in verdicts.values() for where, _ in found]
            contradictions.append(
                f"{kept[0][1].a!r} / {kept[0][1].b!r}: {', '.join(voices)} disagree; kept apart until they agree"
            )
    return Labels(
        tuple(examples), tuple(pairs), tuple(personal), patch, repeated, tuple(contradictions), tuple(at_odds)
    )


def _both(row: Mapping[str, Any]) -> tuple[str, str]:
    first, second = sorted((signature(row["a"]), signature(row["b"])))
    return first, second


def _example(row: Mapping[str, Any]) -> Example:
    intent = row["intent"]
    return Example(
        " ".join(row["text"].split()),
        LABELLED if intent == OUT_OF_SCOPE else intent,
        dict(row.get("slots") or {}),
        str(row.get("group", "")),
    )


def _meaning(example: Example) -> object:
    return example.intent.partition("/")[0], tuple(sorted(example.slots.items()))


def _told(example: Example) -> str:
    slots = ", ".join(f"{name}={value}" for name, value in sorted(example.slots.items()))
    return f"{example.intent.partition('/')[0]}({slots})"


def _meant(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else "; add it to the domain first"


def _raise(problems: Sequence[str]) -> None:
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise LabelsError("\n".join(["labels cannot be used", *problems[:_SHOWN], *more]))
