from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slotcache.memo import Memo


@given(st.integers(2, 10), st.lists(st.integers(0, 30)))
def test_memo_is_bounded_and_never_wrong(size: int, keys: list[int]) -> None:
    memo: Memo[int, int] = Memo(size)
    for key in keys:
        assert memo.get(key) in (None, -key - 1)
        memo.put(key, -key - 1)
        assert memo.get(key) == -key - 1
        assert len(memo) <= size


def test_memo_keeps_what_is_used() -> None:
    memo: Memo[str, int] = Memo(8)
    memo.put("used", 1)
    for number in range(100):
        memo.put(str(number), number)
        assert memo.get("used") == 1


def test_memo_forgets_on_request() -> None:
    memo: Memo[str, int] = Memo(8)
    memo.put("a", 1)
    memo.clear()
    assert memo.get("a") is None
