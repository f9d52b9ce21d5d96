"""Opens the sentence encoder that a cosine cache is compared with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slotcache.errors import ModelError

if TYPE_CHECKING:
    from slotcache.parsing.encoder import Encoder


def open_encoder(domain: str) -> Encoder | None:
    """The encoder of the model in use for a domain, by the domain's name.

    Without a model the domain is read by code alone, and only the comparison is left out: None, with a note on standard
    error.
    """
    from slotcache.model_files import find_model, verify
    from slotcache.parsing.encoder import Encoder

    try:
        folder = find_model(domain=domain)
        return Encoder(folder, verify(folder).encoder)
    except ModelError as error:
        print(f"slotcache: no cosine cache to compare with: {error}", file=sys.stderr)
        return None
