"""`slotcache check`: validates a domain and points at what cannot be meant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import JsonOption

if TYPE_CHECKING:
    from slotcache.domain.schema import Domain


_READ = ("no_key", "read_otherwise")


def check(
    domain: Annotated[str, typer.Argument(help="A shipped domain, a domain file or a folder of domain files.")] = (
        "order_support"
    ),
    examples: Annotated[
        list[Path] | None,
        typer.Option(help="Labelled examples, JSON lines; examples.jsonl beside the domain's files when not given."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 when anything is found.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Validate a domain: errors with file, line and fix, and what is valid but cannot be meant.

    Exit status 2 when the domain cannot be used.
    """
    from slotcache.domain.check import Kind
    from slotcache.domain.check import check as look
    from slotcache.domain.loader import load_domain, load_domain_and_places
    from slotcache.evaluation.rows import read_rows
    from slotcache.parsing.normalise import Normaliser

    loaded, place = load_domain_and_places(domain)
    beside = Path(domain) / "examples.jsonl"
    if examples is None and beside.is_file():
        examples = [beside]
    rows = read_rows(examples, needs=("intent",)) if examples else None
    labelled = {str(row["intent"]) for row in rows} if rows is not None else None
    base = load_domain(loaded.extends) if loaded.extends else None
    findings = look(loaded, Normaliser(loaded.rewrites).words, base=base, examples=labelled)
    readable = not any(finding.kind is Kind.BAD_PATTERN for finding in findings)
    gate = [Path(domain) / "gate.jsonl"] if (Path(domain) / "gate.jsonl").is_file() else []
    misread = [*_examples(loaded, examples or []), *_gate(loaded, gate)] if readable else []
    if as_json:
        listed = [
            {"kind": f.kind, "at": place(f.path), "part": ".".join(f.path), "message": f.message} for f in findings
        ] + [{"kind": kind, "at": at, "part": "examples", "message": message} for kind, at, message in misread]
        print(json.dumps({"domain": loaded.name, "intents": len(loaded.intents), "findings": listed}))
    else:
        for finding in findings:
            print(f"{place(finding.path)}: {'.'.join(finding.path)}: {finding.message} [{finding.kind.value}]")
        for line in _folded(misread):
            print(line)
        if any(kind in _READ for kind, _, _ in misread):
            print(f'what each stage saw in one question: slotcache explain --domain {domain} "..."')
        values = sum(len(slot.values) for slot in loaded.slots.values())
        print(
            f"{loaded.name}: {len(loaded.intents)} intents, {len(loaded.slots)} slots with {values} values, "
            f"{len(loaded.concepts)} concepts; {len(findings) + len(misread)} to look at"
        )
    if not readable:
        raise typer.Exit(2)
    if strict and (findings or misread):
        raise typer.Exit(1)


def _folded(found: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """One line a finding; what many rows have in common is said once, at the first of them."""
    places: dict[tuple[str, str], list[str]] = {}
    for kind, at, message in found:
        places.setdefault((message, kind), []).append(at)
    for (message, kind), lines in places.items():
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield f"{lines[0]}{more}: {message} [{kind}]"


def _gate(domain: Domain, paths: list[Path]) -> Iterator[tuple[str, str, str]]:
    """Pairs of the gate that share an answer and must not, and those that can show nothing."""
    from slotcache.learning.calibrate import intent_key
    from slotcache.learning.labels import read_labels
    from slotcache.parsing.parser import Parser

    parser = Parser(domain) if paths else None
    for where, row in (row for path in paths for row in read_labels(path)):
        assert parser is not None
        first, second = row.get("a"), row.get("b")
        if not isinstance(first, str) or not isinstance(second, str):
            continue
        keys = [intent_key(parser.parse(text)) for text in (first, second)]
        if keys == [None, None]:
            yield "no_key", where, "neither question of the pair gets a key, so that it can show nothing"
        elif keys[0] == keys[1] and row.get("same") is False:
            yield "pair_meets", where, f"{first!r} and {second!r} must not share an answer; both are {keys[0]}"


def _examples(domain: Domain, paths: list[Path]) -> Iterator[tuple[str, str, str]]:
    """Labels that the domain lacks, and examples that its phrases read otherwise, each with its line."""
    from slotcache.learning.calibrate import intent_key, key_of
    from slotcache.learning.examples import Example
    from slotcache.learning.labels import label_problems, read_labels
    from slotcache.parsing.parser import Parser

    parser = Parser(domain) if paths else None
    for where, row in (row for path in paths for row in read_labels(path)):
        assert parser is not None
        text, intent, slots = row.get("text"), row.get("intent"), row.get("slots") or {}
        if not isinstance(text, str) or intent is None:
            continue
        problems = label_problems(intent, slots, domain)
        yield from (("bad_label", where, problem) for problem in problems)
        if problems:
            continue
        truth = key_of(Example(text, str(intent), slots))
        parse = parser.parse(text)
        key = intent_key(parse)
        if key is None and truth is not None:
            why = f"{parse.abstain}: {', '.join(parse.residue)}" if parse.residue else str(parse.abstain)
            yield "no_key", where, f"{text!r} gets no key ({why})"
        elif key != truth:
            yield "read_otherwise", where, f"{text!r} is read as {key}, labelled {truth or 'out of scope'}"
