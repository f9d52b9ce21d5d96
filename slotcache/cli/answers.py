"""`slotcache answers`: approved answers go in from a file, and what is stored is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.cli.stores import StoreOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slotcache.entry import Entry

app = typer.Typer(no_args_is_help=True, help="Answers that people wrote, and everything else that is stored.")

_SHOWN = 80
"""Characters of an answer in a table."""


@app.command("import")
def import_answers(
    file: Annotated[Path, typer.Argument(help='JSON lines: "key" or "question", "answer", and "tags", "author", ...')],
    tenant: Annotated[str, typer.Option(help="Whose bot gives these answers.")] = "",
    locale: Annotated[str, typer.Option(help="Language and region of the answers, such as en-GB.")] = "",
    model: Annotated[str, typer.Option(help="The model that the bot asks.")] = "",
    prompt_version: Annotated[str | None, typer.Option(help="Version of the bot's system prompt.")] = None,
    epoch: Annotated[str, typer.Option(help="The policy epoch that they are for.")] = "",
    author: Annotated[str, typer.Option(help="Who approves the lines that name nobody.")] = "import",
    domain: DomainOption = "order_support",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store approved answers, before the first customer asks or later: all lines or none.

    Give the same tenant, locale, model, prompt version and epoch as the bot does: answers are never read across those
    lines. A line whose key no question can get is refused, with the reason.
    """
    from slotcache.address import Scope
    from slotcache.cache import SlotCache
    from slotcache.domain.keys import wrong_with
    from slotcache.errors import AnswersError
    from slotcache.parsing.parser import Parser
    from slotcache.stores import open_store

    scope = Scope(tenant=tenant, locale=locale, model=model, prompt_version=prompt_version, policy_epoch=epoch)
    parser = Parser.load(domain)
    with SlotCache(parser, open_store(store)) as cache:
        try:
            done = cache.import_answers(
                file, scope, author=author, check_key=lambda key: wrong_with(parser.domain, key)
            )
        except (OSError, UnicodeDecodeError) as error:
            raise AnswersError(f"{file}: cannot be read: {error}") from None
    print(
        json.dumps({"new": done.new, "unchanged": done.unchanged})
        if as_json
        else f"{done.new} new, {done.unchanged} unchanged"
    )


@app.command("list")
def list_answers(
    key: Annotated[str | None, typer.Option(help="One printed key.")] = None,
    intent: Annotated[str | None, typer.Option(help="All keys of an intent.")] = None,
    tag: Annotated[str | None, typer.Option(help="A label.")] = None,
    tenant: Annotated[str | None, typer.Option(help="A tenant.")] = None,
    customer: Annotated[str | None, typer.Option(help="A customer's own answers.")] = None,
    learned: Annotated[
        bool, typer.Option("--learned", help="What the model said too, not only approved ones.")
    ] = False,
    as_import: Annotated[
        bool, typer.Option("--as-import", help="Print lines that 'slotcache answers import' takes.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the answers in recall, by key. With --json, one object a line."""
    from slotcache.cli.operated import operated
    from slotcache.entry import Selector

    selector = Selector(key=key, intent=intent, tag=tag, tenant=tenant, customer=customer)
    with operated(store) as cache:
        found = [entry for entry in cache.core.store.find(selector) if learned or entry.approved]
    found.sort(key=lambda entry: (str(entry.key), entry.address.namespace, entry.created))
    if as_json or as_import:
        for entry in found:
            print(json.dumps(_row(entry) if as_import else {**_row(entry), **_more(entry)}))
    else:
        _show(found)


def _row(entry: Entry) -> dict[str, Any]:
    customer = entry.address.namespace.customer
    row: dict[str, Any] = {"key": str(entry.key), "answer": entry.answer, "tags": list(entry.tags)}
    return row | ({"author": entry.author} if entry.author else {}) | ({"customer": customer} if customer else {})


def _more(entry: Entry) -> dict[str, Any]:
    space = entry.address.namespace
    return {
        "id": entry.id,
        "origin": entry.origin.value,
        "created": entry.created,
        "expires": entry.expires,
        **{name: getattr(space, name) for name in ("tenant", "locale", "model", "prompt", "epoch", "generation")},
    }


def _show(found: Iterable[Entry]) -> None:
    from slotcache.cli.output import show, table

    made = table("key", "answer", "by", "tenant", "customer", "id", title="answers in recall")
    for entry in found:
        space = entry.address.namespace
        text = entry.answer if len(entry.answer) <= _SHOWN else entry.answer[: _SHOWN - 1] + "…"
        by = entry.author if entry.approved else "the model"
        made.add_row(str(entry.key), text, by, space.tenant or "-", space.customer or "-", entry.id)
    show(made)
