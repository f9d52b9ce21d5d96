from __future__ import annotations

from typing import Any

import pytest

from slotcache.serving.config import Settings
from slotcache.serving.identity import Identities, Identity
from slotcache.serving.tokens import hash_token

KEY, OTHER, SECRET = "sk-acme-0123456789", "sk-other-0123456789", "gateway-secret-0123"
INSIDE, OUTSIDE = "10.1.2.3", "192.0.2.7"
CALLERS = [{"name": "acme bot", "key": hash_token(KEY), "tenant": "acme", "locale": "en-GB", "prompt_version": "v7"}]
HEADERS = {"customer_header": "X-Customer", "tenant_header": "X-Tenant", "locale_header": "X-Locale"}
BY_SECRET = {"secret": hash_token(SECRET), **HEADERS}
BY_ADDRESS = {"addresses": ["10.0.0.0/8", "fd00::/8"], **HEADERS}


def who(*headers: tuple[str, str], peer: str | None = INSIDE, key: str | None = KEY, **settings: Any) -> Identity:
    given = [(name.lower().encode(), value.encode()) for name, value in headers]
    if key is not None:
        given.append((b"authorization", f"Bearer {key}".encode()))
    made = Settings.model_validate({"upstream": {"url": "http://x"}, **settings})
    return Identities(made).of(given, peer)


def test_identity_caller_is_known_by_the_key() -> None:
    told = who(callers=CALLERS)
    assert (told.known, told.name, told.tenant, told.locale) == (True, "acme bot", "acme", "en-GB")
    assert told.prompt_version == "v7"


@pytest.mark.parametrize("key", [OTHER, None, "", KEY + " ", KEY.upper()])
def test_identity_unlisted_key_is_nobody_where_callers_are_listed(key: str | None) -> None:
    told = who(key=key, callers=CALLERS)
    assert (told.known, told.rejected) == (key == KEY + " ", False)


def test_identity_unlisted_key_is_turned_away_where_wanted() -> None:
    assert who(key=OTHER, callers=CALLERS, unknown_callers="reject").rejected


def test_identity_every_key_is_a_tenant_of_its_own_without_callers() -> None:
    one, other, nobody = who(key=KEY), who(key=OTHER), who(key=None)
    assert one.known
    assert len({one.tenant, other.tenant, nobody.tenant}) == 3
    assert KEY not in repr(one)


@pytest.mark.parametrize("header", ["api-key", "x-api-key"])
def test_identity_key_may_come_in_another_header(header: str) -> None:
    assert who((header, KEY), key=None, callers=CALLERS).tenant == "acme"


def test_identity_two_keys_are_nobody() -> None:
    assert not who(("authorization", f"Bearer {OTHER}"), callers=CALLERS).known


CUSTOMER = ("X-Customer", "c1")
PROOF = ("X-Slotcache-Gateway", SECRET)


@pytest.mark.parametrize(
    ("gateway", "headers", "peer", "customer"),
    [
        ({}, [CUSTOMER, PROOF], INSIDE, None),
        (BY_SECRET, [CUSTOMER, PROOF], OUTSIDE, "c1"),
        (BY_SECRET, [CUSTOMER], INSIDE, None),
        (BY_SECRET, [CUSTOMER, ("X-Slotcache-Gateway", "gateway-secret-0124")], INSIDE, None),
        (BY_SECRET, [CUSTOMER, PROOF, PROOF], INSIDE, None),
        (BY_ADDRESS, [CUSTOMER], INSIDE, "c1"),
        (BY_ADDRESS, [CUSTOMER], "::ffff:10.1.2.3", "c1"),
        (BY_ADDRESS, [CUSTOMER], "fd00::1", "c1"),
        (BY_ADDRESS, [CUSTOMER], OUTSIDE, None),
        (BY_ADDRESS, [CUSTOMER, ("X-Forwarded-For", INSIDE)], OUTSIDE, None),
        (BY_ADDRESS, [CUSTOMER], None, None),
        (BY_ADDRESS, [CUSTOMER], "nonsense", None),
        (BY_SECRET | BY_ADDRESS, [CUSTOMER, PROOF], OUTSIDE, None),
        (BY_SECRET | BY_ADDRESS, [CUSTOMER], INSIDE, None),
        (BY_SECRET | BY_ADDRESS, [CUSTOMER, PROOF], INSIDE, "c1"),
        (BY_ADDRESS, [("X-Customer", " c1 ")], INSIDE, "c1"),
        (BY_ADDRESS, [("X-Customer", "")], INSIDE, None),
    ],
)
def test_identity_customer_is_believed_from_the_gateway_only(
    gateway: dict[str, Any], headers: list[tuple[str, str]], peer: str | None, customer: str | None
) -> None:
    assert who(*headers, peer=peer, gateway=gateway, callers=CALLERS).customer == customer


@pytest.mark.parametrize("name", ["X-Customer", "X-Tenant", "X-Locale"])
@pytest.mark.parametrize("values", [("a", "b"), ("a", "a"), ("x" * 257,), ("a\x07",)])
def test_identity_header_that_cannot_be_read_makes_the_request_nobodys(name: str, values: tuple[str, ...]) -> None:
    told = who(*((name, value) for value in values), gateway=BY_ADDRESS, callers=CALLERS)
    assert (told.known, told.doubted) == (False, True)


def test_identity_untrusted_header_is_noticed() -> None:
    told = who(CUSTOMER, peer=OUTSIDE, gateway=BY_ADDRESS, callers=CALLERS)
    assert (told.known, told.doubted, told.tenant) == (True, True, "acme")


def test_identity_gateway_names_tenant_and_locale() -> None:
    told = who(("X-Tenant", "beta"), ("X-Locale", "de-DE"), key=OTHER, gateway=BY_ADDRESS, callers=CALLERS)
    assert (told.known, told.tenant, told.locale) == (True, "beta", "de-DE")


def test_identity_gateway_cannot_name_a_tenant_from_outside() -> None:
    told = who(("X-Tenant", "beta"), peer=OUTSIDE, gateway=BY_ADDRESS)
    assert told.tenant.startswith("key:")


def test_identity_headers_for_the_proxy_are_known() -> None:
    made = Settings.model_validate({"upstream": {"url": "http://x"}, "gateway": BY_SECRET})
    assert Identities(made).own_headers == {b"x-slotcache-gateway", b"x-customer", b"x-tenant", b"x-locale"}
