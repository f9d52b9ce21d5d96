"""`slotcache switch`: an intent takes no part in the cache any more, or does again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from slotcache.cli.options import DomainOption
from slotcache.cli.stores import StoreOption
from slotcache.errors import ConfigurationError
from slotcache.key import VERBATIM


class State(StrEnum):
    """What becomes of the intent."""

    OFF = "off"
    ON = "on"


def switch(
    state: Annotated[State, typer.Argument(help="off: its questions go to the model. on: they are cached again.")],
    intent: Annotated[str, typer.Argument(help=f"An intent of the domain, or '{VERBATIM}' for questions without one.")],
    domain: DomainOption = "order_support",
    store: StoreOption = None,
) -> None:
    """Switch an intent off or on in every process that uses the store, within a second and without a restart."""
    from slotcache.cli.operated import operated

    if state is State.OFF and intent != VERBATIM:
        _check(intent, domain)
    with operated(store) as cache:
        if state is State.OFF:
            cache.switch_off(intent)
        else:
            cache.switch_on(intent)
        off = sorted(cache.core.store.switches())
    print(f"switched off now: {', '.join(off) or 'nothing'}")


def _check(intent: str, domain: str) -> None:
    """A misspelt intent would be switched off without any effect."""
    from difflib import get_close_matches

    from slotcache.domain.loader import load_domain

    known = load_domain(domain).intents
    if intent not in known:
        close = get_close_matches(intent, list(known), n=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigurationError(f"the domain {domain!r} has no intent {intent!r}{meant}")
