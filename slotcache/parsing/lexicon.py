"""Finds every phrase of a domain in a normalised utterance, and the best way to cover the utterance with them.

Phrases live in one trie whose edges are words, `{concept}` references or `<type>` quantities. Matching runs from right
to left, so that a phrase which refers to a concept finds that concept's matches already there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from slotcache.domain.patterns import ADJACENT, Way, elements
from slotcache.domain.schema import Domain
from slotcache.parsing.normalise import Normaliser, Token
from slotcache.parsing.quantities import Quantity

MAX_SKIPPED: Final = 5
"""Function words that may stand between two elements of a phrase."""


class Sense(NamedTuple):
    """What a phrase means: a concept, a slot value, or a filler.

    `kind` is `concept`, `slot` or `filler`; `name` the concept or slot; `value` the slot value.
    """

    kind: str
    name: str
    value: str = ""


FILLER: Final = Sense("filler", "")
COURTESY: Final = Sense("filler", "courtesy")


@dataclass(frozen=True, slots=True)
class Span:
    """A phrase found over tokens `start` (inclusive) to `end` (exclusive).

    Attributes:
        senses: All that the phrase can mean.
        used: Token positions that the phrase names (the others were passed over).
    """

    start: int
    end: int
    senses: tuple[Sense, ...]
    used: frozenset[int]

    @property
    def is_filler(self) -> bool:
        """Whether the phrase carries no meaning at all."""
        return all(sense.kind == "filler" for sense in self.senses)


@dataclass(slots=True, eq=False)
class _Node:
    """A place in the phrases being built; all alternatives of an element lead to one node."""

    edges: dict[str, list[_Node]] = field(default_factory=dict)
    elements: dict[tuple[str, ...], _Node] = field(default_factory=dict)
    senses: list[Sense] = field(default_factory=list)

    def following(self, labels: tuple[str, ...]) -> _Node:
        """The node behind an element, made on first use."""
        node = self.elements.get(labels)
        if node is None:
            node = self.elements[labels] = _Node()
            for label in labels:
                self.edges.setdefault(label, []).append(node)
        return node


def _following(nodes: Sequence[_Node], labels: tuple[str, ...]) -> _Node:
    """The node behind an element that may follow any of several nodes.

    Phrases share the nodes of a common beginning. Where optional elements left several ways to come here, the node is
    this phrase's own: another one that goes on from it would be found behind all those ways. So building is linear.
    """
    if len(nodes) == 1:
        return nodes[0].following(labels)
    own = _Node()
    for node in nodes:
        for label in labels:
            node.edges.setdefault(label, []).append(own)
    return own


class _State:
    """A set of nodes that are walked together; where a label leads is worked out once.

    Attributes:
        senses: What a phrase that ends here means.
        labels: The labels that some phrase goes on with; none where every phrase ends.
    """

    __slots__ = ("_nodes", "_steps", "labels", "senses")

    def __init__(self, nodes: tuple[_Node, ...]) -> None:
        self._nodes = nodes
        self._steps: dict[str, _State] = {}
        self.senses = tuple(dict.fromkeys(sense for node in nodes for sense in node.senses))
        # A plain set: only with one does an intersection with dictionary keys walk the shorter side.
        self.labels = {label for node in nodes for label in node.edges}

    def step(self, label: str) -> _State:
        """The state behind one of the labels."""
        try:
            return self._steps[label]
        except KeyError:
            state = _State(tuple(child for node in self._nodes for child in node.edges.get(label, ())))
            self._steps[label] = state
            return state


Edges = dict[str, list[tuple[int, int, str]]]
"""Label -> where it leads from one position: the end, the positions it names as bits, and the value it carries."""


class Lexicon:
    """The phrases of one domain, ready to be found."""

    def __init__(self, domain: Domain, normaliser: Normaliser) -> None:
        self._conjunctions = frozenset(domain.conjunctions)
        root, openers = _Node(), _Node()
        words = cache(normaliser.words)
        self.function_words = frozenset(word for text in domain.function_words for word in normaliser.words(text))
        # A class word that normalises to several ("cannot") is protected by the word that carries it ("not") alone.
        self.protected: dict[str, str] = {
            spelt[0]: name
            for name, texts in domain.protected.items()
            for text in texts
            if len(spelt := normaliser.words(text)) == 1
        }
        self.vocabulary: dict[str, set[Sense]] = {}
        single_fillers: set[str] = set()
        for sense, pattern in _patterns(domain):
            opens = pattern.startswith("^ ")
            parts = elements(pattern.removeprefix("^ "), words)
            self._insert(openers if opens else root, parts, sense)
            if sense.kind == "filler" and not opens:
                single_fillers.update(_whole(parts))
        self._root, self._openers = _State((root,)), _State((openers,))
        self.skippable = (self.function_words | single_fillers) - set(self.protected)

    def _insert(self, root: _Node, parts: Sequence[Sequence[Way]], sense: Sense) -> None:
        reached = [root]
        for ways in parts:
            ahead: list[_Node] = []
            for way in ways:
                behind = reached
                for labels in way:
                    behind = [_following(behind, labels)]
                ahead += behind
            reached = list(dict.fromkeys(ahead))
        for node in reached:
            if node is not root and sense not in node.senses:
                node.senses.append(sense)
        for label in {label for ways in parts for way in ways for labels in way for label in labels}:
            if label[0] not in "{<" and label != ADJACENT:
                self.vocabulary.setdefault(label, set()).add(sense)

    def find(self, words: Sequence[str], quantities: Iterable[Quantity], clauses: Sequence[int] = ()) -> list[Span]:
        """Every phrase in the words, of every length.

        Args:
            words: Normalised words.
            quantities: Quantities found in them.
            clauses: Clause index of each word, for phrases that must open a clause; one clause when empty.
        """
        size = len(words)
        edges: list[Edges] = [{} for _ in range(size)]
        for at, word in enumerate(words):
            # Words that no phrase uses lead nowhere.
            if word in self.vocabulary:
                edges[at][word] = [(at + 1, 1 << at, "")]
        for quantity in quantities:
            named = sum(1 << at for at in range(quantity.start, quantity.end))
            edges[quantity.start].setdefault(f"<{quantity.type}>", []).append((quantity.end, named, quantity.value))
        found: dict[tuple[int, int, int], set[Sense]] = {}
        for start in range(size - 1, -1, -1):
            for end, used, sense, value in self._walk(self._root, words, start, edges):
                resolved = Sense(sense.kind, sense.name, value) if sense.value == "*" else sense
                found.setdefault((start, end, used), set()).add(resolved)
        for start in self._opening(words, found, clauses):
            for end, used, sense, _ in self._walk(self._openers, words, start, edges):
                found.setdefault((start, end, used), set()).add(sense)
        return [
            Span(start, end, tuple(sorted(senses)), frozenset(at for at in range(start, end) if used >> at & 1))
            for (start, end, used), senses in found.items()
        ]

    def cover(self, tokens: Sequence[Token], spans: Sequence[Span]) -> list[Span]:
        """Choose the spans that together explain the utterance best, left to right, none overlapping."""
        return _cover([token.norm for token in tokens], spans, self.skippable)

    def _opening(
        self, words: Sequence[str], found: Mapping[tuple[int, int, int], set[Sense]], clauses: Sequence[int]
    ) -> list[int]:
        """Positions that open a clause: its first word, or a word that only fillers or a conjunction precede."""
        size = len(words)
        filled: dict[int, list[int]] = {}
        for (start, end, _), senses in found.items():
            if any(sense.kind == "filler" for sense in senses):
                filled.setdefault(start, []).append(end)
        opens = {
            at
            for at in range(size)
            if at == 0 or words[at - 1] in self._conjunctions or (clauses and clauses[at] != clauses[at - 1])
        }
        for at in range(size):
            if at in opens:
                opens.update(filled.get(at, ()))
        return sorted(at for at in opens if at < size)

    def _walk(
        self, root: _State, words: Sequence[str], start: int, edges: Sequence[Edges]
    ) -> Iterator[tuple[int, int, Sense, str]]:
        """Every phrase that starts at a position, as its end, the positions it names as bits, its sense and its value.

        A concept found here is an edge from here at once, so that the same walk finds the phrases that begin with it.
        """
        size = len(words)
        stack: list[tuple[_State, int, int, int, str]] = [(root, start, 0, 0, "")]
        seen: set[tuple[_State, int, int, str]] = set()
        while stack:
            state, at, used, skipped, value = stack.pop()
            mark = (state, at, used, value)
            if mark in seen:
                continue
            seen.add(mark)
            if skipped == 0:
                for sense in state.senses:
                    yield at, used, sense, value
                    if sense.kind == "concept" and root is self._root:
                        label, edge = f"{{{sense.name}}}", (at, used, "")
                        known = edges[start].setdefault(label, [])
                        if edge not in known:
                            known.append(edge)
                            if label in root.labels:
                                stack.append((root.step(label), at, used, 0, ""))
            if at == size:
                continue
            here = edges[at]
            for label in state.labels & here.keys():
                following = state.step(label)
                stack += [(following, end, used | named, 0, given or value) for end, named, given in here[label]]
            if at > start:
                if skipped == 0 and ADJACENT in state.labels:
                    stack.append((state.step(ADJACENT), at, used, MAX_SKIPPED, value))
                if skipped < MAX_SKIPPED and words[at] in self.skippable:
                    stack.append((state, at + 1, used, skipped + 1, value))


def _whole(parts: Sequence[Sequence[Way]]) -> Iterator[str]:
    """Words that are a phrase of their own, every other element being absent."""
    for at, ways in enumerate(parts):
        if all(() in other for other in (*parts[:at], *parts[at + 1 :])):
            yield from (label for way in ways if len(way) == 1 for label in way[0])


def _patterns(domain: Domain) -> Iterable[tuple[Sense, str]]:
    for name, phrases in domain.concepts.items():
        for phrase in phrases:
            yield Sense("concept", name), phrase
    for name, slot in domain.slots.items():
        for value, phrases in slot.values.items():
            for phrase in phrases:
                yield Sense("slot", name, value), phrase
        for pattern in slot.patterns:
            yield Sense("slot", name, "*"), pattern
    for phrase in domain.courtesies:
        yield COURTESY, phrase
    for phrase in domain.fillers:
        yield FILLER, phrase


def _cover(words: Sequence[str], spans: Sequence[Span], skippable: Collection[str]) -> list[Span]:
    """Choose the spans that together explain the utterance best, left to right, none overlapping.

    Longer phrases explain more than the sum of their words; a word that nothing explains costs more than any choice of
    phrases gains.
    """
    size = len(words)
    ending: dict[int, list[Span]] = {}
    for span in spans:
        ending.setdefault(span.end, []).append(span)
    best: list[tuple[float, list[Span]]] = [(0.0, [])]
    for end in range(1, size + 1):
        score, chosen = best[end - 1]
        options = [(score - (0.0 if words[end - 1] in skippable else 3.0), chosen)]
        for span in ending.get(end, ()):
            before, earlier = best[span.start]
            options.append((before + _worth(span, words, skippable), [*earlier, span]))
        best.append(max(options, key=lambda option: (option[0], -len(option[1]))))
    return best[size][1]


def _worth(span: Span, words: Sequence[str], skippable: Collection[str]) -> float:
    total = sum(0.3 if words[at] in skippable else 1.0 for at in span.used)
    # Of two covers that explain as much, the one that leaves more words to meaning stands.
    return max(total + 0.5 * (total - 1.0), 0.02 * len(span.used)) - (0.01 * len(span.used) if span.is_filler else 0.0)
