"""What the sync and the async cache share: the parts, what they remember, and how failures stay inside."""

from __future__ import annotations

import itertools
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol, TypeVar

from slotcache import errors
from slotcache.address import Scope
from slotcache.answers import FindPersonal, without
from slotcache.breaker import Breaker
from slotcache.concealment import Concealed, conceal
from slotcache.decide import Admitted, Bypass, Hit, Miss, admit, refuse
from slotcache.entry import Entry
from slotcache.events import Decision, Event, Observer, Outcome, Source, Trouble
from slotcache.flights import Flights
from slotcache.generations import Carried, Reading, carry, reread
from slotcache.memo import Memo
from slotcache.parsing.types import Parse
from slotcache.policy import Directives, Policy
from slotcache.prompts import PromptMemory, read_prompt
from slotcache.records.redact import Redactor
from slotcache.stores.base import Lease, Store

T = TypeVar("T")

SWITCH_SECONDS: Final = 0.5
"""How old the cache's view of switched-off intents may become."""

_LONGEST_REMEMBERED: Final = 2_000
_LONGEST_SCOPE: Final = 20_000
_ORPHANS: Final = 1_000


class ParserLike(Protocol):
    """What the cache needs of a parser."""

    @property
    def version(self) -> str:
        """Version of the model that reads."""

    @property
    def domain_hash(self) -> str:
        """Digest of the domain that is read into."""

    def parse(self, text: str) -> Parse:
        """The reading of one utterance."""


@dataclass(frozen=True, slots=True)
class Question:
    """An utterance in its scope, as far as it can be judged without a clock or a store.

    Attributes:
        parse: The reading; None when the parser failed.
        scope: What the caller said.
        verdict: Where it may be looked up, or why not.
        key: The printed key.
        watched: Fingerprint of a system prompt that nobody declared; empty otherwise.
        generation: Which parser read it.
    """

    parse: Parse | None
    scope: Scope
    verdict: Admitted | Bypass
    key: str | None
    watched: str
    generation: tuple[str, str]


class Core:
    """The parts of a cache, wired. Safe to use from many threads."""

    def __init__(
        self,
        parser: ParserLike,
        store: Store,
        policy: Policy,
        *,
        observers: Iterable[Observer],
        clock: Callable[[], float],
        timer: Callable[[], float],
        find_personal: FindPersonal,
        memory: int,
    ) -> None:
        self.parser = parser
        self.store = store
        self.policy = policy
        self.observers = tuple(observers)
        self.clock = clock
        self.timer = timer
        self.find_personal = find_personal
        self.breaker = Breaker(failures=policy.store_failures, pause=policy.store_pause)
        self.flights = Flights(max_waiters=policy.max_waiters)
        self.prompts = PromptMemory(allowed=policy.undeclared_prompts, window=policy.prompt_window)
        self.orphans: dict[str, Lease] = {}
        self._counts: Counter[str] = Counter()
        self._counting = Lock()
        self._parses: Memo[str, tuple[tuple[str, str], Concealed, bool]] = Memo(memory)
        self._redacting: tuple[str, Redactor] | None = None
        self._questions: Memo[tuple[str, Scope], Question] = Memo(memory)
        self._off: frozenset[str] = frozenset()
        self._off_since: float | None = None
        self._hit_numbers = itertools.count(1)
        self._instance = secrets.token_hex(3)

    @property
    def next_parser(self) -> Reading | None:
        """The parser of the generation that is being built beside the present one; None while none is."""
        found: Reading | None = getattr(self.parser, "next", None)
        return found

    def reread(self, entry: Entry, parser: Reading) -> Entry | str | None:
        """What an answer becomes in the next generation; None when it cannot be read now, which the job does later."""
        try:
            return reread(
                entry,
                parser,
                self.policy,
                find_personal=lambda text: self.find_personal(without(text, self.policy.public)),
            )
        except Exception as error:  # the next parser is a guest; the present one serves
            self.trouble("next_parser", error)
            return None

    def keep_in_next(self, entry: Entry, made: Entry | str | None) -> Carried | None:
        """Keep an answer in the next generation as well; what the store does not take now, the job carries over."""
        if made is None:
            return None
        row = self.reach(lambda: carry(self.store, entry, made, now=self.clock()))
        if row is not None:
            self.count(f"next_generation.{row.fate.value}")
        return row

    @property
    def generation(self) -> tuple[str, str]:
        """Which parser reads now: its model version and its domain."""
        return self.parser.version, self.parser.domain_hash

    def remembered(self, text: str, scope: Scope) -> Question | None:
        """The question, when it was judged before by the parser that is in use now."""
        question = self._questions.get((text, scope))
        return question if question is not None and question.generation == self.generation else None

    def read(self, text: str, scope: Scope) -> Question:
        """Parse an utterance and judge it in its scope. What the parser raises ends in a bypass."""
        try:
            generation, concealed, personal = self._parse(text)
        except Exception as error:  # a parser that fails must not take the bot down
            self.trouble("parser", error)
            return Question(None, scope, Bypass(errors.Bypass.PARSER_FAILED), None, "", self.generation)
        parse = concealed.parse
        prompt = read_prompt(scope, self.policy.prompts)
        verdict = admit(
            parse,
            scope,
            self.policy,
            prompt=prompt,
            generation="/".join(generation),
            personal=personal,
            personal_prompt=any(self.is_personal(value) for value in prompt.varying),
            concealed=concealed,
        )
        watched = "" if prompt.declared else prompt.fingerprint
        question = Question(parse, scope, verdict, str(parse.key) if parse.key else None, watched, generation)
        said = len(scope.prompt or "") + len(scope.context or "") + sum(map(len, scope.varying))
        if len(text) <= _LONGEST_REMEMBERED and said <= _LONGEST_SCOPE:
            self._questions.put((text, scope), question)
        return question

    def _parse(self, text: str) -> tuple[tuple[str, str], Concealed, bool]:
        found = self._parses.get(text)
        if found is not None and found[0] == self.generation:
            return found
        before = self.generation
        parse = self.parser.parse(text)
        if before != self.generation:
            # Another model was promoted in between, and which of the two read this is not known.
            before, parse = self.generation, self.parser.parse(text)
        found = before, self.concealed(parse), self.is_personal(text)
        if len(text) <= _LONGEST_REMEMBERED:
            self._parses.put(text, found)
        return found

    def concealed(self, parse: Parse) -> Concealed:
        """A reading as it may be stored: without personal data, where the operator wants that."""
        secret = self.policy.redaction_secret
        return conceal(parse, self.parser.parse, self._redactor(), secret) if secret else Concealed(parse)

    def _redactor(self) -> Redactor:
        made, domain_hash = self._redacting, self.parser.domain_hash
        if made is None or made[0] != domain_hash:
            expressions = getattr(getattr(self.parser, "domain", None), "personal", {})
            self._redacting = made = domain_hash, Redactor(expressions)
        return made[1]

    def is_personal(self, text: str) -> bool:
        """Whether a text holds personal data that is not the operator's own."""
        return bool(self.find_personal(without(text, self.policy.public)))

    def refusal(self, question: Question, directives: Directives, now: float) -> Bypass | None:
        """Why the cache takes no part in this request, or None when the store may be asked."""
        verdict = question.verdict
        varies = bool(question.watched) and self.prompts.varies(question.scope.tenant, question.watched, now)
        if isinstance(verdict, Bypass):
            return refuse(None, self.policy, directives, off=(), prompt_varies=False) or verdict
        return refuse(verdict, self.policy, directives, off=self._off, prompt_varies=varies)

    def switches_due(self, now: float) -> bool:
        """Whether the view of switched-off intents is too old; true for one caller at a time."""
        since = self._off_since
        if since is not None and 0 <= now - since < SWITCH_SECONDS:
            return False
        self._off_since = now
        return True

    def refresh_switches(self) -> None:
        """Read which intents are switched off. What was known last stands while the store is away."""
        off = self.reach(self.store.switches)
        if off is not None:
            self._off = off

    def reach(self, work: Callable[[], T]) -> T | None:
        """Run something on the store; None when it cannot be reached or was given up on for now."""
        if self.breaker.open and not self.breaker.allows(self.clock()):
            return None
        try:
            value = work()
        except Exception as error:  # a store that fails must not take the bot down, whatever it raises
            self.breaker.failed(self.clock())
            self.trouble("store", error)
            return None
        self.breaker.succeeded()
        return value

    def orphan(self, address: str, lease: Lease, ended: object) -> None:
        """Remember a lease that the store could not be told to end (`ended` is None), so that it can be told later."""
        if ended is None:
            while len(self.orphans) >= _ORPHANS:
                self.orphans.pop(next(iter(self.orphans)), None)
            self.orphans[address] = lease

    def outcome(self, decision: Hit | Miss | Bypass, question: Question) -> Outcome:
        """What the caller is told about a decision."""
        parse = question.parse
        abstain = parse.abstain if parse is not None else None
        model = parse.model if parse is not None else ""
        if isinstance(decision, Hit):
            entry = decision.entry
            source = Source.APPROVED if entry.approved else Source.LEARNED
            hit_id = f"{entry.id}.{self._instance}{next(self._hit_numbers):x}"
            return Outcome(
                Decision.HIT,
                source.value,
                entry.answer,
                source,
                question.key,
                abstain,
                decision.age,
                model,
                hit_id,
            )
        kind = Decision.MISS if isinstance(decision, Miss) else Decision.BYPASS
        return Outcome(kind, decision.reason.value, None, Source.NONE, question.key, abstain, None, model)

    def emit(self, event: Event) -> None:
        """Tell the observers. What they raise is counted."""
        for observer in self.observers:
            try:
                observer(event)
            except Exception:  # an observer is a guest; it must not break the request
                self.count("observer_failures")

    def trouble(self, where: str, error: Exception) -> None:
        """Count a failure and tell the observers."""
        self.count(f"{where}_failures")
        self.emit(Trouble(self.clock(), where, type(error).__name__))

    def count(self, name: str, by: float = 1) -> None:
        """Add to a counter."""
        with self._counting:
            self._counts[name] += by  # type: ignore[assignment]

    def counts(self) -> dict[str, float]:
        """The counters of this process."""
        with self._counting:
            return dict(self._counts)
