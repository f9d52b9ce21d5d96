"""The `slotcache` command. Each module beside this one holds one command and imports what it needs when called."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from slotcache.cli import (
    answers,
    ask,
    check,
    doctor,
    evaluate,
    explain,
    init,
    invalidate,
    labels,
    model_versions,
    parse,
    quarantine,
    reasons,
    records,
    rekey,
    replay,
    report,
    report_false_hit,
    retrain,
    review,
    serve,
    switch,
    train,
)
from slotcache.errors import SlotcacheError


class _Group(TyperGroup):
    """Prints errors that slotcache raises on purpose as one message instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SlotcacheError as error:
            print(f"slotcache: {error}", file=sys.stderr)
            raise typer.Exit(2) from None


app = typer.Typer(
    name="slotcache",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A cache for support bots that answers from an earlier answer only when both questions ask exactly the same.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"slotcache {version('slotcache')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


app.command("ask")(ask.ask)
app.command("replay")(replay.replay)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.command("parse")(parse.parse)
app.command("explain")(explain.explain)
app.command("check")(check.check)
app.command("reasons")(reasons.reasons)
app.command("init")(init.init)
app.command("train")(train.train)
app.command("retrain")(retrain.retrain)
app.command("rekey")(rekey.rekey)
app.command("doctor")(doctor.doctor)
app.command("invalidate")(invalidate.invalidate)
app.command("switch")(switch.switch)
app.command("report-false-hit")(report_false_hit.report_false_hit)
app.add_typer(answers.app, name="answers")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(evaluate.app, name="eval")
app.add_typer(model_versions.app, name="models")
app.add_typer(records.app, name="records")
app.add_typer(review.app, name="review")
app.add_typer(labels.app, name="labels")


def main() -> None:
    """Run the command line."""
    app()
