from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from slotcache.cli.app import app
from slotcache.review.acts import Act
from slotcache.review.labels import LabelStore
from slotcache.review.users import read_users
from tests.review.conftest import LIBRARY, PASSWORD

Run = Callable[..., Result]


@pytest.fixture
def invoke() -> Run:
    return lambda *arguments, **more: CliRunner().invoke(app, list(map(str, arguments)), **more)


@pytest.fixture
def labelled(store: LabelStore, act: Callable[..., Act]) -> Path:
    store.add(act(slots={"aspect": "eligibility", "medium": "dvd"}))
    store.add(act(text="who won", intent="out_of_scope", slots={}))
    return store.database.path


@pytest.mark.parametrize("form", ["jsonl", "label-studio"])
def test_cli_labels_export_is_what_import_takes(invoke: Run, labelled: Path, tmp_path: Path, form: str) -> None:
    out, into = tmp_path / "out", tmp_path / "into.db"
    assert invoke("labels", "export", labelled, "--out", out, "--form", form).exit_code == 0
    assert invoke("labels", "import", into, out, "--form", form).output == "2 added, 0 known already, 0 left out\n"
    assert invoke("labels", "import", into, out, "--form", form).output == "0 added, 2 known already, 0 left out\n"
    exported = [json.loads(invoke("labels", "export", path).output.split("\n")[0]) for path in (labelled, into)]
    assert exported[0] == exported[1]


def test_cli_labels_import_tells_contradictions(invoke: Run, labelled: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "who won", "intent": "fines"}\n')
    done = invoke("labels", "import", labelled, rows)
    assert done.exit_code == 1
    assert "rows.jsonl:1: kim said otherwise" in done.output


def test_cli_labels_interface_is_for_the_domain(invoke: Run) -> None:
    assert '<Choice value="renew_loan"/>' in invoke("labels", "interface", "--domain", LIBRARY).output


def test_cli_review_roles_are_given_changed_and_listed(invoke: Run, tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    for name, more in (("kim", ["--role", "lead"]), ("lee", [])):
        invoke("review", "add-user", name, *more, "--users", users, "--password-stdin", input=PASSWORD + "\n")
    assert invoke("review", "list-users", "--users", users).output == "kim\tlead\nlee\tanalyst\n"
    assert invoke("review", "set-role", "lee", "lead", "--users", users).exit_code == 0
    assert invoke("review", "set-role", "jo", "lead", "--users", users).exit_code == 1
    assert read_users(users).roles == {"kim": "lead", "lee": "lead"}


def test_cli_review_add_and_remove_user(invoke: Run, tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    added = invoke("review", "add-user", "kim", "--users", users, "--password-stdin", input=PASSWORD + "\n")
    assert (added.exit_code, read_users(users).admits("kim", PASSWORD)) == (0, True)
    assert invoke("review", "remove-user", "jo", "--users", users).exit_code == 1
    assert invoke("review", "remove-user", "kim", "--users", users).exit_code == 0


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        (["--labels", "labels.db"], "--users"),
        (["--users", "none.json"], "slotcache review add-user"),
    ],
)
def test_cli_review_says_what_is_missing(
    invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], fix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("review", *options)
    assert done.exit_code == 2
    assert fix in done.output + done.stderr
    assert not (tmp_path / "labels.db").exists()


def test_cli_review_help_teaches(invoke: Run) -> None:
    told = " ".join(invoke("review", "--help").output.split())
    assert "slotcache review add-user kim" in told
