"""`slotcache review`: the analysts' page, and who may log in to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slotcache.cli.options import DomainOption
from slotcache.cli.stores import StoreOption
from slotcache.errors import ConfigurationError
from slotcache.review.users import Role

if TYPE_CHECKING:
    from slotcache.address import Scope
    from slotcache.review.desk import Desk

_EPILOG = """
First make somebody who may log in: slotcache review add-user kim --role lead --users users.json. Then, beside a bot
that records its traffic: slotcache review --users users.json --labels labels.db --records traffic.db --store answers.db

Press ? on any page for its keys. The labels go into the next model with: slotcache retrain --review labels.db
"""

app = typer.Typer(invoke_without_command=True, no_args_is_help=True)

LABELS: Final = Path("labels.db")
UsersOption = Annotated[Path, typer.Option("--users", help="The file of who may log in.")]


@app.callback()
def review(
    context: typer.Context,
    users: Annotated[Path | None, typer.Option("--users", help="Who may log in: a file that add-user makes.")] = None,
    labels: Annotated[Path, typer.Option(help="Where labels are kept: a SQLite file, made when needed.")] = LABELS,
    records: Annotated[
        str | None, typer.Option(help="The traffic record, a SQLite file or a redis:// URL; it is only read.")
    ] = None,
    store: StoreOption = None,
    domain: DomainOption = "order_support",
    model: Annotated[
        Path | None, typer.Option(help="A model folder or a folder of versions; where models are kept when absent.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8090,
    https: Annotated[
        bool, typer.Option("--https", help="Browsers come over HTTPS, through a proxy in front: protect the cookie.")
    ] = False,
    tenant: Annotated[str, typer.Option(help="Whose bot answers are written for when the store shows none.")] = "",
    locale: Annotated[str, typer.Option(help="Language and region of those answers, such as en-GB.")] = "",
    bot_model: Annotated[str, typer.Option(help="The model that bot asks.")] = "",
    prompt_version: Annotated[str | None, typer.Option(help="Version of that bot's system prompt.")] = None,
    epoch: Annotated[str, typer.Option(help="The policy epoch of those answers.")] = "",
) -> None:
    """Serve the page on which analysts label questions, approve answers and teach the domain, by keyboard alone."""
    if context.invoked_subcommand is not None:
        return
    try:
        import itsdangerous  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"the page needs {error.name}: pip install 'slotcache[review]'") from None
    if users is None:
        raise ConfigurationError("name the file of who may log in with --users; add-user makes it")
    from slotcache.address import Scope
    from slotcache.review.server import server
    from slotcache.serving import logs
    from slotcache.serving.logs import say

    scope = Scope(tenant=tenant, locale=locale, model=bot_model, prompt_version=prompt_version, policy_epoch=epoch)
    made = _desk(users, labels, records, store, domain, model, scope, https=https)
    logs.set_up()
    say("review page", address=f"http://{host}:{port}")
    try:
        server(made, host=host, port=port).run()
    finally:
        made.close()


def _desk(
    users: Path,
    labels: Path,
    records: str | None,
    store: str | None,
    domain: str,
    model: Path | None,
    scope: Scope,
    *,
    https: bool,
) -> Desk:
    from slotcache.cache import SlotCache
    from slotcache.learning.promotion import WORK
    from slotcache.model_files import promotion_root
    from slotcache.parsing.watch import watching
    from slotcache.review.answers import Answers, place_for
    from slotcache.review.desk import Desk, Settings
    from slotcache.review.labels import LabelStore
    from slotcache.review.sessions import Sessions
    from slotcache.review.users import read_users
    from slotcache.stores import open_store

    read_users(users)
    if records is not None:
        from slotcache.records.files import last_number

        last_number(records)
    if store is not None and store.partition("://")[0] == "memory":
        raise ConfigurationError("a store in memory belongs to its own process; name the store that the bot uses")
    parser = watching(domain, model=model)
    cache = SlotCache(parser, open_store(store))
    answers = Answers(
        cache.core, journals=(model if model is not None else promotion_root()) / WORK, places=[place_for(scope)]
    )
    return Desk(
        LabelStore(labels),
        lambda: parser.parser,
        Sessions(lambda: read_users(users)),
        answers=answers,
        settings=Settings(records, secure=https),
        find=cache.core.store.find,
    )


@app.command("add-user")
def add_user(
    name: Annotated[str, typer.Argument(help="Who.")],
    users: UsersOption,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking.")
    ] = False,
    role: Annotated[
        Role | None, typer.Option(help="What they may do; an analyst when absent, or what they may already.")
    ] = None,
) -> None:
    """Let somebody log in, or give them another password. Kept is a scrypt hash, readable by you alone.

    An analyst labels, proposes, and reports wrong answers. A lead also decides what customers get: approves answers,
    ends a quarantine, accepts proposals and takes them out again.
    """
    from slotcache.review import users as people

    if password_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    people.add_user(users, name, password, role=role)
    print(f"{name} may log in, as {people.read_users(users).role(name)}")


@app.command("set-role")
def set_role(
    name: Annotated[str, typer.Argument(help="Who.")],
    role: Annotated[Role, typer.Argument(help="What they may do.")],
    users: UsersOption,
) -> None:
    """Let somebody do more or less, from their next click on. Exit status 1 when nobody is called so."""
    from slotcache.review import users as people

    if not people.set_role(users, name, role):
        print(f"nobody is called {name}")
        raise typer.Exit(1)
    print(f"{name} is {role} now")


@app.command("list-users")
def list_users(users: UsersOption) -> None:
    """Say who may log in, and what they may do."""
    from slotcache.review import users as people

    held = people.read_users(users)
    for name in sorted(held.hashes):
        print(f"{name}\t{held.role(name)}")


@app.command("remove-user")
def remove_user(name: Annotated[str, typer.Argument(help="Who.")], users: UsersOption) -> None:
    """Let somebody log in no more; their sessions end and their labels stay. Exit status 1 when nobody is called so."""
    from slotcache.review import users as people

    if not people.remove_user(users, name):
        print(f"nobody is called {name}")
        raise typer.Exit(1)
    print(f"{name} may not log in any more")


review.__doc__ = "\n\n".join([review.__doc__ or "", *(" ".join(part.split()) for part in _EPILOG.split("\n\n"))])
