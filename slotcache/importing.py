"""Approved answers from a file, before the first customer asks.

One JSON object a line: `key` (a printed key) or `question` (read by the parser), `answer`, and optionally `tags` (a
list), `author`, and `customer` (for an answer that is one customer's alone).

    {"key": "cancel_order(aspect=eligibility, timing=pre_shipment)", "answer": "Yes, ...", "tags": ["cancelling"]}
    {"question": "do you ship to Norway?", "answer": "We do. ...", "author": "kim"}

Either all lines are stored or none; what is wrong is said for every line at once.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slotcache.address import Scope
from slotcache.answers import Answer
from slotcache.core import Core
from slotcache.decide import Admitted, Bypass, admit, entry_for
from slotcache.entry import Entry, Origin
from slotcache.errors import EXPLANATIONS, AnswersError, KeyFormatError, NotStored
from slotcache.events import Kept, Stored
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse
from slotcache.prompts import read_prompt
from slotcache.upkeep import keep_in_next

Source = str | os.PathLike[str] | Iterable[Mapping[str, Any]]
"""A file of JSON lines, or the rows themselves."""

CheckKey = Callable[[Key], str]
"""Says what is wrong with a key in the domain at hand; an empty string when nothing is."""

_KNOWN: Final = frozenset({"key", "question", "answer", "tags", "author", "customer"})
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        new: Answers that are in recall now and were not before.
        unchanged: Answers that were there already.
    """

    new: int
    unchanged: int


def import_answers(
    core: Core, source: Source, scope: Scope, *, author: str, check_key: CheckKey | None = None
) -> Imported:
    """Store approved answers under the addresses of a scope.

    Args:
        core: The cache.
        source: A file or rows.
        scope: Tenant, locale, model, prompt and policy epoch that the answers are for.
        author: Who approves the rows that name nobody.
        check_key: Says what is wrong with a key; None accepts every well-formed one.

    Raises:
        AnswersError: rows cannot be used; the message names each of them, and nothing was stored.
        StoreUnavailable: the store does not answer; import again, what is there already is not stored twice.
    """
    entries: dict[str, tuple[int, Entry]] = {}
    problems: list[str] = []
    now = core.clock()
    for number, row, problem in _rows(source):
        made = problem or _entry_of(core, row, scope, author, check_key, now)
        if isinstance(made, str):
            problems.append(f"line {number}: {made}")
            continue
        earlier = entries.get(made.address.digest)
        if earlier is not None and earlier[1].answer != made.answer:
            problems.append(f"line {number}: {made.key} has another answer on line {earlier[0]}")
        entries[made.address.digest] = (number, made)
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise AnswersError("nothing was imported\n" + "\n".join([*problems[:_SHOWN], *more]))
    new = core.store.put_many([entry for _, entry in entries.values()])
    core.count("imported", new)
    for _, entry in entries.values():
        keep_in_next(core, entry)
        core.emit(Kept(now, Stored(True, None, str(entry.key), entry.id), entry))
    return Imported(new, len(entries) - new)


def _rows(source: Source) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    if not isinstance(source, str | os.PathLike):
        for number, row in enumerate(source, start=1):
            yield number, row, "" if isinstance(row, Mapping) else "not an object"
        return
    with Path(source).open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, *_row(line)


def _row(line: str) -> tuple[Mapping[str, Any], str]:
    try:
        row = json.loads(line)
    except ValueError as error:
        return {}, f"not JSON: {error}"
    return (row, "") if isinstance(row, dict) else ({}, "not an object")


def _entry_of(
    core: Core, row: Mapping[str, Any], scope: Scope, author: str, check_key: CheckKey | None, now: float
) -> Entry | str:
    """The entry of a row, or what is wrong with it."""
    problem = _shape(row)
    if problem:
        return problem
    if "customer" in row:
        scope = scope.but(customer=row["customer"])
    parse = _reading(core, row)
    if isinstance(parse, str):
        return parse
    concealed = core.concealed(parse)
    if not concealed.alike:
        return f"it cannot be stored: {NotStored.NOT_REDACTABLE.value}. {EXPLANATIONS[NotStored.NOT_REDACTABLE]}"
    parse = concealed.parse
    assert parse.key is not None
    if check_key is not None and (problem := check_key(parse.key)):
        return problem
    prompt = read_prompt(scope, core.policy.prompts)
    verdict = admit(parse, scope, core.policy, prompt=prompt, generation="/".join(core.generation), concealed=concealed)
    if isinstance(verdict, Bypass):
        return f"{parse.key} cannot be stored: {verdict.reason.value}. {EXPLANATIONS[verdict.reason]}"
    return _entry(core, verdict, parse, row, row.get("author") or author, now)


def _entry(core: Core, admitted: Admitted, parse: Parse, row: Mapping[str, Any], author: str, now: float) -> Entry:
    return entry_for(
        admitted,
        parse,
        Answer(row["answer"]),
        core.policy,
        now,
        token=secrets.token_hex(8),
        origin=Origin.APPROVED,
        tags=tuple(row.get("tags", ())),
        author=author,
    )


def _shape(row: Mapping[str, Any]) -> str:
    unknown = sorted(set(row) - _KNOWN)
    if unknown:
        return f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_KNOWN))}"
    if ("key" in row) == ("question" in row):
        return "needs either 'key' or 'question'"
    for name in ("key", "question", "answer", "author", "customer"):
        if name in row and not (isinstance(row[name], str) and row[name].strip()):
            return f"{name!r} must be a text that is not empty"
    if "answer" not in row:
        return "needs 'answer'"
    tags = row.get("tags", [])
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) and tag for tag in tags):
        return "'tags' must be a list of texts"
    return ""


def _reading(core: Core, row: Mapping[str, Any]) -> Parse | str:
    if "question" in row:
        parse = core.parser.parse(row["question"])
        if parse.key is None:
            reason = parse.abstain
            return f"the question has no key: {reason.value}. {EXPLANATIONS[reason]}" if reason else "no key"
        return parse
    try:
        key = Key.parse(row["key"])
    except KeyFormatError as error:
        return str(error)
    owner = Owner.CUSTOMER if "customer" in row else Owner.SHARED
    return Parse(text="", key=key, intent=None if key.is_verbatim else key.intent, slots=key.as_dict(), owner=owner)
