from __future__ import annotations

import numpy as np
import pytest

from slotcache.evaluation.cosine import replay_cosine
from slotcache.evaluation.traffic import Asked

TRAFFIC = [Asked("a", truth="1"), Asked("b", truth="1"), Asked("c", truth="2")]
# Angles of 0, 60 and 90 degrees: cosines 0.5 (a, b), 0 (a, c) and 0.866 (b, c).
VECTORS = np.array([[1, 0], [0.5, 0.75**0.5], [0, 1]], dtype=np.float32)


@pytest.mark.parametrize(
    ("threshold", "hits", "wrong"),
    [
        pytest.param(0.9, 0, [], id="too high for any"),
        pytest.param(0.8, 1, [("c", "b")], id="nearest earlier question"),
        pytest.param(0.4, 1, [], id="a hit is not stored"),
        pytest.param(-1.0, 2, [("c", "a")], id="everything meets the first"),
    ],
)
def test_cosine_replay(threshold: float, hits: int, wrong: list[tuple[str, str]]) -> None:
    got = replay_cosine(TRAFFIC, VECTORS, threshold)
    assert (got.hits, [(w.asked, w.filled_by) for w in got.false_hits]) == (hits, wrong)


def test_cosine_threshold_is_inclusive() -> None:
    same = np.array([[1, 0], [1, 0]], dtype=np.float32)
    assert replay_cosine(TRAFFIC[:2], same, 1.0).hits == 1
