"""What the synchronous and the asynchronous cache have in common: how they are put together, and what they tell.

The methods that ask, store and withdraw stand in full in both, so that an editor shows their arguments.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypedDict, Unpack

from slotcache.address import Scope
from slotcache.answers import FindPersonal, find_personal
from slotcache.core import Core, ParserLike
from slotcache.entry import Selector
from slotcache.events import Observer
from slotcache.policy import Policy
from slotcache.stores.base import Store
from slotcache.stores.sqlite import SqliteStore

ANYONE: Final = Scope()
"""The scope of callers that name none."""


class Wiring(TypedDict, total=False):
    """What else a cache is made with; see `Shell`."""

    policy: Policy | None
    observers: Iterable[Observer]
    clock: Callable[[], float]
    timer: Callable[[], float]
    find_personal: FindPersonal
    memory: int


class Which(TypedDict, total=False):
    """Which answers are meant: those that match everything given.

    Attributes:
        key: The printed key.
        intent: The intent.
        slots: Values by slot; `*` stands for any value.
        tag: A tag that they were stored with.
        epoch: The policy epoch.
        tenant: Whose bot they were given by.
        customer: Who owns them.
    """

    key: str | None
    intent: str | None
    slots: Mapping[str, str] | None
    tag: str | None
    epoch: str | None
    tenant: str | None
    customer: str | None


class Shell:
    """The parts of a cache."""

    def __init__(
        self,
        parser: ParserLike | None = None,
        store: Store | None = None,
        *,
        policy: Policy | None = None,
        observers: Iterable[Observer] = (),
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
        find_personal: FindPersonal = find_personal,
        memory: int = 8192,
    ) -> None:
        """Wire a cache.

        Args:
            parser: Reads utterances into keys. When None, the shipped domain with the model in use, which changes over
                to a promoted one by itself (`slotcache.parsing.watch.watching` does so for a domain of your own).
            store: Where answers live; a SQLite file in the user's data folder when None.
            policy: The operator's rules.
            observers: Told of everything that happens.
            clock: Seconds since the epoch.
            timer: Seconds of a clock that is never set, for durations.
            find_personal: Gives the kinds of personal data in a text.
            memory: How many readings are remembered.
        """
        self._core = Core(
            parser if parser is not None else self._shipped(),
            store if store is not None else SqliteStore(),
            policy if policy is not None else Policy(),
            observers=observers,
            clock=clock,
            timer=timer,
            find_personal=find_personal,
            memory=memory,
        )

    def _shipped(self) -> ParserLike:
        from slotcache.parsing.watch import watching

        return watching(failed=lambda error: self._core.trouble("model", error))

    @property
    def core(self) -> Core:
        """The parts, for shells that share them with this cache."""
        return self._core

    def stats(self) -> dict[str, float]:
        """What this process counted, by name (`hit.learned`, `miss.not_found`, `coalesced`, `saved_tokens`, ...)."""
        return self._core.counts()


def select(**which: Unpack[Which]) -> Selector:
    """The selector of an invalidation.

    Raises:
        TypeError: a name is misspelt; left out, it would withdraw more than is meant.
    """
    slots = tuple(sorted((which.pop("slots", None) or {}).items()))
    return Selector(slots=slots, **which)  # type: ignore[arg-type, misc]  # `slots` is out of `which` by now
