"""The base examples: meaning groups, their labels, and a split that keeps no wording frame on two sides."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slotcache.domain.schema import Domain
from slotcache.key import Key
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.shipped import shipped

OUT_OF_SCOPE_FILE: Final = "out_of_scope"
FIT: Final = "fit"
CALIBRATION: Final = "calibration"
TEST: Final = "test"
OUTSIDE_KINDS: Final = frozenset({"near_oos", "far_oos", "follow_up", "several", "smalltalk", "other_language"})
"""Kinds of out-of-scope rows that the reader learns to refuse. Personal data is found by code, and a question that
holds some may well ask what the domain answers."""

_BLOCK: Final = 6
"""Groups written one after another that count as a family while they carry no label."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One worded meaning.

    Attributes:
        group: Id of the meaning group.
        label: Intent and slots, None while the group has no label.
        family: Groups that may share sentence frames; the split never separates the wordings of one voice in a
        family. split: `fit`, `calibration` or `test`.
    """

    text: str
    group: str
    voice: str
    family: str
    split: str
    label: Example | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """All utterances, and what was left out."""

    utterances: tuple[Utterance, ...]
    unlabelled: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def labelled(self) -> bool:
        """Whether any meaning group has a label."""
        return any(u.label and not u.label.intent.startswith(OUT_OF_SCOPE) for u in self.utterances)

    def of(self, split: str) -> list[Utterance]:
        """Utterances of one split."""
        return [u for u in self.utterances if u.split == split]


def load(folder: Path | None = None) -> Corpus:
    """Read groups and labels, those that ship when no folder is named.

    A text that stands under two labels is left out everywhere: one of the two is wrong and nothing tells which.

    Raises:
        ValueError: a line cannot be read, or a label is not a key.
    """
    folder = shipped("training/groups") if folder is None else folder
    keys = _labels(folder)
    rows = list(_rows(folder))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    position = {group: at for at, group in enumerate(groups)}
    utterances = []
    for row in rows:
        if row["area"] == OUT_OF_SCOPE_FILE and row["kind"] not in OUTSIDE_KINDS:
            continue
        group, text = row["group"], " ".join(row["text"].split())
        label = _label(row, text, keys)
        family = f"{row['area']}:{label.intent}" if label else f"{row['area']}:{position[group] // _BLOCK}"
        # Out-of-scope rows are written one by one, so that each is a family of its own.
        voice = row["voice"] or group
        utterances.append(Utterance(text, group, voice, family, _split(family, voice), label))
    kept, conflicting = _without_conflicts(utterances)
    kept = _without_leaks(kept)
    unlabelled = tuple(g for g in groups if not any(u.label for u in kept if u.group == g))
    return Corpus(tuple(kept), unlabelled, conflicting, dict(Counter(u.split for u in kept)))


def check(corpus: Corpus, domain: Domain) -> None:
    """Refuse labels that the domain does not have, before anything is trained on them.

    Raises:
        ValueError: names the groups, and what the domain lacks.
    """
    problems: dict[str, None] = {}
    for utterance in corpus.utterances:
        label = utterance.label
        if label is None or label.intent.startswith(OUT_OF_SCOPE):
            continue
        if label.intent not in domain.intents:
            problems[f"{utterance.group}: the domain has no intent {label.intent!r}"] = None
        for name, value in label.slots.items():
            slot = domain.slots.get(name)
            if slot is None or (slot.type == "closed" and value not in slot.values):
                problems[f"{utterance.group}: the domain has no {name}={value}"] = None
    if problems:
        raise ValueError("labels do not fit the domain:\n  " + "\n  ".join(list(problems)[:40]))


def examples(utterances: Iterable[Utterance], *, by_group: bool = False) -> list[Example]:
    """Labelled examples of utterances; with `by_group` an unlabelled meaning group stands for an intent."""
    found = []
    for utterance in utterances:
        if utterance.label is not None:
            found.append(utterance.label)
        elif by_group:
            found.append(Example(utterance.text, utterance.group.replace("-", "_"), group=utterance.group))
    return found


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        if path.stem.startswith("labels_"):
            continue
        for row in _lines(path):
            yield {
                "voice": "",
                "kind": "",
                **row,
                "area": path.stem,
                "group": str(row.get("group", row.get("kind", ""))),
            }


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path.name}:{number}: not JSON: {error}") from None


def _labels(folder: Path) -> dict[str, Key]:
    keys: dict[str, Key] = {}
    for path in sorted(folder.glob("labels_*.jsonl")):
        for row in _lines(path):
            if row.get("key"):
                key = Key.parse(str(row["key"]))
                if keys.setdefault(row["group"], key) != key:
                    raise ValueError(
                        f"{path.name}: {row['group']} is labelled {key} and {keys[row['group']]}; keep one"
                    )
    return keys


def _label(row: dict[str, Any], text: str, keys: dict[str, Key]) -> Example | None:
    group = row["group"]
    if row["area"] == OUT_OF_SCOPE_FILE:
        return Example(text, f"{OUT_OF_SCOPE}/{row['kind']}", group=group)
    key = Key.parse(str(row["key"])) if row.get("key") else keys.get(group)
    return Example(text, key.intent, key.as_dict(), group=group) if key else None


def _split(family: str, voice: str) -> str:
    bucket = zlib.crc32(f"{family}|{voice}".encode()) % 10
    return TEST if bucket == 0 else CALIBRATION if bucket == 1 else FIT


def _signature(text: str) -> frozenset[str]:
    return frozenset("".join(c if c.isalnum() else " " for c in text.lower().replace("'", "")).split())


def _meaning(utterance: Utterance) -> object:
    label = utterance.label
    return (label.intent, tuple(sorted(label.slots.items()))) if label else utterance.group


def _without_conflicts(utterances: Sequence[Utterance]) -> tuple[list[Utterance], tuple[str, ...]]:
    meanings: dict[str, set[object]] = {}
    for utterance in utterances:
        meanings.setdefault(utterance.text.lower(), set()).add(_meaning(utterance))
    bad = {text for text, found in meanings.items() if len(found) > 1}
    return [u for u in utterances if u.text.lower() not in bad], tuple(sorted(bad))


def _without_leaks(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Drop held-out wordings whose words, in any order, also stand in the fitting split."""
    fitted = {_signature(u.text) for u in utterances if u.split == FIT}
    return [u for u in utterances if u.split == FIT or _signature(u.text) not in fitted]
