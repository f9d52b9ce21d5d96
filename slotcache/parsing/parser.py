"""Utterance -> Parse: runs the stages in order and keeps what each of them saw."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from slotcache.domain.loader import domain_hash, load_domain
from slotcache.domain.patches import overlaid
from slotcache.domain.schema import Domain
from slotcache.errors import Abstain
from slotcache.key import Key
from slotcache.model_files import check_labels, find_model, has_model
from slotcache.parsing import hygiene
from slotcache.parsing.agreement import OUT_OF_SCOPE, Bars, Verdict, confirms, settle
from slotcache.parsing.guard import Account, account, fingerprint
from slotcache.parsing.learned import LearnedReading, Model
from slotcache.parsing.lexicon import COURTESY, Lexicon, Sense, Span
from slotcache.parsing.normalise import Normaliser, Token
from slotcache.parsing.personal import REFERENCE, Personal, PersonalFinder, canonical_reference
from slotcache.parsing.quantities import Quantity, find_quantities
from slotcache.parsing.quantities.calendar import is_relative
from slotcache.parsing.questions import opens_another, sentences
from slotcache.parsing.reading import Reader, Reading
from slotcache.parsing.spelling import Speller
from slotcache.parsing.types import Owner, Parse

_REFERENCE_WORD = "#reference"
_CANONICAL = frozenset({REFERENCE, "duration", "money", "percent"})
"""Quantities that read alike however they are spelt, also in a verbatim key."""


@dataclass(slots=True)
class Trace:
    """What every stage saw; `slotcache explain` prints it."""

    text: str
    hygiene: Abstain | None = None
    personal: list[Personal] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    repairs: dict[str, str] = field(default_factory=dict)
    mended: str = ""
    quantities: list[Quantity] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    cover: list[Span] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    learned: LearnedReading | None = None
    account: Account | None = None
    canonical: str = ""


class Parser:
    """Reads utterances of one domain. Thread-safe; make one and keep it."""

    def __init__(self, domain: Domain, model: Model | None = None, *, verbatim_owner: Owner = Owner.CUSTOMER) -> None:
        self.domain = domain
        self.domain_hash = domain_hash(domain)
        self.model = model
        self.version = model.version if model else ""
        self._verbatim_owner = verbatim_owner
        with _collector_paused():
            self._normaliser = Normaliser(domain.rewrites)
            self._personal = PersonalFinder(domain.personal)
            self._lexicon = Lexicon(domain, self._normaliser)
            vocabulary = self._lexicon.vocabulary
            self._speller = Speller(
                vocabulary,
                self._lexicon.protected,
                meaning=lambda word: frozenset(vocabulary.get(word, ())),
                function_words=self._lexicon.function_words,
                aliases={word: self._normaliser.words(word) for word in domain.rewrites},
            )
            self._reader = Reader(domain, self._lexicon)
        self._known = frozenset(model.labels) if model else frozenset()
        self._closed = tuple(
            name for name, slot in domain.slots.items() if slot.type == "closed" and not slot.everywhere
        )
        self._bars = Bars.of(model.manifest.bars) if model else Bars()
        self._follow_ups = [
            (self._normaliser.words(phrase.removesuffix(" $")), phrase.endswith(" $")) for phrase in domain.follow_ups
        ]

    @classmethod
    def load(
        cls,
        domain: str | Path = "order_support",
        *,
        model: str | Path | None = None,
        verbatim_owner: Owner = Owner.CUSTOMER,
    ) -> Self:
        """Load a parser for a shipped domain, a domain file or a folder, with the model trained for it.

        Without a model for the domain the deterministic reader decides alone.

        Args:
            domain: Name of a shipped domain, or a path.
            model: A model folder; None looks where models are kept.
            verbatim_owner: Who shares the answers to questions that are known only by their own words.

        Raises:
            DomainError: the domain cannot be used.
            ModelError: the model is damaged or was made for another domain, or the named one is missing.
        """
        with _collector_paused():
            loaded = load_domain(domain)
            if model is None and not has_model(loaded.name):
                return cls(loaded, verbatim_owner=verbatim_owner)
            folder = find_model(model, domain=loaded.name)
            learned = Model.load(folder, domain=loaded.name)
            loaded = overlaid(loaded, folder)
            check_labels(learned.manifest, domain=loaded.name, intents=loaded.intents, slots=loaded.slots)
            return cls(loaded, learned, verbatim_owner=verbatim_owner)

    def parse(self, text: str) -> Parse:
        """Read one utterance."""
        return self.trace(text)[0]

    def trace(self, text: str) -> tuple[Parse, Trace]:
        """Read one utterance and return what every stage saw beside the parse."""
        trace = Trace(text, hygiene=hygiene.check(text))
        if trace.hygiene is not None:
            return Parse(text, abstain=trace.hygiene), trace
        trace.personal = self._personal.find(text)
        tokens = self._tokens(text, trace)
        words = [token.norm for token in tokens]
        trace.quantities += find_quantities(words)
        trace.spans = self._lexicon.find(words, trace.quantities, [token.clause for token in tokens])
        trace.cover = self._lexicon.cover(tokens, trace.spans)
        trace.account = account(tokens, trace.cover, self._lexicon.skippable, self._lexicon.protected)
        trace.canonical = self._canonical(trace)
        if not trace.canonical:
            return Parse(text, abstain=Abstain.EMPTY), trace
        parse = self._decide(trace)
        return (parse if parse.key else self._verbatim(parse, trace)), trace

    def _tokens(self, text: str, trace: Trace) -> list[Token]:
        tokens: list[Token] = []
        mended_text: list[str] = []
        copied = 0
        references = [piece for piece in trace.personal if piece.kind == REFERENCE]
        for token in self._normaliser(text):
            inside = next((p for p in references if token.start < p.end and p.start < token.end), None)
            if inside is not None:
                if not tokens or tokens[-1].start != inside.start:
                    at = len(tokens)
                    tokens.append(Token(_REFERENCE_WORD, inside.start, inside.end, token.sentence, token.clause))
                    value = canonical_reference(inside.value)
                    trace.quantities.append(Quantity(at, at + 1, "reference", value))
                continue
            mended = self._speller.mend(token.norm)
            if mended is not None:
                trace.repairs[token.norm] = " ".join(mended)
                mended_text += [text[copied : token.start], trace.repairs[token.norm]]
                copied = token.end
            tokens += [replace(token, norm=word) for word in mended] if mended else [token]
        trace.tokens = tokens
        trace.mended = "".join([*mended_text, text[copied:]])
        return tokens

    def _decide(self, trace: Trace) -> Parse:
        assert trace.account is not None
        base = Parse(
            trace.text,
            protected=trace.account.protected,
            residue=trace.account.residue,
            personal=tuple(dict.fromkeys(p.kind for p in trace.personal)),
            canonical=trace.canonical,
            model=self.version,
        )
        if any(p.kind != REFERENCE for p in trace.personal):
            return replace(base, abstain=Abstain.PERSONAL)
        if self._is_follow_up(trace):
            return replace(base, abstain=Abstain.FOLLOW_UP)
        trace.readings = self._reader.read(trace.tokens, trace.spans)
        if self.model is not None:
            trace.learned = self.model.read(trace.mended)
        base = replace(base, candidates=_candidates(trace))
        confidence = self._named_alone(trace)
        if not trace.readings:
            return replace(base, abstain=self._silent(trace))
        best = trace.readings[0]
        if best.abstain is not None:
            return self._refused(best, base, trace)
        verdict = self._settle(trace) if confidence is None else Verdict(best, None, confidence)
        if verdict.reading is None:
            return replace(base, abstain=verdict.abstain, confidence=verdict.confidence)
        reading = verdict.reading
        if self.domain.intents[reading.intent].outside:
            return replace(base, abstain=Abstain.OUT_OF_SCOPE, confidence=verdict.confidence)
        if self._several(trace, reading):
            return replace(base, abstain=Abstain.SEVERAL_QUESTIONS)
        irrelevant = {*self.domain.irrelevant, *self.domain.intents[reading.intent].irrelevant}
        return replace(
            base,
            key=Key.of(reading.intent, reading.slots),
            intent=reading.intent,
            slots=dict(sorted(reading.slots.items())),
            owner=self._owner(reading, trace),
            confidence=verdict.confidence,
            residue=(),
            fingerprint=fingerprint(reading.account.unmeant, irrelevant),
            fillable=not reading.merged and not trace.personal,
        )

    def _refused(self, best: Reading, base: Parse, trace: Trace) -> Parse:
        """The abstention that the reading nearest to standing ends in."""
        if best.abstain is Abstain.CONFLICT and any(d.startswith(f"{self.domain.facet}=") for d in best.detail):
            return replace(base, abstain=Abstain.SEVERAL_QUESTIONS)
        if best.abstain is Abstain.RESIDUE:
            return replace(base, abstain=self._silent(trace), residue=best.detail)
        return replace(base, abstain=best.abstain)

    def _named_alone(self, trace: Trace) -> float | None:
        """Let a certain learned reader name the intent where no frame explains the utterance; None where it may not."""
        if trace.learned is None or any(reading.abstain is None for reading in trace.readings):
            return None
        intent, chance = trace.learned.intents[0]
        if chance < self._bars.alone or intent not in self.domain.intents:
            return None
        standing = [r for r in self._reader.read_as(intent, trace.tokens, trace.spans) if r.abstain is None]
        if len(standing) != 1:
            return None
        confidence = confirms(standing[0], trace.learned, self._bars, closed=self._closed)
        if confidence is not None:
            trace.readings.insert(0, standing[0])
        return confidence

    def _silent(self, trace: Trace) -> Abstain:
        """Why the deterministic reader has nothing to say: it lacks words, or the question is not the domain's."""
        if trace.learned is not None and trace.learned.intents[0][0] == OUT_OF_SCOPE:
            return Abstain.OUT_OF_SCOPE
        assert trace.account is not None
        return Abstain.RESIDUE if trace.account.residue or trace.readings else Abstain.OUT_OF_SCOPE

    def _settle(self, trace: Trace) -> Verdict:
        best, *others = trace.readings
        rivals = [
            r
            for r in others
            if r.abstain is None
            and r.stray <= best.stray
            and (r.evoked == best.evoked or (r.intent != best.intent and r.pieces < best.pieces))
            and (r.intent != best.intent or (r.heard == best.heard and not r.slots.items() <= best.slots.items()))
        ]
        if trace.learned is None:
            return Verdict(None, Abstain.AMBIGUOUS, 0.0) if rivals else Verdict(best, None, 1.0)
        return settle(
            [best, *rivals],
            trace.learned,
            self._bars,
            known=self._known,
            closed=self._closed,
            intents=self.domain.intents,
        )

    def _owner(self, reading: Reading, trace: Trace) -> Owner:
        intent = self.domain.intents[reading.intent]
        owners = [intent.owner]
        for condition, owner in intent.owner_when.items():
            slot, _, value = condition.partition("=")
            if reading.slots.get(slot) == value or (value == "*" and slot in reading.slots):
                owners.append(owner)
        if trace.personal:
            owners.append(Owner.CUSTOMER)
        if any(value in self.domain.slots[name].live for name, value in reading.slots.items()):
            owners.append(Owner.NEVER)
        # Tomorrow is another day tomorrow: such an answer is good for nobody else.
        if any(self.domain.slots[name].type == "date" and is_relative(value) for name, value in reading.slots.items()):
            owners.append(Owner.NEVER)
        return Owner.narrowest(*owners)

    def _several(self, trace: Trace, reading: Reading) -> bool:
        """Whether a conjunction opens another question, or two sentences, read alone, ask two different things."""
        facet = self.domain.facet
        weak = self.domain.slots[facet].weak if facet in self.domain.slots else []
        if opens_another(
            trace.spans,
            reading.cover,
            trace.tokens,
            facet,
            passive=[value for value in weak if value not in self.domain.openers],
            conjunctions=self.domain.conjunctions,
            skippable=self._lexicon.skippable,
        ):
            return True
        keys = set()
        for tokens, spans in sentences(trace.tokens, trace.spans):
            asks = any(sense.name == facet for span in spans for sense in span.senses)
            standing = [r for r in self._reader.read(tokens, spans) if r.abstain is None] if asks else []
            if standing and len(tokens) < len(trace.tokens):
                keys.add((standing[0].intent, tuple(sorted(standing[0].slots.items()))))
        return len(keys) > 1

    def _is_follow_up(self, trace: Trace) -> bool:
        opening = 0
        for span in trace.cover:
            if span.start != opening or not span.is_filler:
                break
            opening = span.end
        words = tuple(token.norm for token in trace.tokens)
        return any(
            words[at : at + len(phrase)] == phrase and (at + len(phrase) == len(words) or not whole)
            for phrase, whole in self._follow_ups
            for at in {0, opening}
        )

    def _is_foreign(self, trace: Trace) -> bool:
        """Whether the learned reader is certain that the question is not the domain's; such text is never cached."""
        if trace.learned is None:
            return False
        top, chance = trace.learned.intents[0]
        return top == OUT_OF_SCOPE and chance >= self._bars.veto

    def _verbatim(self, parse: Parse, trace: Trace) -> Parse:
        if parse.abstain is Abstain.FOLLOW_UP or self._is_foreign(trace):
            return parse
        plain = trace.text.isascii() or not trace.personal
        owner = self._verbatim_owner if not trace.personal and plain else Owner.CUSTOMER
        return replace(
            parse, key=Key.verbatim(trace.canonical), owner=Owner.narrowest(owner), fillable=not trace.personal
        )

    def _canonical(self, trace: Trace) -> str:
        """The text without politeness, its quantities and references in their canonical spelling."""
        polite = [Span(s.start, s.end, (COURTESY,), s.used) for s in trace.spans if COURTESY in s.senses]
        dropped = {at for s in self._lexicon.cover(trace.tokens, polite) for at in range(s.start, s.end)}
        exact = {
            q.start: q for q in trace.quantities if q.type in _CANONICAL and dropped.isdisjoint(range(q.start, q.end))
        }
        words: list[str] = []
        at = 0
        while at < len(trace.tokens):
            quantity = exact.get(at)
            if quantity is not None:
                words.append(quantity.value)
            elif at not in dropped:
                words.append(trace.tokens[at].norm)
            at = quantity.end if quantity is not None else at + 1
        return " ".join(words)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector from looking, again and again, at the many objects a domain is made of.

    None of them is garbage; looking at them doubles the time that loading takes.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _candidates(trace: Trace) -> tuple[tuple[str, float], ...]:
    """Intents that were considered: the learned reader's proposals, or without one what the frames evoked."""
    if trace.learned is not None:
        return tuple(trace.learned.candidates)
    return tuple(dict.fromkeys((r.intent, 1.0 if r.abstain is None else 0.5) for r in trace.readings))[:5]


__all__ = ["Parser", "Sense", "Trace"]
