"""Two generations of stored answers: what an answer of one becomes in the next, and how it gets there.

A generation is a model and a domain; it is part of every address. While the next one is built beside the present one,
the retraining job carries over what is stored and the cache keeps every new answer in both, by the same rule. Nobody
ever reads more than before: an answer whose owner would be another one leaves recall instead of changing hands.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from slotcache.address import CELL_LENGTH, Address
from slotcache.answers import FindPersonal, find_personal
from slotcache.decide import owner_of, stands_alone
from slotcache.domain.keys import wrong_with
from slotcache.domain.schema import Domain
from slotcache.entry import Entry
from slotcache.errors import Abstain
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import Policy
from slotcache.records.redact import readable
from slotcache.stores.base import PutResult, Store

WITHDRAWN: Final = "source_withdrawn"
"""Reason for a carried-over answer whose original was taken back meanwhile."""


class Fate(StrEnum):
    """What becomes of a stored answer."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CONFLICT = "conflict"
    OUT = "out_of_recall"


class Reading(Protocol):
    """The parser of a generation."""

    @property
    def version(self) -> str:
        """Version of its model."""

    @property
    def domain_hash(self) -> str:
        """Digest of its domain."""

    @property
    def domain(self) -> Domain:
        """Its domain."""

    def parse(self, text: str) -> Parse:
        """The reading of one utterance."""


def generation_of(parser: Reading) -> str:
    """The generation of a parser, as addresses name it."""
    return f"{parser.version}/{parser.domain_hash}"


@dataclass(frozen=True, slots=True)
class Carried:
    """One stored answer and what became of it.

    Attributes:
        source: Id of the entry in the former generation.
        target: Id of the entry that answers for it in the next one; empty when none does.
        fate: What became of it.
        key: Its printed key before.
        new_key: Its printed key now; empty when it has none.
        reason: Why it is out of recall, or who won a conflict (`newer_approved`, `approved`, `newer`).
        question: The stored question.
        loser: In a conflict, the answer that is not served any more; it is for people to look at.
        winner: In a conflict, the answer that is.
    """

    source: str
    target: str
    fate: Fate
    key: str
    new_key: str
    reason: str = ""
    question: str = ""
    loser: str = ""
    winner: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def reread(
    entry: Entry,
    parser: Reading,
    policy: Policy,
    *,
    find_personal: FindPersonal = find_personal,
) -> Entry | str:
    """The entry as the next generation keeps it, or why it cannot.

    Args:
        entry: A stored answer.
        parser: The parser of the next generation.
        policy: The operator's rules.
        find_personal: Gives the kinds of personal data in a text.
    """
    namespace = entry.address.namespace._replace(generation=generation_of(parser))
    if not entry.question:
        # Written for a key: it stands as long as questions can get the key.
        if wrong_with(parser.domain, entry.key):
            return "key_unknown"
        return _moved(entry, Address.of(namespace, entry.key, entry.address.fingerprint))
    text = readable(entry.question)
    parse = parser.parse(text)
    key = parse.key
    if key is None:
        return f"unread:{parse.abstain}"
    personal = bool(parse.personal) or bool(find_personal(text))
    refused = _refused(entry, parse, key, owner_of(parse, key, policy, personal=personal), policy)
    if refused:
        return refused
    return _moved(
        entry,
        Address.of(namespace, key, parse.fingerprint),
        canonical=parse.canonical,
        protected=parse.protected,
        parser=parse.model,
        expires=_expiry(entry, parse, key, policy),
    )


def carry(store: Store, entry: Entry, made: Entry | str, *, now: float) -> Carried:
    """Keep an answer in the next generation as well; the former one stays as it is.

    Of two answers that now have one key an approved one wins over a learned one, of two alike the newer, and the key
    waits for a person.

    Args:
        store: Where answers live.
        entry: The answer as it is stored.
        made: What `reread` made of it.
        now: Seconds since the epoch.
    """
    if isinstance(made, str):
        return out(entry, made)
    other = next((held for held in store.get(made.cell) if held.address == made.address), None)
    if other is not None and (other.expired(now) or _left_behind(store, other)):
        store.retire(other.id, reason=WITHDRAWN, now=now)
        other = None
    if other is None or other.id == made.id:
        return _put(store, entry, made)
    if store.entry(entry.id) is None:
        return out(entry, WITHDRAWN)  # replaced or taken back while this was going on
    if other.answer == made.answer:
        return _put(store, entry, made) if made.approved and not other.approved else kept(entry, other)
    return _conflict(store, entry, made, other, now)


def kept(entry: Entry, made: Entry) -> Carried:
    """An answer that lives on."""
    fate = Fate.UNCHANGED if made.key == entry.key else Fate.MOVED
    return Carried(entry.id, made.id, fate, str(entry.key), str(made.key), "", entry.question)


def out(entry: Entry, reason: str) -> Carried:
    """An answer that leaves recall."""
    return Carried(entry.id, "", Fate.OUT, str(entry.key), "", reason, entry.question)


def _moved(entry: Entry, address: Address, **changes: Any) -> Entry:
    # The random part of the id stays, so that a hit from before the change-over can still be reported.
    return entry.but(id=address.cell + entry.id[CELL_LENGTH:], address=address, source=entry.id, **changes)


def _refused(entry: Entry, parse: Parse, key: Key, owner: Owner, policy: Policy) -> str:
    """Why an answer may not be kept under the new reading of its question; empty when it may."""
    former = entry.address.namespace.owner
    if owner is Owner.NEVER:
        return "owner_never"
    if owner.value != former:
        return "owner_narrowed" if former == Owner.SHARED.value else "owner_widened"
    if not entry.approved and not key.is_verbatim and not parse.fillable:
        return "not_fillable"
    if entry.address.namespace.context:
        return "context_dependent" if stands_alone(parse, key, policy) else ""
    return "context_dependent" if parse.abstain is Abstain.FOLLOW_UP else ""


def _expiry(entry: Entry, parse: Parse, key: Key, policy: Policy) -> float | None:
    """When it stops being served: never later than before, and sooner where the new intent lives shorter."""
    if entry.approved:
        return entry.expires
    live = parse.owner is Owner.NEVER and not key.is_verbatim
    life = policy.live_ttl[key.intent] if live else policy.life_of(key.intent, Owner(entry.address.namespace.owner))
    end = entry.created + life
    return end if entry.expires is None else min(end, entry.expires)


def _left_behind(store: Store, other: Entry) -> bool:
    """Whether an answer was carried over from one that has been replaced or taken back since."""
    return bool(other.source) and store.entry(other.source) is None


def _put(store: Store, entry: Entry, made: Entry) -> Carried:
    result = store.put(made)
    return kept(entry, made) if result in (PutResult.STORED, PutResult.UNCHANGED) else out(entry, result.value)


def _conflict(store: Store, entry: Entry, made: Entry, other: Entry, now: float) -> Carried:
    wins = (made.approved, made.created) > (other.approved, other.created)
    why = "approved" if made.approved != other.approved else "newer_approved" if made.approved else "newer"
    winner, loser = (made, other) if wins else (other, made)
    if wins:
        result = store.put(made)
        if result is not PutResult.STORED:
            return out(entry, result.value)
    store.note_waiting(str(made.key), now=now)
    return Carried(
        entry.id,
        winner.id,
        Fate.CONFLICT,
        str(entry.key),
        str(made.key),
        why,
        entry.question,
        loser.answer,
        winner.answer,
    )
