"""Everything the pages work with, and what is refreshed beside them: the queue, keys that wait, answered questions."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from slotcache.domain.patches import Patch, merged, patch_from, patched
from slotcache.domain.schema import Domain
from slotcache.entry import Selector
from slotcache.errors import DomainError
from slotcache.parsing.parser import Parser
from slotcache.records.files import last_number, numbered_records
from slotcache.review.acts import Act, Kind, rounded
from slotcache.review.answers import Answers
from slotcache.review.labels import LabelStore
from slotcache.review.nearest import Nearest
from slotcache.review.proposals import Proposal, proposals
from slotcache.review.queue import Queue
from slotcache.review.sessions import Attempts, Sessions

STORE_SECONDS: Final = 30.0
"""How old the view of the store may become: keys that wait for a person, and answered questions."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the page is served.

    Attributes:
        records: The traffic record; None to show what was taken in before.
        secure: Whether browsers send the session cookie over HTTPS only.
    """

    records: str | Path | None = None
    secure: bool = False


class Desk:
    """What the pages work with; safe to use from many threads."""

    def __init__(
        self,
        labels: LabelStore,
        parser: Callable[[], Parser],
        sessions: Sessions,
        *,
        answers: Answers | None = None,
        settings: Settings | None = None,
        find: Callable[[Selector], Any] | None = None,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wire it.

        Args:
            labels: Acts and claims.
            parser: Gives the parser in use now.
            sessions: Who is logged in.
            answers: What is done with the store; None without one.
            settings: How the page is served.
            find: Gives stored entries, for the nearest answered questions.
            clock: Seconds since the epoch.
            timer: Seconds of a clock that is never set.
        """
        self.labels, self.sessions, self.answers = labels, sessions, answers
        self.queue = Queue(labels.database)
        self.settings = settings if settings is not None else Settings()
        self.attempts = Attempts(clock=timer)
        self.clock = clock
        self._parser, self._find, self._timer = parser, find, timer
        self._refreshing = Lock()
        self._looked: float | None = None
        self.nearest = Nearest()
        self._extended: tuple[object, Domain] | None = None

    @property
    def parser(self) -> Parser:
        """The parser in use now."""
        return self._parser()

    def refresh(self) -> None:
        """Take in what is new in the record and in the store. One caller at a time; another one returns at once.

        Raises:
            StoreError: the record or the store cannot be read now.
        """
        if not self._refreshing.acquire(blocking=False):
            return
        try:
            if self.settings.records is not None:
                if last_number(self.settings.records) < self.queue.position():
                    # The record was begun anew; positions start from the beginning, too.
                    self.queue.forget()
                self.queue.take_in(numbered_records(self.settings.records, after=self.queue.position()))
            if self._looked is None or self._timer() - self._looked >= STORE_SECONDS:
                if self.answers is not None:
                    self.queue.set_keys(self.answers.items())
                if self._find is not None:
                    self.nearest = Nearest(self._find(Selector()))
                self._looked = self._timer()
        finally:
            self._refreshing.release()

    def proposals(self) -> list[Proposal]:
        """What was proposed for the domain and not taken back."""
        return proposals(self.labels.of_kinds(Kind.PROPOSE, Kind.ACCEPT, Kind.UNDO))

    def domain(self) -> Domain:
        """The domain in use with what was accepted since: labels may use its values before the next retraining."""
        parser = self.parser
        accepted = [one for one in self.proposals() if one.accepted]
        mark = parser.domain_hash, tuple(one.id for one in accepted)
        held = self._extended
        if held is None or held[0] != mark:
            held = mark, _extended(parser.domain, [one.patch for one in accepted])
            self._extended = held
        return held[1]

    def act(self, kind: Kind, subject: str, body: Mapping[str, Any], *, author: str, id: str = "") -> Act:
        """An act of this moment, with the model whose reading was looked at."""
        model = {"model": self.parser.version} if self.parser.version else {}
        return Act(id or new_id(), rounded(self.clock()), author, kind, subject, {**body, **model})

    def close(self) -> None:
        """Let go of the file."""
        self.labels.close()


def new_id() -> str:
    """An id for an act; a form carries one, so that it counts once however often it is sent."""
    return secrets.token_hex(16)


def _extended(domain: Domain, accepted: list[Mapping[str, Any]]) -> Domain:
    made: list[Patch] = []
    for patch in accepted:
        try:
            patched(domain, merged([*made, patch_from(patch, where="proposal")]))
        except DomainError:
            # It fitted when it was accepted; the domain has changed since, and its own page says what is wrong now.
            continue
        made.append(patch_from(patch, where="proposal"))
    return patched(domain, merged(made))
