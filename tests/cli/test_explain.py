from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import pytest

from slotcache.cli.explain import plain


class _Colour(StrEnum):
    RED = "red"


class _Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class _Box:
    corner: _Point
    colours: frozenset[_Colour]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (1.5, 1.5),
        ("text", "text"),
        (_Colour.RED, "red"),
        (_Point(1, 2), {"x": 1, "y": 2}),
        (_Box(_Point(1, 2), frozenset({_Colour.RED})), {"corner": {"x": 1, "y": 2}, "colours": ["red"]}),
        ({_Colour.RED: (1, 2)}, {"red": [1, 2]}),
        (1j, "1j"),
    ],
)
def test_explain_plain(value: object, expected: object) -> None:
    assert plain(value) == expected


def test_explain_json_holds_every_stage(invoke, library) -> None:
    told = json.loads(invoke("explain", "how do i renew a book", "--domain", library, "--json").stdout)
    assert told["parse"]["intent"] == "renew_loan"
    assert {"tokens", "spans", "cover", "readings", "account"} <= told["stages"].keys()


@pytest.mark.parametrize(
    "expected",
    ["Normalised", "Phrases chosen to explain it", "Guard", "renew_loan(", "Decision"],
)
def test_explain_shows(invoke, library, expected: str) -> None:
    assert expected in invoke("explain", "how do i renew a book", "--domain", library).stdout


def test_explain_says_what_to_do_about_an_abstention(invoke, library) -> None:
    shown = " ".join(invoke("explain", "how do i renew a zeppelin", "--domain", library).stdout.split())
    assert "residue: Words are left over that neither the intent nor a slot accounts for" in shown


def test_explain_is_short_and_json_holds_the_rest(invoke) -> None:
    shown = invoke("explain", "can i still cancel once its been shipped").stdout
    assert len(shown.splitlines()) < 60
    assert "timing=post_shipment" in shown
    assert "cancel_order" in shown.split("Learned reader")[1].split("Guard")[0]
