from __future__ import annotations

from typing import Any

import pytest

from slotcache.errors import ConfigurationError
from slotcache.stores.redis_url import Kind, RedisUrl


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://h", {"kind": Kind.SINGLE, "nodes": (("h", 6379),), "database": 0, "tls": False, "username": None}),
        ("redis://h:1/3", {"nodes": (("h", 1),), "database": 3}),
        ("redis://h?db=4", {"database": 4}),
        ("valkey://h", {"kind": Kind.SINGLE, "tls": False}),
        ("rediss://h:1", {"tls": True}),
        ("valkeys://h:1", {"tls": True}),
        ("redis://:secret@h", {"username": None, "password": "secret"}),
        ("redis://bot:p%40%3A%2F%25%3Fss@h", {"username": "bot", "password": "p@:/%?ss"}),
        ("redis://bot:a:b@h", {"username": "bot", "password": "a:b"}),
        ("redis://[::1]:7/1", {"nodes": (("::1", 7),), "database": 1}),
        ("unix:///run/redis/s.sock?db=2", {"kind": Kind.UNIX, "path": "/run/redis/s.sock", "database": 2}),
        ("unix://bot:pw@/run/s.sock", {"kind": Kind.UNIX, "path": "/run/s.sock", "password": "pw"}),
        (
            "redis+sentinel://user:p%40ss@h1:26379,h2/mymaster/0",
            {
                "kind": Kind.SENTINEL,
                "nodes": (("h1", 26379), ("h2", 26379)),
                "service": "mymaster",
                "username": "user",
                "password": "p@ss",
            },
        ),
        ("rediss+sentinel://h/my%2Fmaster/5", {"tls": True, "service": "my/master", "database": 5}),
        ("redis+cluster://a:1,b,[::1]:3", {"kind": Kind.CLUSTER, "nodes": (("a", 1), ("b", 6379), ("::1", 3))}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_redis_url_says_where(url: str, expected: dict[str, Any]) -> None:
    parsed = RedisUrl.parse(url)
    assert {name: getattr(parsed, name) for name in expected} == expected


def test_redis_url_carries_options_of_their_kinds() -> None:
    options = RedisUrl.parse("redis://h?prefix=shop&timeout=2.5&buckets=16&protocol=2&ssl_check_hostname=no").options
    assert (options.prefix, options.timeout, options.buckets, options.protocol, options.ssl_check_hostname) == (
        *("shop", 2.5, 16, 2),
        False,
    )


def test_redis_url_yields_to_options_of_the_caller() -> None:
    assert RedisUrl.parse("redis://h?prefix=a&timeout=2", prefix="b").options.prefix == "b"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://h", "begins with 'http'"),
        ("redis+ring://h", "begins with"),
        ("redis://h/x", "database is 'x'"),
        ("redis://h:70000", "no host"),
        ("redis://", "no host"),
        ("redis://a,b", "several hosts"),
        ("redis+sentinel://h", "name the service"),
        ("redis+cluster://h/1", "no databases"),
        ("redis://h?colour=red", "unknown option 'colour'"),
        ("redis://h?timeout=soon", "timeout is 'soon'"),
        ("redis://h?timeout=0", "timeout is 0.0"),
        ("redis://h?timeout=nan", "timeout is nan"),
        ("redis://h?buckets=0", "buckets is 0"),
        ("redis://h?buckets=5000", "buckets is 5000"),
        ("redis://h?max_entries=-1", "max_entries"),
        ("redis://h?protocol=4", "protocol is 4"),
        ("redis://h?prefix=a{b}", "prefix"),
        ("redis://h?ssl_cert_reqs=maybe", "ssl_cert_reqs"),
        ("redis://h?ssl_check_hostname=perhaps", "ssl_check_hostname"),
    ],
)
def test_redis_url_that_makes_no_sense_says_why(url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        RedisUrl.parse(url)


@pytest.mark.parametrize(
    "url", ["redis://bot:hush/sesame@h:x", "redis://bot:hush?sesame@h", "redis://bot:hush@h?a@b=c"]
)
def test_redis_url_never_tells_the_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as failure:
        RedisUrl.parse(url)
    assert "hush" not in str(failure.value)
    assert "sesame" not in str(failure.value)


@pytest.mark.parametrize(
    "url", ["redis://bot:hush@h/1", "redis+sentinel://bot:hush@h/s", "redis+cluster://bot:hush@h", "unix://bot:hush@/s"]
)
def test_redis_url_is_shown_without_the_password(url: str) -> None:
    parsed = RedisUrl.parse(url, sentinel_password="hush")
    assert "hush" not in parsed.shown + repr(parsed)
    assert parsed.shown.partition("://")[0] == url.partition("://")[0]
