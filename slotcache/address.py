"""Where an entry lives: the namespace of the caller plus the key plus the guard's fingerprint.

    Scope      what the caller says about the request: tenant, customer, locale, model, prompt, policy epoch, context
    Namespace  the part of the scope that separates entries, once the owner of the answer is known
    Address    namespace + key + fingerprint, with the two digests that stores use

A *cell* holds every entry of one namespace and key; a *variant* is one fingerprint within it. A store that keeps a
cell in one place (a row range, a Redis hash slot) can serve, fill and invalidate it without touching another.

>>> at = Address.of(Namespace(tenant="acme"), Key.of("cancel_order", {"timing": "pre_shipment"}), ())
>>> at.digest == Address.of(Namespace(tenant="acme"), at.key, ()).digest
True
>>> at.digest == Address.of(Namespace(tenant="acme "), at.key, ()).digest
False
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Final, NamedTuple

from slotcache.errors import ConfigurationError
from slotcache.key import Key

CELL_LENGTH: Final = 40
"""Length of a cell digest in hexadecimal digits (160 bits)."""

_VARIANT_BYTES: Final = 12
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the caller says about a request; the text never decides any of it.

    Attributes:
        tenant: Whose bot this is.
        customer: Who asks, as the authenticated caller knows them; None when nobody is logged in.
        locale: Language and region that the answer is for, such as `en-GB`.
        model: The language model that would answer.
        prompt_version: The name the operator gives to the stable part of the system prompt.
        prompt: The system prompt itself, for callers that name no version.
        policy_epoch: Version of the operator's policies; raise it when they change.
        context: The conversation before this turn, as text or as an identifier; None when there is none.
        varying: What the prompt says that differs from request to request (a name, a date). Not part of the
            address; an answer that repeats one of them is not shared.
        extra: Further names and values that separate answers (tools, parameters, sales channel).
        context_judged: Whether the caller judges itself whether the conversation shaped an answer, and says so in
            `Answer.not_kept`. Without that, an answer given in a conversation fills no address that leaves it out.
    """

    tenant: str = ""
    customer: str | None = None
    locale: str = ""
    model: str = ""
    prompt_version: str | None = None
    prompt: str | None = None
    policy_epoch: str = ""
    context: str | None = None
    varying: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = field(default=())
    context_judged: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.extra, Mapping):
            object.__setattr__(self, "extra", tuple(sorted(self.extra.items())))
        for name in ("tenant", "customer", "locale", "model", "prompt_version", "policy_epoch"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or _SURROGATE.search(value)):
                raise ConfigurationError(f"scope field {name!r} must be plain text, not {value!r}")
        if self.customer == "":
            raise ConfigurationError("an empty customer id would be shared by everyone; pass None when nobody is known")

    def but(self, **changes: object) -> Scope:
        """The same scope with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


class Namespace(NamedTuple):
    """The fields that separate entries; two entries meet only when all of them are equal.

    Attributes:
        tenant: As in the scope.
        locale: As in the scope.
        model: As in the scope.
        prompt: Fingerprint of the stable part of the system prompt, with its kind in front.
        epoch: The policy epoch.
        context: Digest of the conversation the answer depends on; empty for a self-contained turn.
        owner: `shared` or `customer`.
        customer: The customer, when the answers are theirs alone; empty otherwise.
        extra: The further fields of the scope, in one string.
        generation: Which parser read the question (model version and domain).
    """

    tenant: str = ""
    locale: str = ""
    model: str = ""
    prompt: str = ""
    epoch: str = ""
    context: str = ""
    owner: str = "shared"
    customer: str = ""
    extra: str = ""
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """The exact place of an answer.

    Attributes:
        namespace: Who may read it and under which circumstances.
        key: The question.
        fingerprint: Protected words that the key does not carry.
        cell: Digest of namespace and key, 40 hexadecimal digits.
        variant: Digest of the fingerprint, 24 hexadecimal digits.
    """

    namespace: Namespace
    key: Key
    fingerprint: tuple[str, ...]
    cell: str
    variant: str

    @classmethod
    def of(cls, namespace: Namespace, key: Key, fingerprint: tuple[str, ...]) -> Address:
        """Make the address of a question and compute its digests."""
        cell = digest("cell", *namespace, str(key), size=CELL_LENGTH // 2)
        return cls(namespace, key, fingerprint, cell, digest("variant", *fingerprint, size=_VARIANT_BYTES))

    @property
    def digest(self) -> str:
        """One string for the whole address; equal strings mean equal addresses."""
        return f"{self.cell}.{self.variant}"


def injective(parts: Iterable[str]) -> bytes:
    """Strings in one byte string from which they could be read back, whatever they hold.

    >>> injective(["a", "bc"]) == injective(["ab", "c"])
    False
    """
    encoded = (part.encode("utf-8", "surrogatepass") for part in parts)
    return b"".join(b"%d:%s" % (len(part), part) for part in encoded)


def digest(*parts: str, size: int = 20) -> str:
    """BLAKE2b over the injective form of some strings, `size` bytes in hexadecimal digits."""
    return blake2b(injective(parts), digest_size=size).hexdigest()
