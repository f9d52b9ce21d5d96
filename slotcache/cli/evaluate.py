"""`slotcache eval ...`: measures the parser on labelled files, with exact bounds and every error listed."""

from __future__ import annotations

import typer

from slotcache.cli import evaluate_labels, evaluate_pairs

app = typer.Typer(no_args_is_help=True, help="Measure on labelled files: pairs, intents, scope, personal.")
app.command("pairs")(evaluate_pairs.pairs)
app.command("intents")(evaluate_labels.intents)
app.command("scope")(evaluate_labels.scope)
app.command("personal")(evaluate_labels.personal)
