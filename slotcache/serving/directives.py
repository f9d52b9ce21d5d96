"""What a client asks of the cache in `Cache-Control`. Every directive can only make the operator's rules stricter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from slotcache.policy import PLAIN, Directives

_NUMBER: Final = re.compile(r'"?(\d{1,12})"?')


def read_directives(values: Iterable[str]) -> Directives:
    """The directives of all `Cache-Control` headers of a request together.

    `no-cache` asks the model and keeps nothing, `no-store` keeps nothing, `only-if-cached` never asks the model,
    `max-age=N` takes only answers younger than N seconds. A `max-age` that is no number counts as `no-cache`; anything
    else is ignored.

    >>> read_directives(["max-age=60, no-store"]).max_age
    60.0
    """
    no_cache = no_store = only_if_cached = False
    max_age: float | None = None
    for directive in (part.strip() for value in values for part in value.split(",")):
        name, _, given = directive.partition("=")
        name = name.strip().lower()
        if name == "no-cache":
            no_cache = True
        elif name == "no-store":
            no_store = True
        elif name == "only-if-cached":
            only_if_cached = True
        elif name == "max-age":
            number = _NUMBER.fullmatch(given.strip())
            if number is None:
                no_cache = True
            else:
                age = float(number[1])
                max_age = age if max_age is None else min(max_age, age)
    if not (no_cache or no_store or only_if_cached or max_age is not None):
        return PLAIN
    return Directives(no_cache=no_cache, no_store=no_store, only_if_cached=only_if_cached, max_age=max_age)
