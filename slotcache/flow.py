"""How a question is answered, step by step, without doing any of the steps.

Each function is a generator. It yields what has to happen next (run something that may block, call the model, pause,
wait for another caller) and is sent the result. The sync and the async cache differ only in who performs the steps, so
they cannot disagree about anything else.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Final

from slotcache import errors
from slotcache.address import Scope
from slotcache.answers import Answer, why_not_kept
from slotcache.core import Core, Question
from slotcache.decide import Admitted, Bypass, Hit, Miss, entry_for, may_fill, recall
from slotcache.entry import Entry, Origin
from slotcache.errors import NotStored
from slotcache.events import Answered, Kept, LookedUp, Outcome, Source, Stored
from slotcache.flights import Flight
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import PLAIN, Directives
from slotcache.stores.base import Lease, PutResult, place_of

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.2


@dataclass(slots=True)
class Parsing:
    """Run something that keeps the processor busy."""

    run: Callable[[], Any]


@dataclass(slots=True)
class Storing:
    """Run something that waits for the store."""

    run: Callable[[], Any]


@dataclass(slots=True)
class Calling:
    """Call the model, after what came of the look-up; the answer is sent back."""

    outcome: Outcome


@dataclass(slots=True)
class Pausing:
    """Let some seconds pass."""

    seconds: float


@dataclass(slots=True)
class Waiting:
    """Wait for another caller's fill, for some seconds at most; its entry or None is sent back."""

    flight: Flight
    seconds: float


Step = Parsing | Storing | Calling | Pausing | Waiting


@dataclass(slots=True)
class Found:
    """A looked-up question."""

    question: Question
    decision: Hit | Miss | Bypass
    outcome: Outcome


def look_up(core: Core, text: str, scope: Scope, directives: Directives) -> Generator[Step, Any, Found]:
    """Read a question and decide on it; nothing is called and nothing is stored."""
    started = core.timer()
    question = core.remembered(text, scope)
    if question is None:
        question = yield Parsing(lambda: core.read(text, scope))
        assert question is not None
    now = core.clock()
    if core.switches_due(now):
        yield Storing(core.refresh_switches)
    decision: Hit | Miss | Bypass | None = core.refusal(question, directives, now)
    if decision is None:
        admitted = _admitted(question)
        held = yield Storing(lambda: core.reach(lambda: core.store.get(admitted.address.cell)))
        if held is None:
            decision = Bypass(errors.Bypass.STORE_UNAVAILABLE)
        else:
            decision = recall(admitted, held, core.policy, now, directives)
    outcome = core.outcome(decision, question)
    core.count(f"{outcome.decision.value}.{outcome.reason}")
    if isinstance(decision, Hit):
        _count_saved(core, decision.entry)
    if core.observers:
        core.emit(
            LookedUp(
                now,
                outcome,
                question.parse,
                scope,
                core.timer() - started,
                decision.entry if isinstance(decision, Hit) else None,
                decision.near if isinstance(decision, Miss) else None,
                decision.withheld if isinstance(decision, Miss) else None,
            )
        )
    return Found(question, decision, outcome)


def get(core: Core, text: str, scope: Scope, directives: Directives) -> Generator[Step, Any, Outcome]:
    """Look a question up."""
    found = yield from look_up(core, text, scope, directives)
    return found.outcome


def get_or_call(
    core: Core, text: str, scope: Scope, directives: Directives, tags: tuple[str, ...]
) -> Generator[Step, Any, Outcome]:
    """Look a question up; on a miss, let one caller ask the model and keep the answer."""
    found = yield from look_up(core, text, scope, directives)
    if isinstance(found.decision, Hit) or directives.only_if_cached:
        return found.outcome
    started = core.timer()
    if isinstance(found.decision, Bypass):
        unreachable = found.decision.reason is errors.Bypass.STORE_UNAVAILABLE
        return (yield from _alone(core, found, started, NotStored.STORE_UNAVAILABLE if unreachable else None))
    refused = may_fill(_admitted(found.question), core.policy, directives)
    if refused is not None or found.decision.reason is errors.Miss.OBSERVED:
        return (yield from _alone(core, found, started, refused))

    if (yield Storing(lambda: core.reach(lambda: _quarantined(core, found)))):
        return (yield from _alone(core, found, started, NotStored.QUARANTINED))

    address = _admitted(found.question).address.digest
    flight, leading = core.flights.join(address)
    if flight is None:
        return (yield from _alone(core, found, started, NotStored.LEASE_LOST))
    if not leading:
        return (yield from _follow(core, found, flight, started, directives))
    kept: Entry | None = None
    try:
        outcome, kept = yield from _lead(core, found, started, directives, tags)
    finally:
        core.flights.land(address, flight, kept)
    return outcome


def _follow(
    core: Core, found: Found, flight: Flight, started: float, directives: Directives
) -> Generator[Step, Any, Outcome]:
    """Wait for the caller of this process who is filling the key."""
    if not core.policy.observe:
        entry = yield Waiting(flight, core.policy.wait)
        if entry is not None:
            decision = recall(_admitted(found.question), (entry,), core.policy, core.clock(), directives)
            if isinstance(decision, Hit):
                return _coalesced(core, found, decision, started)
    return (yield from _alone(core, found, started, NotStored.LEASE_LOST))


def _lead(
    core: Core, found: Found, started: float, directives: Directives, tags: tuple[str, ...]
) -> Generator[Step, Any, tuple[Outcome, Entry | None]]:
    """Fill the key for this process, unless another process is filling it already."""
    admitted = _admitted(found.question)
    address = admitted.address
    holder = secrets.token_hex(8)
    mine = Lease(address.cell, address.variant, holder, True, 0, ())
    pause = _FIRST_PAUSE
    orphan = core.orphans.pop(address.digest, None)
    if orphan is not None:
        # Left behind when the store went away in mid-fill: nobody holds it any more, so nobody need wait for it.
        yield Storing(lambda: core.reach(lambda: _release(core, orphan)))
    try:
        while True:
            lease = yield Storing(lambda: core.reach(lambda: _acquire(core, mine)))
            if lease is None:
                return (yield from _alone(core, found, started, NotStored.STORE_UNAVAILABLE)), None
            decision = recall(admitted, lease.held, core.policy, core.clock(), directives)
            if isinstance(decision, Hit):
                if lease.granted:
                    yield Storing(lambda: core.reach(lambda: _release(core, mine)))
                return _coalesced(core, found, decision, started), decision.entry
            if lease.granted:
                break
            if core.policy.observe or core.timer() - started >= core.policy.wait:
                return (yield from _alone(core, found, started, NotStored.LEASE_LOST)), None
            yield Pausing(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        answer = _answer(core, (yield Calling(found.outcome)))
    except GeneratorExit:
        # Nobody performs steps any more: the next caller of this process gives the lease back.
        core.orphan(address.digest, mine, None)
        raise
    except BaseException:
        # Whatever ended this (an error of the model, a cancelled client), the next caller need not wait for the lease.
        core.orphan(address.digest, mine, (yield Storing(lambda: core.reach(lambda: _release(core, mine)))))
        raise
    refused = _unfit(core, admitted, answer)
    if refused is not None:
        core.orphan(address.digest, mine, (yield Storing(lambda: core.reach(lambda: _release(core, mine)))))
        return _answered(core, found, answer, started, refused), None
    entry = _entry(core, found.question, answer, directives, tags)
    result = yield Storing(lambda: core.reach(lambda: core.store.put(entry, lease=lease)))
    core.orphan(address.digest, mine, result)
    why = _why_not(result)
    kept = entry if why is None else None
    if kept is not None:
        yield from keep_in_next(core, kept)
    return _answered(core, found, answer, started, why, kept), kept


def _alone(core: Core, found: Found, started: float, why: NotStored | None) -> Generator[Step, Any, Outcome]:
    """Call the model for this asker and keep nothing."""
    answer = _answer(core, (yield Calling(found.outcome)))
    verdict = found.question.verdict
    if why is NotStored.NOT_FILLABLE and isinstance(verdict, Admitted) and verdict.owner is Owner.SHARED:
        key = str(verdict.address.key)
        yield Storing(lambda: core.reach(lambda: _note_waiting(core, key)))
    return _answered(core, found, answer, started, why)


def put(
    core: Core,
    text: str,
    answer: Answer,
    scope: Scope,
    directives: Directives = PLAIN,
    tags: tuple[str, ...] = (),
    author: str | None = None,
) -> Generator[Step, Any, Stored]:
    """Keep an answer: as a learned one, or as an approved one when an author vouches for it."""
    question = core.remembered(text, scope)
    if question is None:
        question = yield Parsing(lambda: core.read(text, scope))
        assert question is not None
    if core.switches_due(core.clock()):
        yield Storing(core.refresh_switches)
    refused: str | None = None
    # A person may write answers for an intent that is switched off: switching it on again should find them.
    bypass = core.refusal(question, directives, core.clock()) if author is None else _bypass(question)
    if bypass is not None:
        refused = bypass.reason.value
    elif author is None:
        admitted = _admitted(question)
        refused = may_fill(admitted, core.policy, directives) or _unfit(core, admitted, answer)
    elif not answer.text.strip():
        refused = NotStored.EMPTY_ANSWER
    elif _admitted(question).not_fillable is NotStored.NOT_REDACTABLE:
        refused = NotStored.NOT_REDACTABLE
    entry = None
    if refused is None:
        entry = _entry(core, question, answer, directives, tags, author=author)
        kept = entry
        result = yield Storing(lambda: core.reach(lambda: core.store.put(kept)))
        refused = _why_not(result)
        if refused is None:
            yield from keep_in_next(core, kept)
        if result is not PutResult.STORED:
            entry = None
    stored = refused is None
    core.count("stored" if stored else f"not_stored.{refused}")
    outcome = Stored(stored, refused, question.key, entry.id if entry is not None else None)
    core.emit(Kept(core.clock(), outcome, entry))
    return outcome


def keep_in_next(core: Core, entry: Entry) -> Generator[Step, Any, None]:
    """Keep an answer in the generation that is being built as well, so that it is there when that takes over."""
    parser = core.next_parser
    if parser is not None:
        made = yield Parsing(lambda: core.reread(entry, parser))
        yield Storing(lambda: core.keep_in_next(entry, made))


def _bypass(question: Question) -> Bypass | None:
    return question.verdict if isinstance(question.verdict, Bypass) else None


def _admitted(question: Question) -> Admitted:
    assert isinstance(question.verdict, Admitted)
    return question.verdict


def _acquire(core: Core, wanted: Lease) -> Lease:
    return core.store.acquire(
        wanted.cell, wanted.variant, holder=wanted.holder, now=core.clock(), seconds=core.policy.lease
    )


def _release(core: Core, lease: Lease) -> bool:
    core.store.release(lease)
    return True


def _quarantined(core: Core, found: Found) -> bool:
    """Whether a learned answer would be refused, so that nobody need wait for one; the store has the last word."""
    return core.store.in_quarantine(place_of(_admitted(found.question).address))


def _note_waiting(core: Core, key: str) -> bool:
    core.store.note_waiting(key, now=core.clock())
    return True


def _answer(core: Core, said: object) -> Answer:
    core.count("calls")
    if isinstance(said, str):
        return Answer(said)
    if isinstance(said, Answer):
        return said
    raise TypeError(f"the model function must return str or slotcache.Answer, not {type(said).__name__}")


def _unfit(core: Core, admitted: Admitted, answer: Answer) -> NotStored | None:
    return why_not_kept(
        answer,
        shared=admitted.owner is Owner.SHARED,
        varying=admitted.varying,
        public=core.policy.public,
        find_personal=core.find_personal,
    )


def _entry(
    core: Core,
    question: Question,
    answer: Answer,
    directives: Directives,
    tags: tuple[str, ...],
    author: str | None = None,
) -> Entry:
    parse = question.parse
    assert isinstance(parse, Parse)
    return entry_for(
        _admitted(question),
        parse,
        answer,
        core.policy,
        core.clock(),
        token=secrets.token_hex(8),
        origin=Origin.LEARNED if author is None else Origin.APPROVED,
        tags=tags,
        ttl=directives.ttl,
        author=author or "",
    )


def _why_not(result: PutResult | None) -> NotStored | None:
    if result is None:
        return NotStored.STORE_UNAVAILABLE
    return None if result in (PutResult.STORED, PutResult.UNCHANGED) else NotStored(result.value)


def _coalesced(core: Core, found: Found, decision: Hit, started: float) -> Outcome:
    core.count("coalesced")
    _count_saved(core, decision.entry)
    outcome = replace(core.outcome(decision, found.question), coalesced=True)
    seconds = core.timer() - started
    question = found.question
    core.emit(Answered(core.clock(), outcome, question.parse, question.scope, seconds, served=decision.entry))
    return outcome


def _answered(
    core: Core, found: Found, answer: Answer, started: float, why: NotStored | None, kept: Entry | None = None
) -> Outcome:
    if kept is not None:
        core.count("stored")
    elif why is not None:
        core.count(f"not_stored.{why.value}")
    core.count("spent_tokens", answer.tokens_in + answer.tokens_out)
    core.count("spent_cost", answer.cost)
    outcome = replace(
        found.outcome, answer=answer.text, source=Source.MODEL, not_stored=why.value if why is not None else None
    )
    withheld = found.decision.withheld if isinstance(found.decision, Miss) else None
    core.emit(
        Answered(
            core.clock(),
            outcome,
            found.question.parse,
            found.question.scope,
            core.timer() - started,
            kept,
            withheld,
            answer.tokens_in,
            answer.tokens_out,
            answer.cost,
        )
    )
    return outcome


def _count_saved(core: Core, entry: Entry) -> None:
    core.count("saved_calls")
    if entry.tokens_in or entry.tokens_out:
        core.count("saved_tokens", entry.tokens_in + entry.tokens_out)
    if entry.cost:
        core.count("saved_cost", entry.cost)
