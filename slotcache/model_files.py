"""Finds a model folder, reads its manifest and proves that every file is the one the manifest was written for.

A model folder holds ONNX graphs and JSON only. Folders are looked for in this order: the argument,
`SLOTCACHE_MODELS`, the user's data folder (where promotion writes), then what shipped in the wheel or the checkout.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slotcache.errors import ModelError
from slotcache.shipped import shipped

MANIFEST: Final = "manifest.json"
CURRENT: Final = "current.json"
"""Beside versions: which of them is in use, by domain."""

ENVIRONMENT: Final = "SLOTCACHE_MODELS"
FORMAT: Final = 1
"""Layout of a model folder; a folder of another format is refused."""

_NUMBERS: Final = re.compile(r"\d+")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NgramShape(_Strict):
    """How texts become hashed n-grams; see `slotcache.parsing.ngrams.Ngrams`."""

    buckets: int = Field(gt=0)
    words: int = Field(ge=1)
    shortest: int = Field(ge=1)
    longest: int = Field(ge=1)


class EncoderShape(_Strict):
    """The sentence encoder: its files, the width of its vectors and the longest input in word pieces."""

    graph: str
    tokenizer: str
    width: int = Field(gt=0)
    max_tokens: int = Field(gt=2)
    layers: int = Field(gt=0)
    pieces: int = Field(gt=0)


class HeadShape(_Strict):
    """The linear heads.

    Attributes:
        graph: File of the graph.
        classes: Intent classes in the order of the logits; `name/part` adds up to `name`.
        slots: Slot name -> its values in the order of the logits, which follow those of the intents.
        prototypes: Intent of each prototype, as a position in `classes`.
        floor: Lowest cosine at which an intent is a candidate.
        most: Most candidates proposed.
        ngrams: How texts become hashed n-grams.
    """

    graph: str
    classes: tuple[str, ...] = Field(min_length=1)
    slots: dict[str, tuple[str, ...]]
    prototypes: tuple[int, ...]
    floor: float = Field(ge=-1, le=1)
    most: int = Field(gt=0)
    ngrams: NgramShape


class Manifest(_Strict):
    """What a model folder is.

    Attributes:
        format: Layout of the folder.
        version: Version of the model, the name of its folder.
        domain: Name of the domain that its labels belong to.
        encoder: Shape of the encoder.
        heads: Shape of the heads.
        files: File name -> sha256 of every file but the manifest.
        bars: Calibrated bars of the agreement between the readers (see `slotcache.parsing.agreement.Bars`).
        metrics: What was measured when it was made.
        provenance: What it was made from.
    """

    format: int
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    domain: str
    encoder: EncoderShape
    heads: HeadShape
    files: dict[str, str]
    bars: dict[str, float] = {}
    metrics: dict[str, Any] = {}
    provenance: dict[str, Any] = {}


def find_model(argument: str | Path | None = None, *, domain: str = "order_support") -> Path:
    """Return the model folder to use for a domain.

    Args:
        argument: A model folder, or a folder of versions; None looks in the usual places.
        domain: Name of the domain that the model must have been made for.

    Raises:
        ModelError: no place holds a model of the domain.
    """
    places = [Path(argument)] if argument is not None else list(_places())
    for place in places:
        found = model_in(place, domain)
        if found is not None:
            return found
    looked = ", ".join(map(str, places))
    raise ModelError(
        f"no model for the domain {domain!r} in {looked}; "
        f"name a model folder, set {ENVIRONMENT}, or train one with `slotcache train`"
    )


def model_in(place: Path, domain: str) -> Path | None:
    """The model folder to use for a domain in one place: a model folder, or a folder of versions.

    Raises:
        ModelError: the pointer there cannot be read or names a version that is gone.
    """
    if (place / MANIFEST).is_file():
        return place
    if not place.is_dir():
        return None
    chosen = _current(place).get(domain)
    if chosen is not None:
        if not (place / chosen / MANIFEST).is_file():
            raise ModelError(
                f"{place / CURRENT} names {chosen!r}, which is not there; put it back or name another version"
            )
        return place / chosen
    folders = [path.parent for path in place.glob(f"*/{MANIFEST}") if read_manifest(path.parent).domain == domain]
    return max(folders, key=lambda folder: _natural(folder.name), default=None)


def has_model(domain: str) -> bool:
    """Whether any of the usual places holds a model of a domain."""
    return any(model_in(place, domain) is not None for place in _places())


def pointers(argument: str | Path | None = None) -> list[Path]:
    """Files that say which version is in use, whether they are there or not: when one changes, look again.

    Args:
        argument: As for `find_model`.
    """
    return [place / CURRENT for place in ([Path(argument)] if argument is not None else _places())]


def promotion_root() -> Path:
    """The folder of versions where promotion writes: `SLOTCACHE_MODELS` when set, or else the user's own.

    Raises:
        ModelError: `SLOTCACHE_MODELS` names a single model, in whose place nothing can be promoted.
    """
    configured = os.environ.get(ENVIRONMENT)
    if not configured:
        return user_models()
    if (Path(configured) / MANIFEST).is_file():
        raise ModelError(f"{ENVIRONMENT} names a single model; name the folder of versions above it")
    return Path(configured)


def current(root: Path) -> dict[str, str]:
    """Domain -> version in use, in a folder of versions.

    Raises:
        ModelError: the pointer cannot be read.
    """
    return _current(root)


def user_models() -> Path:
    """The user's own folder of versions, where promotion writes."""
    return Path(platformdirs.user_data_path("slotcache")) / "models"


def make_current(root: Path, manifest: Manifest) -> None:
    """Make one version in a folder of versions the one in use for its domain.

    The pointer is replaced in one step, so that a process that starts meanwhile sees the old version or the new one.
    """
    pointer = root / CURRENT
    names = {**_current(root), manifest.domain: manifest.version}
    beside = pointer.with_suffix(f".{os.getpid()}.new")
    beside.write_text(json.dumps(names, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(pointer)


def read_manifest(folder: Path) -> Manifest:
    """Read a manifest without looking at the files it names.

    Raises:
        ModelError: the manifest is missing, malformed or of another format.
    """
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} is not a model folder: it has no {MANIFEST}; name a folder that has one") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}; install the model again") from None
    if isinstance(data, dict) and data.get("format") != FORMAT:
        raise ModelError(
            f"{path} has format {data.get('format')!r}, this version reads {FORMAT}; train or install a matching model"
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise ModelError(f"{path}: {where}: {problem['msg']}; install the model again") from None


def verify(folder: Path) -> Manifest:
    """Read a manifest and prove that every file it names is unchanged.

    Raises:
        ModelError: a file is missing or differs.
    """
    manifest = read_manifest(folder)
    needed = {manifest.encoder.graph, manifest.encoder.tokenizer, manifest.heads.graph}
    for name in sorted(needed - set(manifest.files)):
        raise ModelError(f"{folder / MANIFEST} gives no digest for {name}; install the model again")
    for name, digest in manifest.files.items():
        if Path(name).name != name:
            raise ModelError(
                f"{folder / MANIFEST} names {name!r}, which is outside of the folder; do not use this model"
            )
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name} is missing; install the model again")
        if sha256(folder / name) != digest:
            raise ModelError(f"{folder / name} is damaged: its sha256 is not the manifest's; install the model again")
    return manifest


def check_labels(
    manifest: Manifest, *, domain: str, intents: Mapping[str, object], slots: Mapping[str, object]
) -> None:
    """Refuse a model that speaks of intents or slots a domain does not have.

    Intents and slots that the domain has and the model lacks are fine: there the learned reader is silent.

    Raises:
        ModelError: the model was made for another domain, or for an older one.
    """
    if manifest.domain != domain:
        raise ModelError(
            f"model {manifest.version} is for the domain {manifest.domain!r}, not {domain!r}; "
            "train one with `slotcache train`"
        )
    known = {label.partition("/")[0] for label in manifest.heads.classes} - {"out_of_scope"}
    unknown = sorted(known - set(intents)) + sorted(set(manifest.heads.slots) - set(slots))
    if unknown:
        names = ", ".join(unknown[:5]) + (" ..." if len(unknown) > 5 else "")
        raise ModelError(
            f"model {manifest.version} reads {names}, which the domain does not have; retrain it with `slotcache train`"
        )


def sha256(path: Path) -> str:
    """Digest of a file in hexadecimal."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _places() -> Iterator[Path]:
    configured = os.environ.get(ENVIRONMENT)
    if configured:
        yield Path(configured)
    yield user_models()
    yield shipped("models")


def _current(root: Path) -> dict[str, str]:
    pointer = root / CURRENT
    if not pointer.is_file():
        return {}
    try:
        names = json.loads(pointer.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{pointer} cannot be read: {error}; write {{domain: version}} into it, or remove it"
        ) from None
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise ModelError(f"{pointer} does not map domains to versions; write {{domain: version}} into it, or remove it")
    return names


def _natural(name: str) -> tuple[tuple[int, ...], str]:
    return tuple(int(number) for number in _NUMBERS.findall(name)), name
