"""`slotcache parse`: utterances in, one JSON object a line out. Outside checks drive this; its contract is stable."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO

import typer

from slotcache.cli.options import DomainOption, VerbatimOwner
from slotcache.errors import Abstain

if TYPE_CHECKING:
    from slotcache.parsing.types import Parse


@dataclass(frozen=True, slots=True)
class Line:
    """One line of input.

    Attributes:
        text: The utterance, or the line as far as it can be shown when it holds none.
        broken: Whether no utterance could be read from it.
    """

    text: str
    broken: bool = False


def parse(
    domain: DomainOption = "order_support",
    verbatim_owner: Annotated[
        VerbatimOwner, typer.Option(help="Who may share answers under verbatim keys.")
    ] = VerbatimOwner.CUSTOMER,
) -> None:
    """Read utterances from standard input and print how each is read.

    One utterance a line; a line that starts with { is JSON with a "text". One JSON object a line comes out, in the same
    order. Lines end at \\n only.
    """
    from slotcache.parsing.parser import Parser
    from slotcache.parsing.types import Owner

    parser = Parser.load(domain, verbatim_owner=Owner(verbatim_owner.value))
    failures = run(parser.parse, sys.stdin.buffer, sys.stdout, sys.stderr)
    if failures:
        raise typer.Exit(1)


def run(read: Callable[[str], Parse], source: BinaryIO, out: TextIO, err: TextIO) -> int:
    """Print the reading of every line, flushed one by one.

    Returns:
        How many lines the parser failed on. Each of them still gets its object, so that the lines after it keep theirs.
    """
    from slotcache.parsing.types import Parse

    failures = 0
    for line in lines(source):
        try:
            parsed = Parse(line.text, abstain=Abstain.UNREADABLE) if line.broken else read(line.text)
        except Exception as error:
            failures += 1
            print(f"slotcache parse: the parser failed on {line.text[:200]!r}: {error!r}", file=err)
            parsed = Parse(line.text, abstain=Abstain.UNREADABLE)
        # ASCII output carries whatever the text holds, lone surrogates included, on any terminal.
        out.write(json.dumps(parsed.as_dict()) + "\n")
        out.flush()
    return failures


def lines(source: BinaryIO) -> Iterator[Line]:
    """The utterances of a stream of bytes, one for each line."""
    for raw in source:
        raw = raw.removesuffix(b"\n")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            yield Line(raw.decode("utf-8", "replace"), broken=True)
            continue
        yield _from_json(text) if text.startswith("{") else Line(text)


def _from_json(line: str) -> Line:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return Line(line, broken=True)
    text = row.get("text")
    return Line(text) if isinstance(text, str) else Line(line, broken=True)
