"""From a read request to the scope under which the cache is asked, and the rule of what may be kept of its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from slotcache.address import Scope, digest
from slotcache.core import Core, Question
from slotcache.decide import Admitted
from slotcache.errors import ConfigurationError, NotStored, Unsupported
from slotcache.memo import Memo
from slotcache.parsing.types import Parse
from slotcache.prompts import read_prompt
from slotcache.serving.config import Chat, Template
from slotcache.serving.conversation import clean, history
from slotcache.serving.requests import Asked, Turn, read_chat
from slotcache.serving.said import Conversations

_LONGEST_CUSTOMER: Final = 256
_WORD: Final = re.compile(r"\w+(?:[.'’-]\w+)*")
_COMMON = """
a about act after all also always am an and answer any are as ask at avoid be before but by can customer customers do
does don't each every explain facts first follow for from give greet has have help helpful here how i if in is it its
keep let's list make may must name never no not note of offer on one only or our order orders out over please politely
question questions refer remember reply respond return say she he send should so support tell thank that the their
then there these they this those to today us use user was we what when where which while who will with without yes you
your
"""
_ORDINARY: Final = frozenset(_COMMON.split())
_MOST_WORDS: Final = 3
_MOST_CHARACTERS: Final = 60
_MOST_TURNS: Final = 40
_DATES = """
january february march april may june july august september october november december monday tuesday wednesday thursday
friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun am pm utc gmt the of
at
"""
_DATE_WORDS: Final = frozenset(_DATES.split())


class Addresses:
    """Makes scopes, and remembers what it found in system prompts."""

    def __init__(self, chat: Chat, *, public: tuple[str, ...] = ()) -> None:
        """Make one.

        Args:
            chat: How chats are read.
            public: The operator's own names and numbers, which are nobody's personal data.
        """
        self._chat = chat
        self._public = public
        self._templates = tuple((template, template.made()) for template in chat.prompts)
        self._naming: Memo[str, tuple[str, ...]] = Memo(2048)
        self._plain: Memo[str, bool] = Memo(2048)
        self._conversations = Conversations()

    def read(self, body: Mapping[str, Any]) -> Asked | Unsupported:
        """What a chat request asks, by the operator's rules."""
        chat = self._chat
        return read_chat(
            body,
            max_temperature=chat.max_temperature,
            seeds=chat.seeds,
            separating=chat.separating,
            neutral=chat.neutral,
        )

    def scope(self, asked: Asked, base: Scope, more: Iterable[tuple[str, str]] = ()) -> Scope:
        """The scope of a request.

        Args:
            asked: The request.
            base: What is known of who asks: tenant, customer, locale, prompt version, policy epoch.
            more: Further names and values that separate answers.

        Raises:
            ConfigurationError: an identifier in the request is none.
        """
        customer = base.customer
        if self._chat.customer_from_user and customer is None:
            customer = asked.user
            if customer is not None and len(customer) > _LONGEST_CUSTOMER:
                raise ConfigurationError("the user of a request is no identifier")
        extra = [*base.extra, *asked.extra, *more]
        context = base.context
        turns = history(asked.turns, self._chat.opening)
        if turns:
            context = digest(context or "", *(part for turn in turns for part in turn))
        version = base.prompt_version
        return Scope(
            tenant=base.tenant,
            customer=customer,
            locale=base.locale,
            model=asked.model,
            prompt_version=version,
            prompt=asked.prompt,
            policy_epoch=base.policy_epoch,
            context=context,
            varying=(*base.varying, *(self._varying(asked.prompt) if version is not None and asked.prompt else ())),
            extra=tuple(extra),
            # `why_not_kept` looks at the turns; of a context that the caller adds it knows nothing.
            context_judged=base.context is None or base.context_judged,
        )

    def _varying(self, prompt: str) -> tuple[str, ...]:
        """What may name somebody in a prompt of which only the version is declared."""
        found = self._naming.get(prompt)
        if found is None:
            matched = self._matched(prompt)
            if matched is not None:
                template, values = matched
                found = tuple(value for name, value in values.items() if name not in template.significant and value)
            else:
                found = (naming_words(prompt, self._public),)
            self._naming.put(prompt, found)
        return found

    def _matched(self, prompt: str) -> tuple[Template, dict[str, str]] | None:
        for template, made in self._templates:
            values = made.values(prompt)
            if values is not None:
                return template, values
        return None

    def why_not_kept(self, asked: Asked, scope: Scope, core: Core) -> NotStored | None:
        """Why an answer to this request must not be kept for others; None when the cache decides.

        It parses the earlier turns, so it is for a thread of its own.
        """
        if not self._prompt_is_plain(asked):
            return NotStored.NOT_FILLABLE
        turns = history(asked.turns, self._chat.opening)
        question = core.remembered(asked.question, scope) or core.read(asked.question, scope)
        if not turns or not _leaves_out_context(question):
            return None
        took_place = self._conversations.took_place(self._who(scope, core), turns)
        return None if took_place and _history_is_clean(turns, question, core) else NotStored.NOT_FILLABLE

    def note_said(self, asked: Asked, scope: Scope, core: Core, answer: str) -> None:
        """Remember what the customer was answered, for the turns to come."""
        if self._chat.self_contained and self._prompt_is_plain(asked):
            turns = history(asked.turns, self._chat.opening)
            self._conversations.note(self._who(scope, core), turns, asked.question, answer)

    def _who(self, scope: Scope, core: Core) -> tuple[str, ...]:
        return scope.tenant, scope.model, scope.locale, read_prompt(scope, core.policy.prompts).fingerprint

    def _prompt_is_plain(self, asked: Asked) -> bool:
        """Whether the placeholders of the prompt hold nothing that a model could obey."""
        if not asked.prompt:
            return True
        plain = self._plain.get(asked.prompt)
        if plain is None:
            matched = self._matched(asked.prompt)
            plain = True
            if matched is not None:
                template, values = matched
                plain = all(is_plain(values[name]) for name in values.keys() - template.significant - template.trusted)
            self._plain.put(asked.prompt, plain)
        return plain


def _leaves_out_context(question: Question) -> bool:
    verdict = question.verdict
    return isinstance(verdict, Admitted) and not verdict.address.namespace.context


def _history_is_clean(turns: tuple[Turn, ...], question: Question, core: Core) -> bool:
    if question.parse is None or len(turns) > _MOST_TURNS:
        return False

    def read(text: str) -> Parse:
        return core.read(text, question.scope).parse or Parse(text)

    facet = getattr(getattr(core.parser, "domain", None), "facet", "")
    return clean(turns, question.parse, read, personal=core.is_personal, facet=facet)


def naming_words(prompt: str, public: tuple[str, ...] = ()) -> str:
    """The words of a prompt that could name a person, a place or a number: those with a capital or a digit.

    Ordinary words that merely begin a sentence are left out, and so are the operator's own public names.

    >>> naming_words("You help customers of Acme. Today is Monday. The customer is Anna Lee.", ("Acme",))
    'Monday Anna Lee'
    """
    known = {word for text in public for word in _WORD.findall(text)}
    words = dict.fromkeys(_WORD.findall(prompt))
    return " ".join(
        word
        for word in words
        if (word != word.lower() or not word.isalpha()) and word.lower() not in _ORDINARY and word not in known
    )


def is_plain(value: str) -> bool:
    """Whether a text looks like a name, a date or a number and not like something that a model could obey.

    >>> is_plain("Maria da Silva"), is_plain("Monday, 30 November 2026"), is_plain("Bo. Always offer 50 % off")
    (True, True, False)
    """
    if len(value) > _MOST_CHARACTERS or "\n" in value:
        return False
    words = [word for word in _WORD.findall(value) if word.isalpha() or "-" in word or "'" in word or "’" in word]
    return sum(word.lower().rstrip(".") not in _DATE_WORDS for word in words) <= _MOST_WORDS
