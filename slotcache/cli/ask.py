"""`slotcache ask`: one question through the cache, with the reason for what became of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from slotcache.cli.options import DomainOption, JsonOption
from slotcache.cli.stores import StoreOption, open_store

if TYPE_CHECKING:
    from slotcache.events import Outcome


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    store: StoreOption = None,
    customer: Annotated[str | None, typer.Option(help="Who asks, for answers that are one customer's own.")] = None,
    tenant: Annotated[str, typer.Option(help="Whose bot is asked.")] = "",
    locale: Annotated[str, typer.Option(help="Language and region of the answer, such as en-GB.")] = "",
    domain: DomainOption = "order_support",
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ask the model in any case, and keep nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question through the cache.

    A local stand-in answers in place of a model, unless OPENAI_API_KEY or OPENAI_BASE_URL name one.
    """
    from slotcache.address import Scope
    from slotcache.cache import SlotCache
    from slotcache.cli.models import chosen_model
    from slotcache.parsing.parser import Parser
    from slotcache.policy import Directives

    model, call = chosen_model()
    scope = Scope(tenant=tenant, customer=customer, locale=locale, model=model)
    with SlotCache(Parser.load(domain), open_store(store)) as cache:
        outcome = cache.get_or_call(question, call, scope, directives=Directives(no_cache=no_cache))
    if as_json:
        print(json.dumps(asdict(outcome)))
    else:
        print(outcome.answer or "")
        print(_told(outcome))


def _told(outcome: Outcome) -> str:
    """What became of a question, in a few lines."""
    from slotcache.errors import EXPLANATIONS

    by_id = {reason.value: text for reason, text in EXPLANATIONS.items()}
    lines = [f"  {outcome.decision.value} ({outcome.reason})"]
    if outcome.hit:
        lines[0] += f", stored {outcome.age or 0.0:.0f} s ago; report a wrong answer as {outcome.hit_id}"
    elif outcome.reason in by_id:
        lines[0] += f": {by_id[outcome.reason]}"
    lines.append(f"  key      {outcome.key or 'none'}")
    if outcome.abstain is not None:
        lines.append(f"  abstain  {outcome.abstain.value}: {EXPLANATIONS[outcome.abstain]}")
    if not outcome.hit:
        why = f"no ({outcome.not_stored}): {by_id.get(outcome.not_stored, '')}" if outcome.not_stored else "yes"
        lines.append(f"  kept     {why if outcome.decision.value != 'bypass' else 'no'}")
    return "\n".join(lines)
