"""The comparison with other caches measures what it says, and a peer that is not to be had is told and not a crash."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.peers import __main__ as command
from benchmarks.peers import rooms
from benchmarks.peers.measure import main as measure
from benchmarks.peers.rooms import CannotInstallError
from benchmarks.peers.subjects import ANSWER, SUBJECTS
from benchmarks.peers.table import show
from benchmarks.peers.workload import ASKED, COLOURS, THINGS, TOWNS, Pair, filling, gate_pairs, never_stored

GATE = sorted((Path(__file__).parents[2] / "training" / "gate").glob("*.jsonl"))


def test_peers_filling_questions_are_different_and_the_same_in_every_run() -> None:
    assert len(set(filling(100_000))) == 100_000
    assert filling(1_000) == filling(1_000)


def test_peers_no_gate_question_is_about_what_the_filling_questions_are_about() -> None:
    pairs = gate_pairs(GATE)
    assert len(pairs) > 3_000
    spoken = [set(re.findall(r"\w+", f"{text} {text.lower()}")) for pair in pairs for text in (pair.a, pair.b)]
    named = [set(words.split()) for words in (COLOURS, THINGS, TOWNS)]
    assert not any(all(words & names for names in named) for words in spoken)


def test_peers_try_takes_some_pairs_of_each_file() -> None:
    pairs = gate_pairs(GATE, most=60)
    assert [sum(pair.file == path.name for pair in pairs) for path in GATE] == [60] * len(GATE)


def test_peers_each_size_has_questions_of_its_own() -> None:
    parts = never_stored(gate_pairs(GATE), 3)
    assert len({text for part in parts for text in part}) == 3 * ASKED


class Encoder:
    """Costs nothing."""

    def __init__(self) -> None:
        self.known: dict[str, object] = {}

    def __call__(self, text: str) -> str:
        return text


class Words:
    """A cache that serves whatever shares the first word."""

    settings, changed, packages = "first word", "", ("numpy",)

    def __init__(self, encoder: object, folder: Path) -> None:
        self.held: dict[str, str] = {}

    def put(self, text: str, answer: str) -> None:
        self.held[text.split()[0].lower()] = answer

    def get(self, text: str) -> str | None:
        return self.held.get(text.split()[0].lower())

    def fill(self, texts: list[str]) -> None:
        for text in texts:
            self.put(text, ANSWER)

    def clear(self) -> None:
        self.held.clear()

    def server_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self.held.clear()


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    pairs = [Pair("p", f"q{number} a", f"q{number} b", number % 3 == 0) for number in range(300)]
    pairs += [Pair("p", "one x", "other x", True), Pair("p", "one y", "other y", False)]
    file = tmp_path / "p.jsonl"
    file.write_text("\n".join(json.dumps({"a": p.a, "b": p.b, "same": p.same}) for p in pairs), encoding="utf-8")
    np.save(tmp_path / "vectors.npy", np.zeros((1_000, 2), dtype=np.float32))
    monkeypatch.setitem(SUBJECTS, "words", Words)
    monkeypatch.setattr("benchmarks.peers.measure.Encoder", lambda folder: Encoder())
    return {
        "subject": "words",
        "model": "",
        "pairs": [str(file)],
        "sizes": [1_000],
        "patience": 60,
        "vectors": str(tmp_path / "vectors.npy"),
        "folder": str(tmp_path),
    }


def test_peers_counts_what_is_served(job: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    measure(job, sys.stdout)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])["figures"]
    assert figures["pairs"] == {"p.jsonl": {"must_not": 201, "false_hits": 200, "may": 101, "hits": 100}}
    (size,) = figures["sizes"]
    assert (size["entries"], size["asked_again_served"], size["new_wording_served"]) == (1_000, ASKED, 0)


def test_peers_that_cannot_be_installed_are_told_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, cache: Path) -> None:
        raise CannotInstallError("no index")

    monkeypatch.setattr(command, "_room", refuse)
    with command._bars() as bars:
        figures = command._figures("gptcache", {}, tmp_path, "w", bars, again=False)
    assert figures == {"failed": "cannot be installed: no index"}
    console = Console(width=150, file=io.StringIO(), record=True)
    show({"caches": {"gptcache": figures}}, console)
    assert "gptcache: no figures, cannot be installed: no index" in console.export_text()


def test_peers_figures_of_the_same_workload_are_not_measured_again(tmp_path: Path) -> None:
    (tmp_path / "gptcache-w.json").write_text('{"pairs": {}}', encoding="utf-8")
    with command._bars() as bars:
        assert command._figures("gptcache", {}, tmp_path, "w", bars, again=False) == {"pairs": {}}


def test_peers_encoder_is_the_one_that_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["peers"])
    chosen = command._options()
    assert (chosen.model / "manifest.json").is_file()
    assert chosen.entries == [1_000, 10_000, 100_000]


@pytest.mark.parametrize(
    ("figures", "one_run"),
    [
        ({"measured_at": "2026-12-01T10:00:05Z"}, True),
        ({"measured_at": "2026-11-30T23:59:59Z"}, False),
        ({"failed": "no index"}, False),
    ],
    ids=["now", "kept from an earlier run", "missing"],
)
def test_peers_figures_say_whether_they_are_of_one_run(figures: dict[str, str], one_run: bool) -> None:
    start = "2026-12-01T10:00:00Z"
    told = {"started_at": start, "caches": {"a": {"measured_at": start}, "b": figures}}
    assert command.is_one_run(told) is one_run


def test_peers_environment_without_pip_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms.venv, "create", lambda room, with_pip: room.mkdir(parents=True))
    with pytest.raises(CannotInstallError, match="pip install"):
        rooms.furnish(tmp_path / "room", ("no-such-package",))
