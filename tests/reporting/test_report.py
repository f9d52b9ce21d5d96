"""The whole report, from a parser, a record and labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from slotcache import Parser
from slotcache.parsing.learned import Model
from slotcache.reporting.advice import advice
from slotcache.reporting.csv_files import write_csv
from slotcache.reporting.gather import Inputs, make_report
from slotcache.reporting.judged import Source
from slotcache.reporting.labels import labelled_from
from slotcache.reporting.report import Report
from tests.conftest import library_examples
from tests.reporting.conftest import ASKED, LABELS

Invoke = Callable[..., Result]


def test_report_reviewed_traffic_leads(report: Report) -> None:
    assert [section.source for section in report.sections] == [Source.REVIEWED, Source.LABELS]


def test_report_planted_misreading_costs_its_traffic(report: Report) -> None:
    (cell,) = [c for c in report.sections[0].keys.cells if c.gold == "fines(aspect=cost)"]
    assert (cell.read, cell.traffic, cell.harm) == ("renew_loan(aspect=eligibility, medium=book)", 20.0, 20.0)


def test_report_confused_keys_with_one_answer_cost_nothing(report: Report) -> None:
    (cell,) = [c for c in report.sections[0].keys.cells if "after_due" in c.read]
    assert (cell.traffic, cell.harm) == (20.0, 0.0)


def test_report_every_cell_opens_onto_explained_questions(report: Report) -> None:
    section = report.sections[0]
    cells = [c for m in (section.intents, section.keys, *section.slots) for c in m.cells]
    texts = {report.questions[at].text for cell in cells for at in cell.questions}
    assert texts
    assert all(report.stages[text][-1].name == "Decision" for text in texts)


def test_report_residue_says_what_the_domain_lacks(report: Report) -> None:
    words = {word.word: (word.count, word.examples) for word in report.traffic.residue}
    assert words["tablet"] == (40.0, ("can i renew my tablet?", "borrow a tablet"))


def test_report_traffic_counts_every_question(report: Report) -> None:
    assert report.traffic.asked == 20 * len(ASKED)
    assert sum(count for _, count in report.traffic.outcomes) == report.traffic.asked


def test_report_reported_answer_is_the_first_thing_to_do(report: Report) -> None:
    assert advice(report)[0].anchor == "reported"


def test_report_holds_no_personal_data(report: Report) -> None:
    assert "jo@example.org" not in json.dumps(report.as_dict())


def test_report_is_the_same_every_time(report: Report, library_parser: Parser) -> None:
    labelled = labelled_from(LABELS)
    twice = [make_report(Inputs(library_parser, labelled=labelled), made=1.0).as_dict() for _ in range(2)]
    assert json.dumps(twice[0]) == json.dumps(twice[1])


def test_report_without_labels_asks_for_some(report: Report) -> None:
    steps = advice(replace(report, sections=()))
    assert "Label some questions" in [step.what for step in steps]


def test_report_csv_has_a_row_for_each_cell(report: Report, tmp_path: Path) -> None:
    write_csv(report, tmp_path)
    with (tmp_path / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["source"], row["matrix"]) == ("labels", "keys")]
    assert len(rows) == len(report.sections[1].keys.cells)


def test_report_csv_question_is_never_a_formula(library_parser: Parser, tmp_path: Path) -> None:
    rows = [{"text": "=fine", "key": "lost_card(aspect=what_to_do)"}]
    write_csv(make_report(Inputs(library_parser, labelled=labelled_from(rows)), made=1.0), tmp_path)
    assert "\n'=fine" in (tmp_path / "questions.csv").read_text(encoding="utf-8")


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in LABELS), encoding="utf-8")
    return path


def test_report_command_prints_json(invoke: Invoke, recorded: Path, labels: Path) -> None:
    done = invoke("--records", recorded, "--labels", labels, "--json")
    made = json.loads(done.stdout)
    assert (made["domain"], made["sections"][0]["questions"]) == ("library", len(LABELS))


def test_report_command_shows_the_terminal_view(invoke: Invoke, recorded: Path, labels: Path) -> None:
    done = invoke("--records", recorded, "--labels", labels)
    assert "accepted, wrong" in done.stdout
    assert "What to do next" in done.stdout


def test_report_command_of_nothing_is_a_usage_error(invoke: Invoke) -> None:
    assert invoke().exit_code == 2


def test_report_cross_validates_over_the_encoder_of_the_model(tiny_model_master: Path, library_parser: Parser) -> None:
    rows = [{"text": e.text, "intent": e.intent, "slots": dict(e.slots)} for e in library_examples()]
    parser = Parser(library_parser.domain, Model.load(tiny_model_master, domain="library"))
    made = make_report(Inputs(parser, examples=labelled_from(rows), folds=4), made=1.0)
    (section,) = made.sections
    assert (section.source, section.questions) == (Source.CROSS_VALIDATION, len(rows))
    assert section.coverage_risk[-1].coverage == 1.0


def test_report_cross_validation_needs_a_model(invoke: Invoke, labels: Path) -> None:
    done = invoke("--cross-validate", labels)
    assert done.exit_code == 2
    assert "no model" in done.stderr
