"""`slotcache records export` and `import`: traffic records of several machines become one."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Ship traffic records between machines as JSON lines.")

RecordsArgument = Annotated[str, typer.Argument(help="The traffic record: a SQLite file, or a redis:// URL.")]


@app.command("export")
def export_records(
    records: RecordsArgument,
    out: Annotated[Path | None, typer.Option(help="Where to write; standard output when not given.")] = None,
    since: Annotated[float, typer.Option(help="Earliest time, in seconds since the epoch.")] = 0.0,
) -> None:
    """Write the records as JSON lines, in the order in which they were kept."""
    from slotcache.records import export_lines

    with nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as target:
        for line in export_lines(records, since=since):
            target.write(line + "\n")


@app.command("import")
def import_records(
    records: Annotated[str, typer.Argument(help="The traffic record to add to, a SQLite file.")],
    files: Annotated[list[Path] | None, typer.Argument(help="Files of JSON lines; standard input if none.")] = None,
) -> None:
    """Add records from other machines. Those that are there already are passed over, so it can be repeated."""
    from slotcache.errors import ConfigurationError
    from slotcache.records import import_lines

    sources: list[Path | None] = [*files] if files else [None]
    for path in sources:
        try:
            with nullcontext(sys.stdin) if path is None else path.open(encoding="utf-8") as source:
                done = import_lines(records, source, name=str(path or "standard input"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{path}: cannot be read: {error}") from None
        print(f"{path or 'standard input'}: {done.added} added, {done.known} known already")
