"""`slotcache eval ...`: measures the parser on labelled files, with exact bounds and every error listed."""

from __future__ import annotations

import typer

from slotcache.cli import (
    evaluate_accepted,
    evaluate_all,
    evaluate_judging,
    evaluate_labels,
    evaluate_pairs,
    evaluate_traffic,
)

app = typer.Typer(no_args_is_help=True, help="Measure on labelled files, with every error listed.")
app.command("all")(evaluate_all.everything)
app.command("pairs")(evaluate_pairs.pairs)
app.command("gate")(evaluate_pairs.gate)
app.command("intents")(evaluate_labels.intents)
app.command("scope")(evaluate_accepted.scope)
app.command("personal")(evaluate_accepted.personal)
app.command("traffic")(evaluate_traffic.traffic)
app.command("sample")(evaluate_judging.sample)
app.command("judged")(evaluate_judging.judged)
