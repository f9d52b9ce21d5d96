"""Labelled questions beside how they were read: right, abstained or wrong, each error with its cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from slotcache.errors import KeyFormatError
from slotcache.evaluation.blame import Tally, let_in, met, misread, tally
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.causes import Cause, Stage
from slotcache.evaluation.labelled import OUT_OF_SCOPE, Question
from slotcache.evaluation.sight import Sight
from slotcache.key import Key


@dataclass(frozen=True, slots=True)
class WrongKey:
    """A question under a key that its label speaks against.

    Attributes:
        question: The question.
        cause: What made it.
    """

    question: Question
    cause: Cause

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        parse = self.question.parse
        return {"text": parse.text, "label": self.question.label, "key": str(parse.key), **self.cause.as_dict()}


@dataclass(frozen=True, slots=True)
class JudgedQuestions:
    """What labelled questions show.

    Attributes:
        by_key: Whether the labels are keys of the domain (or null: out of scope), so that every key is right or wrong
            by itself; otherwise a question is wrong whose key mostly holds another label of its source.
        covered: Questions of the domain with an intent key.
        wrong: Wrong keys among those.
        errors: Every wrong key.
        causes: How many abstentions each cause is behind.
        residue: Words that kept questions without a key, most frequent first.
        confident: (confidence, whether right) of each question with a key.
    """

    by_key: bool
    covered: Proportion
    wrong: Proportion
    errors: tuple[WrongKey, ...]
    causes: tuple[Tally, ...]
    residue: tuple[tuple[str, int], ...]
    confident: tuple[tuple[float, bool], ...]


_WORDS = 30


def judge_questions(
    questions: Sequence[Question], seen: Mapping[str, Sight], *, intents: Collection[str] = ()
) -> JudgedQuestions:
    """Judge labelled questions.

    Args:
        questions: The questions.
        seen: Every text as the stages saw it.
        intents: Intents of the domain; labels that all are keys of these are compared with what was read.
    """
    keys = _keys(questions, intents)
    errors = _against_keys(questions, seen, keys) if keys is not None else _against_majority(questions, seen)
    wrong = {id(error.question) for error in errors}
    keyed = [question for question in questions if question.keyed]
    inside = [question for question in questions if keys is None or question.label != OUT_OF_SCOPE]
    silent = [seen[q.parse.text] for q in inside if not q.keyed]
    return JudgedQuestions(
        by_key=keys is not None,
        covered=proportion(sum(question.keyed for question in inside), len(inside)),
        wrong=proportion(len(errors), len(keyed)),
        errors=tuple(errors),
        causes=tally((sight.cause,) for sight in silent if sight.cause is not None),
        residue=tuple(Counter(word for sight in silent for word in set(sight.parse.residue)).most_common(_WORDS)),
        confident=tuple((question.parse.confidence, id(question) not in wrong) for question in keyed),
    )


def _keys(questions: Sequence[Question], intents: Collection[str]) -> dict[str, Key | None] | None:
    """The keys that the labels print, None for out of scope; None altogether unless all print one of the domain's."""
    found = {label: _key(label) for label in {question.label for question in questions}}
    printed = [key for label, key in found.items() if label != OUT_OF_SCOPE]
    known = all(key is not None and key.intent in intents for key in printed)
    return found if printed and known else None


def _key(label: str) -> Key | None:
    try:
        return Key.parse(label)
    except KeyFormatError:
        return None


def _against_keys(
    questions: Sequence[Question], seen: Mapping[str, Sight], keys: Mapping[str, Key | None]
) -> list[WrongKey]:
    errors = []
    for question in questions:
        meant = keys[question.label]
        if question.keyed and question.parse.key != meant:
            sight = seen[question.parse.text]
            cause = let_in(sight) if meant is None else misread(sight, meant.intent, meant.as_dict())
            errors.append(WrongKey(question, cause))
    return errors


def _against_majority(questions: Sequence[Question], seen: Mapping[str, Sight]) -> list[WrongKey]:
    held: dict[tuple[str, str, object], list[Question]] = defaultdict(list)
    for question in questions:
        if question.keyed:
            held[str(question.parse.key), question.source, question.parse.owner].append(question)
    errors = []
    for met_here in held.values():
        (label, _), *_ = Counter(question.label for question in met_here).most_common(1)
        rightful = next(question for question in met_here if question.label == label)
        errors += [
            WrongKey(question, _why(seen[rightful.parse.text], seen[question.parse.text]))
            for question in met_here
            if question.label != label
        ]
    return errors


def _why(rightful: Sight, stray: Sight) -> Cause:
    cause = met(rightful, stray)
    # One text under two labels is no error of any stage of the parser.
    return cause if rightful.parse.canonical != stray.parse.canonical else Cause(Stage.NORMALISE, "same words")
