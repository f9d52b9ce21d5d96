"""`slotcache serve`: the proxy that a bot uses in place of its model's endpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from slotcache.errors import ConfigurationError

_EPILOG = """
Change one line of the bot, the base URL: http://127.0.0.1:8080/v1 in place of the endpoint's. Its API key goes on to
the endpoint as before; every key is a tenant of its own unless the configuration lists callers.

Then look at a response: X-Slotcache-Outcome says hit, miss or bypass, X-Slotcache-Reason says why (`slotcache
reasons` explains each), and X-Slotcache-Id names a hit for POST /slotcache/false-hit. /metrics counts all of it.

System prompts that hold a date or a name, customers of your own gateway, several bots, prices: docs/proxy.md shows
the configuration file for each.
"""


def serve(
    upstream: Annotated[
        str | None,
        typer.Option("--upstream", "-u", help="The endpoint's base URL, such as https://api.openai.com/v1."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="A YAML or TOML file; flags win over what it says.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 if absent.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one, 8080 if absent.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="A SQLite file, 'memory', or a server's URL; a file in your data folder if absent."),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option("--domain", "-d", help="A shipped domain, a file or a folder. order_support if absent."),
    ] = None,
    observe: Annotated[
        bool,
        typer.Option("--observe", help="Serve nothing from the cache; record what would have been served."),
    ] = False,
    self_contained: Annotated[
        bool,
        typer.Option("--self-contained", help="Let questions that stand on their own hit whatever was said before."),
    ] = False,
    log_text: Annotated[bool, typer.Option("--log-text", help="Log questions as customers typed them.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the configuration and stop.")] = False,
    hash_key: Annotated[
        bool,
        typer.Option("--hash-key", help="Read a key from standard input, print its digest for the file, and stop."),
    ] = False,
) -> None:
    """Serve an OpenAI-compatible endpoint that answers from the cache where that is safe."""
    try:
        import httpx  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"serving needs {error.name}: pip install 'slotcache[proxy]'") from None
    from slotcache.serving.config_files import read_settings
    from slotcache.serving.tokens import hash_token

    if hash_key:
        print(hash_token(sys.stdin.readline().strip()))
        return
    flags = {
        "upstream.url": upstream,
        "listen.host": host,
        "listen.port": port,
        "store": store,
        "domain": domain,
        "rules.observe": observe or None,
        "chat.self_contained": self_contained or None,
        "logs.text": log_text or None,
    }
    settings = read_settings(config, flags)
    if check:
        print("the configuration is valid")
        return
    from slotcache.cli.stores import open_store
    from slotcache.serving import logs, server

    logs.set_up()
    server.serve(server.build(settings, open_store(settings.store)), settings)


serve.__doc__ = "\n\n".join([serve.__doc__ or "", *(" ".join(part.split()) for part in _EPILOG.split("\n\n"))])
