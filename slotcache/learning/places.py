"""Where a retraining finds what it needs for a domain: base examples, an encoder, the model in use."""

from __future__ import annotations

from pathlib import Path

from slotcache.domain.schema import Domain
from slotcache.errors import ConfigurationError, ModelError
from slotcache.learning.base import EXAMPLES, Base, business_base, shipped_base
from slotcache.model_files import ENVIRONMENT, MANIFEST, find_model, has_model, model_in
from slotcache.shipped import shipped


def base_for(source: str | Path, domain: Domain, *, seed: int = 1) -> Base:
    """The base examples of a domain: beside its files, or those that ship for a shipped domain.

    Raises:
        ConfigurationError: the domain has no examples.
        LabelsError: they cannot be used.
    """
    path = Path(source)
    if not path.exists():
        return shipped_base(domain)
    folder = path if path.is_dir() else path.parent
    if not (folder / EXAMPLES).is_file():
        raise ConfigurationError(
            f"{folder} has no {EXAMPLES}; write labelled questions into it, as `slotcache init` shows"
        )
    return business_base(folder, domain, seed=seed)


def champion_for(domain: str, root: Path) -> Path | None:
    """The model in use for a domain, in the folder that promotion writes to or else where models are kept."""
    own = model_in(root, domain)
    if own is None and has_model(domain):
        own = find_model(domain=domain)
    return own


def encoder_for(domain: str, root: Path, given: Path | None = None) -> Path:
    """A model folder whose encoder can be kept: the named one, the domain's own, or any other domain's.

    Raises:
        ModelError: there is none.
    """
    if given is not None:
        return given if (given / MANIFEST).is_file() else _any(given)
    own = champion_for(domain, root)
    return own if own is not None else _any(root, shipped("models"))


def _any(*places: Path) -> Path:
    found = [path.parent for place in places for path in sorted(place.glob(f"[!.]*/{MANIFEST}"))]
    if not found:
        raise ModelError(
            f"no encoder in {', '.join(map(str, places))}; name a model folder with --encoder-from or set {ENVIRONMENT}"
        )
    return found[-1]
