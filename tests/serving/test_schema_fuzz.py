"""The proxy's own schema, turned against it: whatever is sent, nothing ends in a server error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from slotcache.serving.openapi import SCHEMA
from slotcache.serving.tokens import hash_token
from tests.e2e.servers import endpoint_at, proxy_at
from tests.serving.harness import Endpoint

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from hypothesis import HealthCheck, settings
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore"),
]
TOKEN = "operators-token-0123"
schema = schemathesis.openapi.from_dict(SCHEMA)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with endpoint_at(Endpoint()) as url, proxy_at(url, {"admin": {"token": hash_token(TOKEN)}}) as front:
        yield front.url.removesuffix("/v1")


@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_schema_fuzz_finds_no_server_error(case: schemathesis.Case, address: str) -> None:
    response = case.call(base_url=address, headers={"X-Slotcache-Admin": TOKEN})
    wanted_only_what_is_cached = "only-if-cached" in str(dict(case.headers or {})).lower()
    assert response.status_code < 500 or (response.status_code == 504 and wanted_only_what_is_cached)
    if response.status_code < 500:
        case.validate_response(response, checks=[response_schema_conformance, status_code_conformance])
