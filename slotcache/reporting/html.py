"""The report as one HTML file that needs nothing else: no network, no fonts, no libraries."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slotcache.errors import EXPLANATIONS
from slotcache.reporting.advice import advice
from slotcache.reporting.charts import calibration_chart, coverage_chart, trend_chart, versions_chart
from slotcache.reporting.grid import CELLS_SHOWN, differing, grid
from slotcache.reporting.judged import Source
from slotcache.reporting.report import Report, Section
from slotcache.reporting.shares import Share

_TITLES: Final = {
    Source.REVIEWED: "Reviewed traffic",
    Source.LABELS: "Label file",
    Source.CROSS_VALIDATION: "Cross-validation",
}
_SAYS: Final = {
    Source.REVIEWED: "questions that people labelled, judged as they were read when they were asked",
    Source.LABELS: "labelled questions, judged as they are read now",
    Source.CROSS_VALIDATION: "the learned reader alone, on examples it did not see; code has not vetoed anything here",
}
_KEYS_SHOWN: Final = 12
"""Most rows and columns of the heat map of whole keys, whose names are long."""

_LISTED: Final = 400
"""Most cells of one matrix that the page lists; JSON and CSV have all of them."""


def render(report: Report) -> str:
    """The whole page."""
    environment = Environment(
        loader=PackageLoader("slotcache.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"n": _number, "pct": _percent, "reason": _reason}
    environment.globals |= {"differing": differing}
    sections = [_section(at, section) for at, section in enumerate(report.sections)]
    source, _, _ = environment.loader.get_source(environment, "report.css")  # type: ignore[union-attr]
    script, _, _ = environment.loader.get_source(environment, "report.js")  # type: ignore[union-attr]
    return environment.get_template("report.html.j2").render(
        report=report,
        made=_date(report.made),
        period=_period(report),
        sections=sections,
        headline=report.headline,
        steps=advice(report),
        trend=trend_chart(report.traffic.days),
        versions=versions_chart(_wrong_by_version(report)),
        css=Markup(source),
        js=Markup(script),
        data=_embedded(_data(report, sections)),
    )


def _section(at: int, section: Section) -> dict[str, Any]:
    suffix = "" if at == 0 else f"-{section.source.value}"
    named = [
        ("intents", "Intents", "What was asked, by intent.", section.intents),
        ("keys", "Whole keys", "Intent and slots together: two keys that differ never share an answer.", section.keys),
        *((f"slot-{m.name}", f"Slot {m.name}", "", m) for m in section.slots if m.cells),
    ]
    return {
        "id": section.source.value,
        "suffix": suffix,
        "title": _TITLES[section.source],
        "says": _SAYS[section.source],
        "data": section,
        "matrices": [
            {
                "id": f"{name}{suffix}",
                "title": title,
                "says": says,
                "matrix": matrix,
                "cells": matrix.cells[:_LISTED],
                "grid": grid(matrix, most=_KEYS_SHOWN if name == "keys" else CELLS_SHOWN),
                "is_slot": name.startswith("slot-"),
            }
            for name, title, says, matrix in named
        ],
        "calibration": calibration_chart(section.calibration),
        "coverage": coverage_chart(section.coverage_risk),
    }


def _data(report: Report, sections: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page's script opens cells with."""
    cells = {
        f"{shown['id']}:{at}": [cell.gold, cell.read, cell.count, list(cell.questions)]
        for section in sections
        for shown in section["matrices"]
        for at, cell in enumerate(shown["cells"])
    }
    questions = {
        str(at): {
            "text": q.text,
            "gold": q.gold,
            "read": q.read,
            "leaning": q.leaning,
            "abstain": q.abstain,
            "confidence": q.confidence,
            "traffic": q.traffic,
            "harmful": q.harmful,
            "verdict": q.verdict.value,
        }
        for at, q in report.questions.items()
    }
    stages = {text: [[stage.name, stage.saw] for stage in found] for text, found in report.stages.items()}
    return {"cells": cells, "questions": questions, "stages": stages}


def _embedded(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the script element it stands in, whatever customers typed."""
    text = json.dumps(data, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _wrong_by_version(report: Report) -> list[tuple[str, Share]]:
    """Wrong among accepted readings, by model version, in the order in which the versions were first met."""
    known = dict(report.headline.models) if report.headline else {}
    return [(period.name, known[period.name]) for period in report.traffic.models if period.name in known]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"


def _percent(value: float) -> str:
    return f"{value:.0%}" if value in (0.0, 1.0) else f"{value:.1%}"


def _reason(name: str) -> str:
    return next((text for reason, text in EXPLANATIONS.items() if reason.value == name), "")


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%-d %B %Y, %H:%M UTC")


def _period(report: Report) -> str:
    traffic = report.traffic
    if traffic.first is None or traffic.last is None:
        return ""
    days = [datetime.fromtimestamp(at, UTC).strftime("%-d %B %Y") for at in (traffic.first, traffic.last)]
    return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
