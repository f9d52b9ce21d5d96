"""What the adapters for chat libraries share: a request in the library's words, the cache's in return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.core import Core
from slotcache.errors import Bypass, ConfigurationError, NotStored, Unsupported
from slotcache.events import Decision, Outcome
from slotcache.policy import Policy
from slotcache.serving.addressing import Addresses
from slotcache.serving.config import Chat, Template
from slotcache.serving.requests import Asked

ScopeOf = Scope | Callable[[], Scope]
"""Who asks: fixed, or found out for each request (from a context variable, say)."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that a stored answer may serve.

    Attributes:
        asked: What it asks.
        scope: Under which circumstances.
    """

    asked: Asked
    scope: Scope


class Chats:
    """Reads requests and judges replies."""

    def __init__(self, core: Core, scope: ScopeOf, chat: Chat | None) -> None:
        self._core = core
        self._scope = scope
        self._addresses = Addresses(_as_the_policy_says(chat or Chat(), core.policy), public=core.policy.public)

    def prepare(self, body: Mapping[str, Any], more: tuple[tuple[str, str], ...] = ()) -> Prepared | Unsupported:
        """A request as the cache takes it, or why no stored answer can serve it.

        Args:
            body: A chat completion request in OpenAI's form.
            more: Further names and values that separate answers.
        """
        asked = self._addresses.read(body)
        if isinstance(asked, Asked):
            base = self._scope() if callable(self._scope) else self._scope
            try:
                return Prepared(asked, self._addresses.scope(asked, base, more))
            except ConfigurationError:
                asked = Unsupported.UNKNOWN_SHAPE
        self._core.count(f"bypass.{Bypass.REQUEST_UNSUPPORTED.value}")
        return asked

    def judged(self, prepared: Prepared, said: Answer) -> Answer:
        """An answer of the model, with what forbids to keep it. It parses the earlier turns."""
        if said.not_kept is not None:
            return said
        self.said(prepared, said.text)
        try:
            why = self._addresses.why_not_kept(prepared.asked, prepared.scope, self._core)
        except Exception as error:  # a parser that fails must not cost the customer the answer that is there
            self._core.trouble("parser", error)
            why = NotStored.NOT_FILLABLE
        return said if why is None else replace(said, not_kept=why)

    def said(self, prepared: Prepared, answer: str) -> None:
        """Remember what the customer was answered, for the turns to come."""
        self._addresses.note_said(prepared.asked, prepared.scope, self._core, answer)


def unsupported_outcome(why: Unsupported) -> Outcome:
    """What came of a request that no stored answer can serve; its `reason` is followed by the detail."""
    return Outcome(Decision.BYPASS, f"{Bypass.REQUEST_UNSUPPORTED.value}.{why.value}")


def _as_the_policy_says(chat: Chat, policy: Policy) -> Chat:
    """How chats are read, with what the cache's policy decides: there is one place to say it."""
    templates = tuple(Template(name=it.name, text=it.text, significant=it.significant) for it in policy.prompts)
    told = {"self_contained": policy.self_contained_context, "prompts": chat.prompts or templates}
    return chat.model_copy(update=told)
