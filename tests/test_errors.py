from __future__ import annotations

import re
from enum import StrEnum
from itertools import chain, combinations

import pytest

from slotcache import errors
from slotcache.errors import EXPLANATIONS, Abstain, Bypass, Miss, NotStored, Unsupported

CATALOGUES: tuple[type[StrEnum], ...] = (Abstain, Miss, Bypass, NotStored, Unsupported)
RAISED = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]


@pytest.mark.parametrize("reason", list(chain(*CATALOGUES)), ids=lambda reason: f"{type(reason).__name__}.{reason}")
def test_errors_reason_is_explained_in_one_sentence(reason: StrEnum) -> None:
    assert re.fullmatch(r"[A-Z][^\n]*\.", EXPLANATIONS[reason])


@pytest.mark.parametrize("reason", list(chain(*CATALOGUES)), ids=lambda reason: f"{type(reason).__name__}.{reason}")
def test_errors_reason_id_is_a_plain_name(reason: StrEnum) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", reason.value)


@pytest.mark.parametrize(("one", "other"), list(combinations(CATALOGUES, 2)))
def test_errors_id_of_two_catalogues_means_the_same(one: type[StrEnum], other: type[StrEnum]) -> None:
    # Members of two enumerations with one value are one key of EXPLANATIONS, so they can only have one text.
    shared = {reason.value for reason in one} & {reason.value for reason in other}
    assert shared <= {"intent_off", "store_unavailable"}


@pytest.mark.parametrize("error", RAISED)
def test_errors_have_one_base(error: type[Exception]) -> None:
    assert issubclass(error, errors.SlotcacheError)


@pytest.mark.parametrize("error", RAISED)
def test_errors_are_drawn_in_the_tree(error: type[Exception]) -> None:
    assert error.__name__ in (errors.__doc__ or "")
