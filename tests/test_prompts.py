from __future__ import annotations

import pytest

from slotcache.address import Scope
from slotcache.errors import ConfigurationError
from slotcache.prompts import PromptMemory, PromptReading, PromptTemplate, read_prompt

TEMPLATE = PromptTemplate("bot", "You help {name}. Today is {date}. Plan: {plan}. Answer {{briefly}}.", {"plan"})


def prompt(name: str = "Anna", date: str = "Monday", plan: str = "gold") -> str:
    return f"You help {name}. Today is {date}. Plan: {plan}. Answer {{briefly}}."


def read(text: str) -> PromptReading:
    return read_prompt(Scope(prompt=text), (TEMPLATE,))


def test_prompts_of_one_template_share_a_fingerprint_whatever_varies() -> None:
    assert read(prompt()).fingerprint == read(prompt(name="Bob", date="Friday")).fingerprint


def test_prompts_with_another_significant_value_have_another_fingerprint() -> None:
    assert read(prompt()).fingerprint != read(prompt(plan="basic")).fingerprint


def test_prompts_give_what_varies_and_not_what_is_significant() -> None:
    assert read(prompt()).varying == ("Anna", "Monday")


@pytest.mark.parametrize(
    "text", [prompt() + " And be rude.", "Ignore that. " + prompt(), prompt().replace("help", "hate")]
)
def test_prompts_with_anything_else_changed_are_not_declared(text: str) -> None:
    assert not read(text).declared


@pytest.mark.parametrize(
    ("text", "significant"),
    [
        ("{a} and {a}", ()),
        ("{a}{b}", ()),
        ("{a}", ()),
        ("Hi {a}.", ("b",)),
    ],
)
def test_prompts_refuse_templates_that_cannot_work(text: str, significant: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError):
        PromptTemplate("bot", text, frozenset(significant))


def test_prompts_version_wins_over_the_text() -> None:
    one, other = (read_prompt(Scope(prompt=text, prompt_version="v1")) for text in ("a", "b"))
    assert one == other == PromptReading("version:v1")


@pytest.mark.parametrize(
    "others",
    [
        (Scope(prompt="a"), Scope(prompt="b")),
        (Scope(prompt="a"), Scope(prompt_version="a")),
        (Scope(prompt="a"), Scope()),
        (Scope(prompt_version=""), Scope()),
        (Scope(prompt_version="1"), Scope(prompt_version="2")),
    ],
    ids=str,
)
def test_prompts_that_differ_never_share_a_fingerprint(others: tuple[Scope, Scope]) -> None:
    one, other = (read_prompt(scope).fingerprint for scope in others)
    assert one != other


def test_prompts_varying_parts_named_by_the_caller_are_reported() -> None:
    assert read_prompt(Scope(prompt_version="1", varying=("Anna",))).varying == ("Anna",)


def test_memory_takes_one_text_as_constant() -> None:
    memory = PromptMemory()
    assert [memory.varies("t", "a", now) for now in (0.0, 1.0, 2.0)] == [False, False, False]


def test_memory_notices_a_second_text() -> None:
    memory = PromptMemory()
    assert [memory.varies("t", text, 0.0) for text in "abab"] == [False, True, True, True]


def test_memory_allows_as_many_as_it_is_told() -> None:
    memory = PromptMemory(allowed=2)
    assert [memory.varies("t", text, 0.0) for text in "abc"] == [False, False, True]


def test_memory_keeps_tenants_apart() -> None:
    memory = PromptMemory()
    assert [memory.varies(tenant, tenant, 0.0) for tenant in "ab"] == [False, False]


def test_memory_takes_a_new_constant_text_once_the_old_one_is_forgotten() -> None:
    memory = PromptMemory(window=10)
    memory.varies("t", "old", 0.0)
    assert [memory.varies("t", "new", now) for now in (1.0, 9.9, 10.0, 11.0)] == [True, True, False, False]


def test_memory_survives_a_clock_that_is_set_back() -> None:
    memory = PromptMemory(window=10)
    memory.varies("t", "old", 1_000.0)
    assert not memory.varies("t", "new", 0.0)


def test_memory_is_bounded() -> None:
    memory = PromptMemory()
    for number in range(3_000):
        memory.varies(f"t{number}", "a", 0.0)
        memory.varies("t", str(number), 0.0)
    assert len(memory._seen) <= 1_024
    assert len(memory._seen["t"]) <= 8


def test_prompts_template_tells_its_placeholders_and_what_stands_in_them() -> None:
    template = PromptTemplate("bot", "You help {name}. Today is {day}.")
    assert template.placeholders == ("name", "day")
    assert template.values("You help Anna. Today is Monday.") == {"name": "Anna", "day": "Monday"}
    assert template.values("You help nobody.") is None
