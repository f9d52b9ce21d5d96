"""The pure core: a parse, a scope and what the store holds in; `Hit`, `Miss(reason)` or `Bypass(reason)` out.

Nothing here reads a clock, a store or a global. `admit` turns a parse into the address it may be looked up under,
`recall` judges what the store holds there, `decide` is both. `may_fill` and `entry_for` are the other direction:
whether the answer of the model may be kept, and as what.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from slotcache import errors
from slotcache.address import Address, Namespace, Scope, digest, injective
from slotcache.answers import Answer
from slotcache.concealment import Concealed
from slotcache.conversation import points_back
from slotcache.entry import Entry, Origin
from slotcache.errors import Abstain, NotStored
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.policy import PLAIN, Directives, Policy
from slotcache.prompts import PromptReading, read_prompt

CLOCK_TOLERANCE: Final = 60.0
"""Seconds by which an entry may seem to come from the future before its age counts as unknown."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The store holds the answer to this very question."""

    entry: Entry
    age: float


@dataclass(frozen=True, slots=True)
class Miss:
    """Nothing to serve.

    Attributes:
        reason: Why.
        near: The entry that would have been served but for a protected word.
        withheld: The entry that would have been served but for the operator's or the caller's rules.
    """

    reason: errors.Miss
    near: Entry | None = None
    withheld: Entry | None = None


@dataclass(frozen=True, slots=True)
class Bypass:
    """The cache takes no part: nothing is read and nothing is stored."""

    reason: errors.Bypass


@dataclass(frozen=True, slots=True)
class Admitted:
    """A question that may be looked up.

    Attributes:
        address: Where.
        owner: Who may share the answers.
        ttl: Life of a learned answer, in seconds.
        not_fillable: Why a learned answer must not be kept; None when it may.
        varying: What the prompt held about this one request.
    """

    address: Address
    owner: Owner
    ttl: float
    not_fillable: NotStored | None
    varying: tuple[str, ...]


def owner_of(parse: Parse, key: Key, policy: Policy, *, personal: bool) -> Owner:
    """Who may share answers to this question under the operator's rules.

    Args:
        parse: The reading.
        key: Its key.
        policy: The operator's rules.
        personal: Whether the question holds personal data, whoever found it.
    """
    owner = parse.owner or Owner.NEVER
    if key.is_verbatim and policy.verbatim_owner is not None:
        tied = personal or parse.abstain in _TIED_TO_THE_ASKER or owner is Owner.NEVER
        owner = Owner.narrowest(owner, policy.verbatim_owner) if tied else policy.verbatim_owner
    elif owner is Owner.NEVER and key.intent in policy.live_ttl:
        owner = Owner.CUSTOMER
    return Owner.narrowest(owner, Owner.CUSTOMER) if personal else owner


_TIED_TO_THE_ASKER = frozenset({Abstain.PERSONAL, Abstain.FOLLOW_UP, Abstain.SEVERAL_QUESTIONS, Abstain.UNREADABLE})


def stands_alone(parse: Parse, key: Key, policy: Policy) -> bool:
    """Whether the address of a question leaves the conversation before it out."""
    if not policy.self_contained_context or key.is_verbatim or parse.abstain is not None:
        return False
    return not points_back(parse.text, policy.points_back)


def admit(
    parse: Parse,
    scope: Scope,
    policy: Policy,
    *,
    prompt: PromptReading,
    generation: str = "",
    personal: bool = False,
    personal_prompt: bool = False,
    concealed: Concealed | None = None,
) -> Admitted | Bypass:
    """Where a question may be looked up, or why the cache takes no part.

    Args:
        parse: The reading of the utterance.
        scope: What the caller says about the request.
        policy: The operator's rules.
        prompt: What the system prompt contributes (see `read_prompt`).
        generation: Which parser read the question.
        personal: Whether the question holds personal data.
        personal_prompt: Whether the varying parts of the prompt do.
        concealed: What concealing its personal data came to, where the operator wants that; `parse` is its reading.
    """
    key = parse.key
    if parse.abstain is Abstain.INTENT_OFF:
        return Bypass(errors.Bypass.INTENT_OFF)
    if parse.abstain is Abstain.FOLLOW_UP and not scope.context:
        return Bypass(errors.Bypass.CONTEXT_DEPENDENT)
    if key is None:
        return Bypass(errors.Bypass.NO_KEY)
    owner = owner_of(parse, key, policy, personal=personal or bool(parse.personal))
    if owner is Owner.NEVER:
        return Bypass(errors.Bypass.OWNER_NEVER)
    if owner is Owner.CUSTOMER and scope.customer is None:
        return Bypass(errors.Bypass.NO_CUSTOMER)

    alone = stands_alone(parse, key, policy)
    extra = scope.extra if concealed is None or not concealed.digest else (("", concealed.digest), *scope.extra)
    namespace = Namespace(
        tenant=scope.tenant,
        locale=scope.locale,
        model=scope.model,
        prompt=prompt.fingerprint,
        epoch=scope.policy_epoch,
        context=digest(scope.context) if scope.context and not alone else "",
        owner=owner.value,
        customer=(scope.customer or "") if owner is Owner.CUSTOMER else "",
        extra=injective(part for pair in extra for part in pair).decode("utf-8", "backslashreplace"),
        generation=generation,
    )
    # Every reader of a verbatim key has typed every word that the model saw: nothing in it is somebody else's story.
    clean = parse.fillable or key.is_verbatim
    # What was said before may have shaped the answer, and who reads it at this address need not have said it.
    left_out = alone and bool(scope.context) and not scope.context_judged
    fillable = clean and not left_out and not (owner is Owner.SHARED and personal_prompt)
    not_fillable = None if fillable else NotStored.NOT_FILLABLE
    if concealed is not None and not concealed.alike:
        not_fillable = NotStored.NOT_REDACTABLE
    live = parse.owner is Owner.NEVER and not key.is_verbatim
    return Admitted(
        Address.of(namespace, key, parse.fingerprint),
        owner,
        policy.live_ttl[key.intent] if live else policy.life_of(key.intent, owner),
        not_fillable,
        prompt.varying,
    )


def recall(
    admitted: Admitted,
    held: Sequence[Entry],
    policy: Policy,
    now: float,
    directives: Directives = PLAIN,
) -> Hit | Miss:
    """Judge what the store holds in the cell of an admitted question.

    Args:
        admitted: The question's address and owner.
        held: All entries of the cell, whatever their fingerprint.
        policy: The operator's rules.
        now: Seconds since the epoch.
        directives: What the caller asks for this request.
    """
    address = admitted.address
    found = None
    for entry in held:
        if entry.address.variant == address.variant:
            found = entry
    if found is None:
        return _nothing_found(held, now)
    its = found.address
    if its.fingerprint != address.fingerprint or its.key != address.key or its.namespace != address.namespace:
        return Miss(errors.Miss.GUARD_MISMATCH, near=found)
    age = now - found.created
    if (found.expires is not None and now >= found.expires) or age < -CLOCK_TOLERANCE:
        return Miss(errors.Miss.EXPIRED)
    if policy.approved_only and not found.approved:
        return Miss(errors.Miss.NOT_APPROVED, withheld=found)
    if directives.max_age is not None and age >= directives.max_age:
        return Miss(errors.Miss.TOO_OLD, withheld=found)
    if policy.observe:
        return Miss(errors.Miss.OBSERVED, withheld=found)
    return Hit(found, max(age, 0.0))


def _nothing_found(held: Sequence[Entry], now: float) -> Miss:
    near = next((entry for entry in held if not entry.expired(now)), None)
    return Miss(errors.Miss.GUARD_MISMATCH if near else errors.Miss.NOT_FOUND, near=near)


def decide(
    parse: Parse,
    scope: Scope,
    policy: Policy,
    held: Sequence[Entry],
    now: float,
    *,
    directives: Directives = PLAIN,
    off: Collection[str] = (),
    prompt_varies: bool = False,
    generation: str = "",
    personal: bool = False,
) -> Hit | Miss | Bypass:
    """The whole decision on one question.

    Args:
        parse: The reading of the utterance.
        scope: What the caller says about the request.
        policy: The operator's rules.
        held: What the store holds in the cell that `admit` names.
        now: Seconds since the epoch.
        directives: What the caller asks for this request.
        off: Intents switched off while running.
        prompt_varies: Whether this tenant's undeclared prompts were seen to vary.
        generation: Which parser read the question.
        personal: Whether the question holds personal data that the parser did not report.
    """
    prompt = read_prompt(scope, policy.prompts)
    admitted = admit(parse, scope, policy, prompt=prompt, generation=generation, personal=personal)
    refused = refuse(
        None if isinstance(admitted, Bypass) else admitted,
        policy,
        directives,
        off=off,
        prompt_varies=prompt_varies and not prompt.declared,
    )
    if refused is not None:
        return refused
    if isinstance(admitted, Bypass):
        return admitted
    return recall(admitted, held, policy, now, directives)


def refuse(
    admitted: Admitted | None,
    policy: Policy,
    directives: Directives,
    *,
    off: Collection[str],
    prompt_varies: bool,
) -> Bypass | None:
    """The bypasses that depend on the moment, not on the question: they are asked anew for every request."""
    if directives.no_cache:
        return Bypass(errors.Bypass.NO_CACHE)
    if admitted is None:
        return None
    intent = admitted.address.key.intent
    if intent in off or intent in policy.intents_off:
        return Bypass(errors.Bypass.INTENT_OFF)
    return Bypass(errors.Bypass.PROMPT_UNDECLARED) if prompt_varies else None


def may_fill(admitted: Admitted, policy: Policy, directives: Directives = PLAIN) -> NotStored | None:
    """Why a learned answer to this question will not be kept, known before the model is called; None when it may."""
    if directives.no_store:
        return NotStored.NO_STORE
    if policy.approved_only:
        return NotStored.APPROVED_ONLY
    return admitted.not_fillable


def entry_for(
    admitted: Admitted,
    parse: Parse,
    answer: Answer,
    policy: Policy,
    now: float,
    *,
    token: str,
    origin: Origin = Origin.LEARNED,
    tags: tuple[str, ...] = (),
    ttl: float | None = None,
    author: str = "",
) -> Entry:
    """The entry that keeps an answer.

    Args:
        admitted: The question's address and life.
        parse: The reading of the question.
        answer: What is to be served.
        policy: The operator's rules.
        now: Seconds since the epoch.
        token: Random part of the entry's id.
        origin: Learned or approved.
        tags: The operator's labels.
        ttl: A shorter life than the operator's, in seconds.
        author: Who approved it.
    """
    life = policy.approved_ttl if origin is Origin.APPROVED else admitted.ttl
    lives = [seconds for seconds in (life, ttl) if seconds is not None]
    return Entry(
        id=admitted.address.cell + token,
        address=admitted.address,
        answer=answer.text,
        origin=origin,
        created=now,
        expires=now + min(lives) if lives else None,
        question=parse.text,
        canonical=parse.canonical,
        protected=parse.protected,
        tags=tags,
        parser=parse.model,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        cost=answer.cost,
        author=author,
    )
