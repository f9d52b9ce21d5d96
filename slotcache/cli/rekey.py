"""`slotcache rekey`: stored answers follow a new model or a changed domain."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.cli.training import RootOption, StagesShown

if TYPE_CHECKING:
    from slotcache.learning.rekey import Journal, Rekeying
    from slotcache.learning.retrain import Hooks
    from slotcache.parsing.parser import Parser
    from slotcache.policy import Policy

SETTLE: float = 5.0
"""Seconds that running readers get to change over before the former generation leaves recall."""


def rekey(
    store: Annotated[str, typer.Option("--store", help="The store whose answers are re-keyed.")],
    domain: DomainOption = "order_support",
    to: Annotated[str | None, typer.Option(help="A version to switch to; the one in use when absent.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The proxy's configuration, for who may share answers.")
    ] = None,
    per_second: Annotated[float, typer.Option(min=0, help="Answers read a second at most; 0 for no limit.")] = 0.0,
    settle: Annotated[float, typer.Option(min=0, help="Seconds for readers to change over.")] = SETTLE,
    out: RootOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would move, and change nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read every stored question again and carry its answer over to the key it has now.

    The next generation is built beside the one that is served, and running bots keep new answers in both; then readers
    change over at once. A run that was stopped goes on where it was. Answers in conflict and those that leave recall
    are listed.
    """
    from slotcache.domain.loader import load_domain
    from slotcache.domain.patches import overlaid
    from slotcache.learning.promotion import announce
    from slotcache.learning.retrain import promote
    from slotcache.model_files import promotion_root
    from slotcache.parsing.parser import Parser

    root, loaded = out if out is not None else promotion_root(), load_domain(domain)
    with (
        StagesShown(quiet=as_json) as stages,
        around_switch(
            store, root, loaded.name, stages, policy=_policy(config), per_second=per_second, settle=settle, tell=as_json
        ) as hooks,
    ):
        if dry_run:
            _preview(store, root, Parser.load(domain) if to is None else _version(root, domain, to), as_json=as_json)
        elif to is not None:
            promote(root, root / to, overlaid(loaded, root / to), champion=None, hooks=hooks)
        else:
            parser = Parser.load(domain)
            hooks.before_switch(parser)
            announce(root)
            hooks.after_switch(parser)


@contextmanager
def around_switch(
    store: str | None,
    root: Path,
    domain: str,
    stages: StagesShown,
    *,
    policy: Policy | None = None,
    per_second: float = 0.0,
    settle: float = SETTLE,
    tell: bool = False,
) -> Iterator[Hooks]:
    """What a switch reports, and the re-keying of a store on both sides of it when one is named."""
    from slotcache.learning.rekey import Rekeying
    from slotcache.learning.retrain import Hooks

    if store is None:
        yield Hooks(report=stages.stage, step=stages.step)
        return
    from slotcache.cli.stores import open_store
    from slotcache.parsing.upcoming import announce_next, retract_next

    opened = open_store(store)
    pace = _pace(per_second)
    made: list[Rekeying] = []

    def before(parser: Parser) -> None:
        announce_next(root, parser)
        stages.stage("re-keying stored answers", opened.counts().get("entries", 0))
        rekeying = Rekeying(opened, parser, _journal(root, store, parser), policy=policy, clock=time.time)
        for row in rekeying.build():
            stages.step(row)
            pace()
        rekeying.withdraw()
        made.append(rekeying)

    def after(_: Parser) -> None:
        time.sleep(settle)
        stages.stage("closing the former generation", 0)
        for rekeying in made:
            for row in rekeying.finish():
                stages.step(row)
            _tell(rekeying, as_json=tell)
        retract_next(root, domain)

    try:
        yield Hooks(report=stages.stage, step=stages.step, before_switch=before, after_switch=after)
    finally:
        opened.close()


def _journal(root: Path, store: str, parser: Parser) -> Journal:
    from slotcache.address import digest
    from slotcache.learning.promotion import WORK
    from slotcache.learning.rekey import Journal

    name = digest(str(Path(store).absolute()) if "://" not in store else store, parser.version, parser.domain_hash)
    return Journal(root / WORK / f"rekey-{name[:16]}.jsonl")


def _pace(per_second: float) -> Callable[[], None]:
    started, done = time.monotonic(), 0

    def wait() -> None:
        nonlocal done
        done += 1
        if per_second:
            time.sleep(max(0.0, started + done / per_second - time.monotonic()))

    return wait


def _preview(store: str, root: Path, parser: Parser, *, as_json: bool) -> None:
    from collections import Counter

    from slotcache.cli.output import console
    from slotcache.cli.stores import open_store
    from slotcache.learning.rekey import Rekeying

    opened = open_store(store)
    fates: Counter[str] = Counter()
    for row in Rekeying(opened, parser, _journal(root, store, parser), clock=time.time).preview():
        fates[row.fate.value] += 1
        if as_json:
            print(json.dumps(row.as_dict()))
        elif row.key != row.new_key:
            console.print(f"{row.key}  ->  {row.new_key or row.reason}    {row.question!r}")
    opened.close()
    if not as_json:
        console.print(", ".join(f"{name} {count}" for name, count in sorted(fates.items())) or "nothing to re-key")


def _tell(rekeying: Rekeying, *, as_json: bool) -> None:
    from slotcache.cli.output import console
    from slotcache.generations import Fate

    rows = [row for row in rekeying.journal.rows.values() if row.fate in (Fate.CONFLICT, Fate.OUT)]
    if as_json:
        print(json.dumps({"counts": rekeying.counts(), "to_review": [row.as_dict() for row in rows]}))
        return
    for row in rows:
        if row.fate is Fate.CONFLICT:
            console.print(f"in conflict ({row.reason} wins): {row.new_key}")
            console.print(f"    served      {row.winner!r}")
            console.print(f"    not served  {row.loser!r}")
        else:
            console.print(f"out of recall ({row.reason}): {row.key}  {row.question!r}")
    console.print("re-keyed: " + ", ".join(f"{name} {count}" for name, count in rekeying.counts().items()))


def _version(root: Path, domain: str, version: str) -> Parser:
    from slotcache.parsing.parser import Parser

    return Parser.load(domain, model=root / version)


def _policy(config: Path | None) -> Policy | None:
    if config is None:
        return None
    from slotcache.serving.config_files import read_settings

    return read_settings(config, {}).policy()
