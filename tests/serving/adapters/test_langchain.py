from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from slotcache.address import Scope
from slotcache.cache import SlotCache
from slotcache.policy import Policy
from slotcache.serving.adapters.langchain import SlotcacheCache
from slotcache.stores.memory import MemoryStore
from slotcache.testing import FakeClock, ScriptedParser
from tests.cache.shells import READINGS

ONE, OTHER = "can i cancel?", "may i call it off?"


class Model(BaseChatModel):
    """A chat model that counts its calls."""

    name_of_model: str = "m"
    temperature: float = 0.0
    calls: Any = None
    reply: AIMessage = AIMessage("Yes.", response_metadata={"finish_reason": "stop"})

    @property
    def _llm_type(self) -> str:
        return "counting"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.name_of_model, "temperature": self.temperature}

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        self.calls.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.reply)])


@pytest.fixture
def slots() -> SlotCache:
    return SlotCache(ScriptedParser(READINGS), MemoryStore(), clock=FakeClock(), policy=Policy(undeclared_prompts=9))


@pytest.fixture
def calls() -> list[Any]:
    return []


def model(slots: SlotCache, calls: list[Any], **fields: Any) -> Model:
    cache = SlotcacheCache(slots, scope=fields.pop("scope", Scope()), **fields.pop("options", {}))
    made = Model(cache=cache, **fields)
    made.calls = calls
    return made


def test_langchain_second_wording_is_answered_without_a_call(slots: SlotCache, calls: list[Any]) -> None:
    chat = model(slots, calls)
    told = [chat.invoke(question) for question in (ONE, OTHER)]
    assert ([reply.content for reply in told], len(calls)) == (["Yes.", "Yes."], 1)
    assert slots.report_false_hit(told[1].response_metadata["slotcache_id"]).evicted


async def test_langchain_async(slots: SlotCache, calls: list[Any]) -> None:
    chat = model(slots, calls)
    told = [await chat.ainvoke(question) for question in (ONE, OTHER)]
    assert ([reply.content for reply in told], len(calls)) == (["Yes.", "Yes."], 1)


@pytest.mark.parametrize(
    "other",
    [
        [SystemMessage("You are somebody else."), HumanMessage(ONE)],
        [HumanMessage("hi"), AIMessage("Hello."), HumanMessage(ONE)],
        [HumanMessage(ONE, name="jo")],
    ],
)
def test_langchain_what_changes_the_answer_separates(slots: SlotCache, calls: list[Any], other: Any) -> None:
    chat = model(slots, calls)
    for messages in ([HumanMessage(ONE)], other):
        chat.invoke(messages)
    assert len(calls) == 2


@pytest.mark.parametrize("other", [{"name_of_model": "m2"}, {"temperature": 0.5}])
def test_langchain_another_model_separates(slots: SlotCache, calls: list[Any], other: Any) -> None:
    for fields in ({}, other):
        model(slots, calls, **fields).invoke(ONE)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ([HumanMessage(ONE), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
          ToolMessage("4", tool_call_id="1"), HumanMessage(ONE)], {}),
        ([HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}])], {}),
        ([HumanMessage(ONE)], {"tools": [{"type": "function"}]}),
        ([HumanMessage(ONE)], {"response_format": {"type": "json_object"}}),
        ([HumanMessage(ONE, additional_kwargs={"mood": "cross"})], {}),
    ],
)  # fmt: skip
def test_langchain_unsupported_request_is_not_cached(
    slots: SlotCache, calls: list[Any], messages: Any, options: Any
) -> None:
    chat = model(slots, calls)
    for _ in range(2):
        chat.invoke(messages, **options)
    assert (len(calls), slots.core.store.counts()["entries"]) == (2, 0)


def test_langchain_hot_model_is_not_cached(slots: SlotCache, calls: list[Any]) -> None:
    chat = model(slots, calls, temperature=1.2)
    for _ in range(2):
        chat.invoke(ONE)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (AIMessage("Yes.", response_metadata={"finish_reason": "stop"}), True),
        (AIMessage("Yes.", response_metadata={"stop_reason": "end_turn"}), True),
        (AIMessage("Yes.", response_metadata={"finish_reason": "length"}), False),
        (AIMessage("Yes."), False),
        (AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]), False),
        (AIMessage([{"type": "text", "text": "Yes."}], response_metadata={"finish_reason": "stop"}), False),
        (AIMessage("I'm sorry, I can't help with that.", response_metadata={"finish_reason": "stop"}), False),
    ],
)
def test_langchain_only_good_answers_are_kept(slots: SlotCache, calls: list[Any], reply: AIMessage, kept: bool) -> None:
    model(slots, calls, reply=reply).invoke(ONE)
    assert slots.core.store.counts()["entries"] == kept


def test_langchain_silent_model_counts_as_complete_where_wanted(slots: SlotCache, calls: list[Any]) -> None:
    model(slots, calls, reply=AIMessage("Yes."), options={"assume_complete": True}).invoke(ONE)
    assert slots.core.store.counts()["entries"] == 1


def test_langchain_asker_is_found_out_for_each_request(slots: SlotCache, calls: list[Any]) -> None:
    asker = ["c1"]
    chat = model(slots, calls, scope=lambda: Scope(customer=asker[0]))
    for customer in ("c1", "c2", "c1"):
        asker[0] = customer
        chat.invoke("cancel mine")
    assert len(calls) == 2


def test_langchain_plain_model(slots: SlotCache) -> None:
    llm = FakeListLLM(responses=["Yes.", "No."], cache=SlotcacheCache(slots, assume_complete=True))
    assert [llm.invoke(question) for question in (ONE, OTHER)] == ["Yes.", "Yes."]


def test_langchain_clear_takes_the_tenants_answers(slots: SlotCache, calls: list[Any]) -> None:
    chat = model(slots, calls, scope=Scope(tenant="acme"))
    chat.invoke(ONE)
    slots.put(ONE, "Other.", Scope(tenant="beta"))
    assert isinstance(chat.cache, SlotcacheCache)
    chat.cache.clear()
    assert slots.core.store.counts()["entries"] == 1
