from __future__ import annotations

import pytest

from slotcache.errors import Abstain
from slotcache.evaluation.accepted import in_scope, report, shared
from slotcache.evaluation.blame import leaked
from slotcache.evaluation.sight import Sight
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse

NONE = Parse("none", abstain=Abstain.OUT_OF_SCOPE)
VERBATIM = Parse("own words", key=Key.verbatim("own words"), owner=Owner.CUSTOMER, abstain=Abstain.RESIDUE)
VERBATIM_SHARED = Parse("all words", key=Key.verbatim("all words"), owner=Owner.SHARED, abstain=Abstain.RESIDUE)
OWN = Parse("own", key=Key.of("track_order"), intent="track_order", owner=Owner.CUSTOMER)
SHARED = Parse("all", key=Key.of("cancel_order"), intent="cancel_order", owner=Owner.SHARED)


@pytest.mark.parametrize(
    ("parse", "read_in_scope", "read_shared"),
    [
        (NONE, False, False),
        (VERBATIM, False, False),
        (VERBATIM_SHARED, False, True),
        (OWN, True, False),
        (SHARED, True, True),
    ],
)
def test_accepted_what_counts(parse: Parse, read_in_scope: bool, read_shared: bool) -> None:
    assert (in_scope(parse), shared(parse)) == (read_in_scope, read_shared)


def test_accepted_report() -> None:
    sights = [Sight(parse) for parse in (NONE, VERBATIM, OWN, SHARED)]
    got = report(sights, wrong=shared, why=leaked)
    assert (got.accepted.count, got.accepted.total, got.wrong) == (1, 4, (Sight(SHARED),))
    assert [str(cause) for cause in got.causes] == ["owner the intent is shared: cancel_order"]
    assert dict(got.turned_away) == {"out_of_scope": 1, "residue": 1, "key of owner customer": 1}
