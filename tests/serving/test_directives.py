from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.policy import PLAIN, Directives
from slotcache.serving.directives import read_directives


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], PLAIN),
        (["public, max-stale=9, must-revalidate"], PLAIN),
        (["no-cache"], Directives(no_cache=True)),
        (["NO-STORE"], Directives(no_store=True)),
        (["only-if-cached"], Directives(only_if_cached=True)),
        (["max-age=5"], Directives(max_age=5)),
        (['max-age="5"'], Directives(max_age=5)),
        (["max-age=0"], Directives(max_age=0)),
        (["max-age=60", "max-age=5"], Directives(max_age=5)),
        (["max-age=-1"], Directives(no_cache=True)),
        (["max-age"], Directives(no_cache=True)),
        (["max-age=1e99"], Directives(no_cache=True)),
        (["no-cache=x, no-store"], Directives(no_cache=True, no_store=True)),
    ],
)
def test_directives_are_read(values: list[str], expected: Directives) -> None:
    assert read_directives(values) == expected


PARTS = st.sampled_from(
    ["no-cache", "no-store", "only-if-cached", "max-age=5", "max-age=60", "max-age=x", "public", ""]
)


def strictness(directives: Directives) -> tuple[bool, bool, bool, float]:
    age = directives.max_age
    return (directives.no_cache, directives.no_store, directives.only_if_cached, -age if age is not None else -1e9)


@given(st.lists(PARTS), PARTS)
def test_directives_more_of_them_are_never_less_strict(parts: list[str], one_more: str) -> None:
    less, more = read_directives([",".join(parts)]), read_directives([",".join([*parts, one_more])])
    assert all(b >= a for a, b in zip(strictness(less), strictness(more), strict=True))
