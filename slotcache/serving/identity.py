"""Who asks: tenant, customer and locale, from the connection and from headers that the operator trusts.

The text of a request decides none of it, and a header does only when the request proves that it came through the
operator's own gateway. A header that stands twice is not believed: a proxy on the way may have read the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from slotcache.serving.config import Caller, Gateway, Settings
from slotcache.serving.tokens import digest_of, matches

_LONGEST: Final = 256
Headers = Iterable[tuple[bytes, bytes]]
"""Names in lower case and values, as ASGI gives them."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks.

    Attributes:
        known: Whether the cache may be used at all.
        rejected: Whether the operator wants such requests turned away.
        name: What logs call the caller.
        tenant: Whose bot it is.
        customer: Who is logged in, as the gateway or the configuration says; None when nobody is.
        locale: Language and region of the answers.
        prompt_version: Name of the stable part of the system prompt; None when the prompt speaks for itself.
        doubted: Whether a trusted header came from somebody who is not trusted.
    """

    known: bool
    rejected: bool = False
    name: str = ""
    tenant: str = ""
    customer: str | None = None
    locale: str = ""
    prompt_version: str | None = None
    doubted: bool = False


class Identities:
    """Tells who asks."""

    def __init__(self, settings: Settings) -> None:
        self._callers: Mapping[str, Caller] = {caller.key: caller for caller in settings.callers}
        self._gateway = settings.gateway
        self._locale = settings.locale
        default = "bypass" if settings.callers else "own_tenant"
        self._unknown = settings.unknown_callers or default
        self._trusts = _Trust(settings.gateway)

    @property
    def own_headers(self) -> frozenset[bytes]:
        """Headers that are meant for the proxy and go no further, in lower case."""
        gateway = self._gateway
        names = (gateway.secret_header, gateway.customer_header, gateway.tenant_header, gateway.locale_header)
        return frozenset(name.lower().encode() for name in names if name)

    def of(self, headers: Headers, peer: str | None) -> Identity:
        """Who sent a request.

        Args:
            headers: Its headers.
            peer: Address of the other end of the connection; None when it has none.
        """
        found: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            found.setdefault(name, []).append(value)
        told = self._told(found)
        trusted = bool(told) and self._trusts(found, peer)
        if not trusted:
            doubted, told = bool(told), {}
        else:
            doubted = any(value is None for value in told.values())
        key = api_key(found)
        caller = self._callers.get(digest_of(key)) if key else None
        tenant = told.get("tenant") or (caller.tenant if caller else None)
        known = tenant is not None
        if tenant is None and self._unknown == "own_tenant":
            # The key itself is never kept: neither in addresses nor in logs.
            known, tenant = True, f"key:{digest_of(key)[7:39]}" if key else ""
        # A header that is there but cannot be read must not make anybody somebody else.
        known = known and not (trusted and doubted)
        return Identity(
            known=known,
            rejected=not known and self._unknown == "reject",
            name=caller.name if caller else "",
            tenant=tenant or "",
            customer=told.get("customer") or (caller.customer if caller else None),
            locale=told.get("locale") or (caller.locale if caller else None) or self._locale,
            prompt_version=caller.prompt_version if caller else None,
            doubted=doubted,
        )

    def _told(self, found: Mapping[bytes, list[bytes]]) -> dict[str, str | None]:
        """What the gateway's headers say; None for one that cannot be believed."""
        gateway = self._gateway
        named = {
            "customer": gateway.customer_header,
            "tenant": gateway.tenant_header,
            "locale": gateway.locale_header,
        }
        told: dict[str, str | None] = {}
        for field, header in named.items():
            values = found.get(header.lower().encode(), []) if header else []
            if values:
                told[field] = _plain(values[0]) if len(values) == 1 else None
        return {field: value for field, value in told.items() if value != ""}


class _Trust:
    """Whether a request came through the operator's gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._secret = gateway.secret
        self._header = gateway.secret_header.lower().encode()
        self._networks = gateway.addresses
        self._inside = lru_cache(maxsize=4096)(self._is_inside)

    def __call__(self, found: Mapping[bytes, list[bytes]], peer: str | None) -> bool:
        if self._secret is None and not self._networks:
            return False
        if self._secret is not None:
            values = found.get(self._header, [])
            if len(values) != 1 or not matches(values[0], self._secret):
                return False
        return not self._networks or (peer is not None and self._inside(peer))

    def _is_inside(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._networks)


def api_key(found: Mapping[bytes, list[bytes]]) -> bytes:
    """The API key of a request; empty when there is none, or more than one."""
    values = [*found.get(b"authorization", []), *found.get(b"api-key", []), *found.get(b"x-api-key", [])]
    if len(values) != 1:
        return b"" if not values else b"\x00".join(values)
    scheme, _, rest = values[0].partition(b" ")
    return rest.strip() if scheme.lower() == b"bearer" else values[0].strip()


def _plain(value: bytes) -> str | None:
    """The text of a header; None when it is no identifier."""
    try:
        text = value.decode("utf-8").strip()
    except UnicodeDecodeError:
        return None
    return text if len(text) <= _LONGEST and (text.isprintable()) else None
