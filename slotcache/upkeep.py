"""What operators do to a cache that runs: withdraw, report, switch, approve, and look at its state.

These functions are for people who wait for a result, so a store that cannot be reached is an error here, unlike in the
serving path.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slotcache.address import CELL_LENGTH
from slotcache.core import Core
from slotcache.entry import Entry, Origin, Selector, cell_of
from slotcache.errors import ConfigurationError
from slotcache.events import Kept, Stored, Switched, Withdrawn
from slotcache.generations import generation_of
from slotcache.stores.base import Feedback, PutResult, Quarantine, place_of

_SAMPLE: Final = 100


@dataclass(frozen=True, slots=True)
class Invalidation:
    """What an invalidation took out of recall, or would take.

    Attributes:
        count: How many entries.
        keys: Their keys, sorted, 100 at most.
        dry_run: Whether nothing was changed.
    """

    count: int
    keys: tuple[str, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the report of a wrong answer.

    Attributes:
        evicted: Whether the answer was still in recall; it is not any more.
        key: Its key; None when the hit is not known any more.
        quarantined: Whether no learned answer fills the key until a person approves one or clears it.
    """

    evicted: bool
    key: str | None
    quarantined: bool = False


@dataclass(frozen=True, slots=True)
class KeyHealth:
    """How one key is doing.

    Attributes:
        key: The printed key.
        entries: How many entries it has in recall, over all addresses.
        split_by: Address fields in which they differ, with the number of different values.
        approved: Whether one of them is approved.
        waiting: How often it was asked without being fillable.
    """

    key: str
    entries: int
    split_by: Mapping[str, int]
    approved: bool
    waiting: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found.

    Attributes:
        keys: Keys with something to say about them, most entries first.
        waiting: Keys that wait for an approved answer, with how often they were asked, most often first.
        generations: Entries in recall by the parser that read their question.
        generation: The parser that reads now; entries of the others are not served until they are re-keyed.
        switched_off: Intents that take no part.
        counts: What the store counts.
        quarantined: Keys that gave a wrong answer and wait for a person, oldest first.
    """

    keys: tuple[KeyHealth, ...]
    waiting: Mapping[str, int]
    generations: Mapping[str, int]
    generation: str
    switched_off: frozenset[str]
    counts: Mapping[str, int]
    quarantined: tuple[Quarantine, ...]


def invalidate(core: Core, selector: Selector, *, dry_run: bool) -> Invalidation:
    """Take all entries that match out of recall, or say which they are.

    Raises:
        ConfigurationError: the selector names nothing.
        StoreUnavailable: the store does not answer; it may be done in part, and can be repeated.
    """
    if selector.empty:
        raise ConfigurationError(
            "say what to invalidate: a key, an intent, slots, a tag, an epoch, a tenant or a customer"
        )
    keys: set[str] = set()
    upcoming = core.next_parser
    sources: set[str] = set()
    count = 0
    for entry in core.store.find(selector):
        count += 1  # noqa: SIM113 - the number is wanted when the loop is over
        if upcoming is not None:
            sources.add(entry.id)
        if len(keys) < _SAMPLE:
            keys.add(str(entry.key))
    if not dry_run:
        now = core.clock()
        count = core.store.invalidate(selector, reason="invalidated", now=now)
        if upcoming is not None:
            # What they became in the generation that is being built may stand under another key.
            for entry in core.store.find(Selector(generation=generation_of(upcoming))):
                if entry.source in sources:
                    core.store.retire(entry.id, reason="invalidated", now=now)
        core.count("invalidated", count)
        core.emit(Withdrawn(now, "invalidated", count, selector=selector))
    return Invalidation(count, tuple(sorted(keys)), dry_run)


def report_false_hit(core: Core, hit_id: str, *, author: str = "", note: str = "") -> Report:
    """Take a wrong answer out of recall at once, put its key in quarantine and record who said so.

    A hit that left recall in the meantime is looked up in the history. An approved answer that replaced it stands, and
    then there is nothing to put in quarantine.

    Raises:
        StoreUnavailable: the store does not answer; report it again.
    """
    now = core.clock()
    entry_id = hit_id.partition(".")[0]
    held = core.store.get(cell_of(entry_id))
    left = (retired.entry for retired in core.store.history(cell_of(entry_id)))
    known = next((entry for entry in (*held, *left) if entry.id == entry_id), None)
    quarantined = known is not None and not any(
        entry.approved and not entry.expired(now) and entry.id != entry_id and entry.address == known.address
        for entry in held
    )
    if known is not None and quarantined:
        # First, so that no answer slips in between.
        tenant, customer, key = place_of(known.address)
        core.store.add_quarantine(Quarantine(tenant, customer, key, now, hit_id, author))
        core.count("quarantined")
    entry = core.store.retire(entry_id, reason="false_hit", now=now)
    if known is not None and known.address.namespace.generation != "/".join(core.generation):
        entry = _retire_carried_over(core, known, Quarantine("", "", "", now, hit_id, author)) or entry
    if known is not None:
        _retire_in_next(core, known, Quarantine("", "", "", now, hit_id, author) if quarantined else None, now)
    printed = str(known.key) if known is not None else None
    core.store.add_feedback(Feedback(hit_id, now, author, note, printed or ""))
    core.count("false_hits_reported")
    core.emit(Withdrawn(now, "false_hit", 1 if entry is not None else 0, hit_id=hit_id, entry=entry))
    return Report(entry is not None, printed, quarantined)


def _retire_carried_over(core: Core, known: Entry, report: Quarantine) -> Entry | None:
    """Take back what re-keying made of an answer of an earlier generation; it kept the random part of its id."""
    taken = None
    for entry in core.store.find(Selector(tenant=known.address.namespace.tenant)):
        if entry.id != known.id and entry.id[CELL_LENGTH:] == known.id[CELL_LENGTH:]:
            tenant, customer, key = place_of(entry.address)
            core.store.add_quarantine(replace(report, tenant=tenant, customer=customer, key=key))
            taken = core.store.retire(entry.id, reason="false_hit", now=report.at) or taken
    return taken


def _retire_in_next(core: Core, known: Entry, report: Quarantine | None, now: float) -> None:
    """Take back what an answer became in the generation that is being built."""
    upcoming = core.next_parser
    made = core.reread(known, upcoming) if upcoming is not None else None
    if not isinstance(made, Entry):
        return
    if report is not None:
        tenant, customer, key = place_of(made.address)
        core.store.add_quarantine(replace(report, tenant=tenant, customer=customer, key=key))
    core.store.retire(made.id, reason="false_hit", now=now)


def clear_quarantine(core: Core, key: str, *, tenant: str = "", customer: str = "") -> bool:
    """Let learned answers fill a key again although one was wrong; gives whether it was in quarantine.

    Raises:
        StoreUnavailable: the store does not answer; nothing was cleared.
    """
    cleared = core.store.end_quarantine((tenant, customer, key))
    if cleared:
        core.count("quarantine_cleared")
    return cleared


def switch(core: Core, intent: str, *, off: bool) -> None:
    """Switch an intent off or on, for every process that uses the store.

    Raises:
        StoreUnavailable: the store does not answer; nothing was switched.
    """
    now = core.clock()
    core.store.set_switch(intent, off=off, now=now)
    core.refresh_switches()
    core.emit(Switched(now, intent, off))


def approve(core: Core, hit_id: str, *, author: str, answer: str | None = None) -> Stored:
    """Turn the answer of a hit into an approved one, as it is or with another text.

    Args:
        core: The cache.
        hit_id: The id of a hit or of an entry.
        author: Who approves.
        answer: Another text; None keeps the present one.

    Raises:
        ConfigurationError: nobody is named, or the text is empty.
        StoreUnavailable: the store does not answer.
    """
    if not author.strip():
        raise ConfigurationError("an approved answer needs an author")
    if answer is not None and not answer.strip():
        raise ConfigurationError("an approved answer needs a text")
    entry = core.store.entry(hit_id.partition(".")[0])
    if entry is None:
        return Stored(False, "unknown_hit")
    now, life = core.clock(), core.policy.approved_ttl
    approved = entry.but(
        id=entry.cell + secrets.token_hex(8),
        answer=entry.answer if answer is None else answer,
        origin=Origin.APPROVED,
        author=author,
        created=now,
        expires=None if life is None else now + life,
    )
    result = core.store.put(approved)
    if result is PutResult.STORE_FULL:
        return Stored(False, result.value, str(entry.key))
    keep_in_next(core, approved)
    outcome = Stored(True, None, str(entry.key), approved.id if result is PutResult.STORED else None)
    core.emit(Kept(now, outcome, approved))
    return outcome


def keep_in_next(core: Core, entry: Entry) -> None:
    """Keep an answer in the generation that is being built as well, while one is."""
    upcoming = core.next_parser
    if upcoming is not None:
        core.keep_in_next(entry, core.reread(entry, upcoming))


def doctor(core: Core) -> Diagnosis:
    """Why keys do not share answers that they could share, and which keys wait for a person.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    generation = "/".join(core.generation)
    generations: dict[str, int] = defaultdict(int)
    seen: dict[str, _Seen] = defaultdict(_Seen)
    for entry in core.store.find(Selector()):
        generations[entry.address.namespace.generation] += 1
        if entry.address.namespace.generation == generation:
            seen[str(entry.key)].add(entry)
    waiting = {key: times for key, times in core.store.waiting().items() if not (key in seen and seen[key].approved)}
    health = [KeyHealth(key, it.entries, it.split_by(), it.approved, waiting.get(key, 0)) for key, it in seen.items()]
    telling = [one for one in health if one.split_by or one.waiting]
    core.refresh_switches()
    return Diagnosis(
        tuple(sorted(telling, key=lambda one: (-one.entries, one.key))),
        waiting,
        dict(generations),
        generation,
        core.store.switches() | core.policy.intents_off,
        core.store.counts(),
        tuple(core.store.quarantines()),
    )


@dataclass(slots=True)
class _Seen:
    entries: int = 0
    approved: bool = False
    values: dict[str, set[object]] = field(default_factory=lambda: defaultdict(set))

    def add(self, entry: Entry) -> None:
        self.entries += 1
        self.approved = self.approved or entry.approved
        for name, value in entry.address.namespace._asdict().items():
            self.values[name].add(value)
        self.values["fingerprint"].add(entry.address.fingerprint)

    def split_by(self) -> dict[str, int]:
        return {name: len(values) for name, values in self.values.items() if len(values) > 1}
