"""Additions to a domain that people accepted: synonyms, fillers, new slot values. They only ever add phrases.

A patch is a mapping in YAML or JSON, shaped like the domain file it adds to:

    fillers: [quick one]
    concepts: {cancel: [bin~]}
    slots: {timing: {values: {post_shipment: [once it left you]}}}
    intents: {cancel_order: {frames: [cancel parcel], carries: [parcel]}}

Promotion writes all accepted patches into the model folder (`overlay.json`), so that one record makes a model and the
domain it was judged with current together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from slotcache.domain.schema import Domain, Name, Phrases
from slotcache.errors import DomainError

OVERLAY: Final = "overlay.json"
"""Beside a model: what was added to its domain when it was judged."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SlotPatch(_Strict):
    """Phrases added to one slot: per value for a closed one, patterns for the others."""

    values: dict[Name, Phrases] = {}
    patterns: Phrases = []


class IntentPatch(_Strict):
    """What may evoke or accompany one intent as well."""

    frames: Phrases = []
    carries: list[Name] = []


class Patch(_Strict):
    """Additions to a domain; nothing is taken away or changed.

    Attributes:
        concepts: Concept -> phrases; a new concept may be named.
        slots: Slot that exists -> what it gains.
        intents: Intent that exists -> what it gains.
        fillers: Phrases that never change an answer.
        courtesies: Phrases that are mere politeness.
        rewrites: Spelling -> the words it stands for.
    """

    concepts: dict[Name, Phrases] = {}
    slots: dict[Name, SlotPatch] = {}
    intents: dict[Name, IntentPatch] = {}
    fillers: Phrases = []
    courtesies: Phrases = []
    rewrites: dict[str, str] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing is added."""
        return self == Patch()


def patch_from(data: object, *, where: str) -> Patch:
    """A patch from plain data.

    Raises:
        DomainError: the data is no patch; the message begins with `where`.
    """
    try:
        return Patch.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        part = ".".join(map(str, problem["loc"])) or "patch"
        raise DomainError(
            f"{where}: {part}: {problem['msg']}; a patch adds to fillers, courtesies, concepts, slots, intents "
            "or rewrites"
        ) from None


def read_patch(path: Path) -> Patch:
    """Read a patch file (YAML, of which JSON is a part).

    Raises:
        DomainError: the file cannot be read or is no patch.
    """
    try:
        # The base loader keeps every scalar a text, as the domain loader does: `no` and `on` are words.
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DomainError(f"{path}: cannot be read: {error}") from None
    return patch_from(data if data else {}, where=str(path))


def merged(patches: Iterable[Patch]) -> Patch:
    """All additions of some patches, each once.

    Raises:
        DomainError: two of them rewrite one spelling differently.
    """
    total: dict[str, Any] = Patch().model_dump()
    for patch in patches:
        total = _added(total, patch.model_dump(), ("patch",))
    return Patch.model_validate(total)


def without(patch: Patch, taken: Patch) -> Patch:
    """A patch without what another one adds; what the other one does not name stays.

    >>> without(Patch(fillers=["ta", "quick one"]), Patch(fillers=["ta"])).fillers
    ['quick one']
    """
    return Patch.model_validate(_less(_without_defaults(patch), _without_defaults(taken)))


def patched(domain: Domain, patch: Patch) -> Domain:
    """A domain with the additions of a patch.

    Raises:
        DomainError: the patch names a slot or intent that the domain lacks, or the sum is no valid domain.
    """
    if patch.empty:
        return domain
    for section, names, known in (
        ("slots", patch.slots, domain.slots),
        ("intents", patch.intents, domain.intents),
    ):
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise DomainError(
                f"patch: {section}.{unknown[0]}: the domain {domain.name!r} has none of that name; "
                "write it into the domain file first"
            )
    data = _added(domain.model_dump(mode="json"), _without_defaults(patch), ("patch",))
    try:
        return Domain.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        raise DomainError(f"patch: {'.'.join(map(str, problem['loc'])) or 'domain'}: {problem['msg']}") from None


def overlaid(domain: Domain, model_folder: Path) -> Domain:
    """A domain with what was accepted into it when a model was promoted.

    Raises:
        DomainError: the additions do not fit the domain any more.
    """
    path = model_folder / OVERLAY
    if not path.is_file():
        return domain
    try:
        return patched(domain, read_patch(path))
    except DomainError as error:
        raise DomainError(f"{path} does not fit the domain any more: {error}; retrain the model") from None


def as_json(patch: Patch) -> str:
    """A patch as the text of a file."""
    return json.dumps(_without_defaults(patch), indent=1, sort_keys=True) + "\n"


def _without_defaults(patch: Patch) -> dict[str, Any]:
    return patch.model_dump(mode="json", exclude_defaults=True)


def _less(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    left: dict[str, Any] = {}
    for name, value in first.items():
        taken = second.get(name)
        if isinstance(value, Mapping) and isinstance(taken, Mapping):
            value = _less(value, taken)
        elif isinstance(value, list) and isinstance(taken, list):
            value = [item for item in value if item not in taken]
        elif value == taken:
            value = None
        # A concept or a slot value of which no phrase is left is gone itself.
        if value or name not in second:
            left[name] = value
    return left


def _added(first: Mapping[str, Any], second: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    total = dict(first)
    for name, value in second.items():
        here = (*path, name)
        present = total.get(name)
        if present is None:
            total[name] = value
        elif isinstance(present, Mapping) and isinstance(value, Mapping):
            total[name] = _added(present, value, here)
        elif isinstance(present, list) and isinstance(value, list):
            total[name] = [*present, *(item for item in value if item not in present)]
        elif present != value:
            raise DomainError(f"{'.'.join(here)}: {value!r} contradicts {present!r}; keep one")
    return total
