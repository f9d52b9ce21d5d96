"""Makes a version the one in use, in one step under running readers, and goes back to the one before."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slotcache.errors import ModelError
from slotcache.model_files import CURRENT, MANIFEST, Manifest, current, make_current, read_manifest, verify

WORK: Final = ".work"
"""Beside versions: what unfinished runs keep."""

PARENT: Final = "parent"
"""In a manifest's provenance: the version that was in use before."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version in a folder of versions.

    Attributes:
        manifest: Its manifest.
        folder: Where it is.
        in_use: Whether readers that start now take it.
    """

    manifest: Manifest
    folder: Path
    in_use: bool

    @property
    def parent(self) -> str:
        """The version before it; empty when nobody said."""
        return str(self.manifest.provenance.get(PARENT, ""))


def versions(root: Path, domain: str | None = None) -> list[Version]:
    """All versions in a folder, of one domain or of all, oldest first.

    Raises:
        ModelError: a manifest or the pointer cannot be read.
    """
    chosen = current(root) if root.is_dir() else {}
    found = []
    for path in sorted(root.glob(f"[!.]*/{MANIFEST}"), key=lambda path: (path.stat().st_mtime, path.parent.name)):
        manifest = read_manifest(path.parent)
        if domain is None or manifest.domain == domain:
            in_use = chosen.get(manifest.domain) == manifest.version
            found.append(Version(manifest, path.parent, in_use))
    return found


def install(folder: Path, root: Path) -> Path:
    """Move a finished model into a folder of versions, without making it the one in use.

    Calling it again after it was stopped half-way finishes the move.

    Raises:
        ModelError: the model is damaged, or another one has its version.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is not there; train it again")
    manifest = verify(folder)
    place = root / manifest.version
    if place.is_dir():
        if read_manifest(place).files != manifest.files:
            raise ModelError(f"{place} is another model of the same version; remove one of the two")
        shutil.rmtree(folder)
        return place
    root.mkdir(parents=True, exist_ok=True)
    folder.rename(place)
    return place


def keep(folder: Path, root: Path) -> None:
    """Copy a model that is in use from elsewhere (the shipped one) into a folder of versions, to go back to."""
    manifest = read_manifest(folder)
    place = root / manifest.version
    if place.exists():
        return
    beside = root / WORK / f"{manifest.version}.{os.getpid()}"
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(folder, beside)
    verify(beside)
    beside.rename(place)


def switch(root: Path, version: str) -> Manifest:
    """Make a version the one in use; readers that run notice within a second.

    Raises:
        ModelError: the version is not there or damaged; nothing was changed.
    """
    folder = root / version
    if Path(version).name != version or not (folder / MANIFEST).is_file():
        known = ", ".join(v.manifest.version for v in versions(root)) or "none"
        raise ModelError(f"{root} holds no version {version!r}; it holds {known}")
    manifest = verify(folder)
    make_current(root, manifest)
    return manifest


def announce(root: Path) -> None:
    """Have running readers look again although no version changed: their domain file did."""
    root.mkdir(parents=True, exist_ok=True)
    pointer = root / CURRENT
    text = pointer.read_text(encoding="utf-8") if pointer.is_file() else "{}\n"
    beside = pointer.with_suffix(f".{os.getpid()}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(pointer)


def previous(root: Path, domain: str) -> str:
    """The version to go back to.

    Raises:
        ModelError: none is in use, or nothing came before it, or it is gone.
    """
    in_use = next((version for version in versions(root, domain) if version.in_use), None)
    if in_use is None:
        raise ModelError(f"no version for the domain {domain!r} was ever promoted in {root}; there is nothing to undo")
    if not in_use.parent:
        raise ModelError(f"version {in_use.manifest.version} is the first; there is nothing to go back to")
    if not (root / in_use.parent / MANIFEST).is_file():
        raise ModelError(f"version {in_use.parent}, which came before, is not in {root} any more; name another one")
    return in_use.parent
