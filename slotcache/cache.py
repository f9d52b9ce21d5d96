"""The cache for synchronous callers.

cache = SlotCache()
outcome = cache.get_or_call("can i still cancel?", call_the_model, Scope(tenant="acme", locale="en-GB"))
print(outcome.answer, outcome.decision, outcome.reason)
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import wait
from types import TracebackType
from typing import Self, TypeVar, Unpack

from slotcache import flow, importing, upkeep
from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.events import Outcome, Stored
from slotcache.policy import PLAIN, Directives
from slotcache.shell import ANYONE, Shell, Which, select

T = TypeVar("T")
Call = Callable[[str], str | Answer]
"""Asks the model: the utterance in, the answer out."""


class SlotCache(Shell):
    """Answers questions from earlier answers to exactly the same question.

    Safe to use from many threads. Nothing that goes wrong with the parser or the store reaches the caller of `get`,
    `put` and `get_or_call`: the model is called instead, and the outcome says why.
    """

    def get(self, text: str, scope: Scope = ANYONE, *, directives: Directives = PLAIN) -> Outcome:
        """Look a question up.

        Args:
            text: The utterance.
            scope: Tenant, customer, locale, model, prompt, policy epoch and context of the request.
            directives: What the caller asks for this request.
        """
        return _perform(flow.get(self._core, text, scope, directives))

    def put(
        self,
        text: str,
        answer: str | Answer,
        scope: Scope = ANYONE,
        *,
        directives: Directives = PLAIN,
        tags: Iterable[str] = (),
    ) -> Stored:
        """Keep what the model answered, if it may be kept."""
        said = Answer(answer) if isinstance(answer, str) else answer
        return _perform(flow.put(self._core, text, said, scope, directives, tuple(tags)))

    def get_or_call(
        self,
        text: str,
        call: Call,
        scope: Scope = ANYONE,
        *,
        directives: Directives = PLAIN,
        tags: Iterable[str] = (),
    ) -> Outcome:
        """Look a question up, and call the model when there is nothing to serve.

        Callers that miss the same address at the same time wait for one of them, in this process and in others, for
        as long as the policy says.

        Raises:
            Exception: whatever `call` raises; nothing is stored then.
        """
        steps = flow.get_or_call(self._core, text, scope, directives, tuple(tags))
        return _perform(steps, functools.partial(call, text))

    def wrap(self, call: Call, *, scope: Scope = ANYONE) -> Callable[..., str]:
        """The same function behind the cache: utterance in, answer out; it also takes `scope` and `directives`."""
        default = scope

        @functools.wraps(call)
        def cached(text: str, *, scope: Scope = default, directives: Directives = PLAIN) -> str:
            return self.get_or_call(text, call, scope, directives=directives).answer or ""

        return cached

    def approve(
        self, text: str, answer: str, scope: Scope = ANYONE, *, author: str, tags: Iterable[str] = ()
    ) -> Stored:
        """Keep an answer that a person vouches for; it replaces a learned one and is never replaced by one."""
        return _perform(flow.put(self._core, text, Answer(answer), scope, PLAIN, tuple(tags), author))

    def approve_hit(self, hit_id: str, *, author: str, answer: str | None = None) -> Stored:
        """Turn the answer of a hit into an approved one, as it is or with another text."""
        return upkeep.approve(self._core, hit_id, author=author, answer=answer)

    def invalidate(self, *, dry_run: bool = False, **which: Unpack[Which]) -> upkeep.Invalidation:
        """Take all answers out of recall that match everything given; in `slots`, `*` stands for any value.

        Answers that the model is making meanwhile and that match are not kept either.

        Raises:
            ConfigurationError: nothing is given.
            StoreUnavailable: the store does not answer.
        """
        return upkeep.invalidate(self._core, select(**which), dry_run=dry_run)

    def report_false_hit(self, hit_id: str, *, author: str = "", note: str = "") -> upkeep.Report:
        """Take a wrong answer out of recall at once and record the report.

        No learned answer fills its key again until somebody approves one or calls `clear_quarantine`.
        """
        return upkeep.report_false_hit(self._core, hit_id, author=author, note=note)

    def clear_quarantine(self, key: str, *, tenant: str = "", customer: str = "") -> bool:
        """Let learned answers fill a key again although one was wrong; gives whether it was in quarantine.

        Args:
            key: The printed key.
            tenant: Whose bot gave the wrong answer.
            customer: Whose answer it was; empty for one that everybody could read.
        """
        return upkeep.clear_quarantine(self._core, key, tenant=tenant, customer=customer)

    def switch_off(self, intent: str) -> None:
        """Let an intent take no part any more, in all processes that use this store, within a second."""
        upkeep.switch(self._core, intent, off=True)

    def switch_on(self, intent: str) -> None:
        """Undo `switch_off`. An intent that the policy names stays off."""
        upkeep.switch(self._core, intent, off=False)

    def import_answers(
        self,
        source: importing.Source,
        scope: Scope = ANYONE,
        *,
        author: str = "import",
        check_key: importing.CheckKey | None = None,
    ) -> importing.Imported:
        """Store approved answers from a file of JSON lines or from rows: all of them or none.

        Raises:
            AnswersError: rows cannot be used; the message names their lines.
        """
        return importing.import_answers(self._core, source, scope, author=author, check_key=check_key)

    def doctor(self) -> upkeep.Diagnosis:
        """Which address field splits each key, and which keys wait for a person."""
        return upkeep.doctor(self._core)

    def close(self) -> None:
        """Let go of the store."""
        self._core.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _perform(steps: Generator[flow.Step, object, T], call: Callable[[], object] | None = None) -> T:
    """Do what a flow asks for, in this thread."""
    try:
        step = next(steps)
        while True:
            try:
                result = _result(step, call)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _result(step: flow.Step, call: Callable[[], object] | None) -> object:
    if isinstance(step, flow.Storing | flow.Parsing):
        return step.run()
    if isinstance(step, flow.Calling):
        assert call is not None
        return call()
    if isinstance(step, flow.Pausing):
        time.sleep(step.seconds)
        return None
    done, _ = wait([step.flight.done], timeout=step.seconds)
    return step.flight.done.result() if done else None
