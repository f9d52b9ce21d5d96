"""Readers that run change over to a promoted version by themselves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from slotcache.domain.loader import load_domain
from slotcache.errors import ModelError
from slotcache.parsing.parser import Parser
from slotcache.parsing.upcoming import announce_next, load_next, retract_next
from slotcache.parsing.watch import SECONDS, WatchingParser, watching

LIBRARY = Path(__file__).parent.parent / "domains" / "library.yaml"


class Versions:
    """A pointer file and parsers whose version is what it holds."""

    def __init__(self, folder: Path) -> None:
        self.pointer = folder / "current.json"
        self.now = 0.0
        self.failures: list[Exception] = []
        self.domain = load_domain(LIBRARY)
        self.point("1")

    def point(self, version: str) -> None:
        beside = self.pointer.with_suffix(".new")
        beside.write_text(version)
        beside.replace(self.pointer)

    def load(self) -> Parser:
        version = self.pointer.read_text()
        if version == "damaged":
            raise ModelError("damaged")
        parser = Parser(self.domain)
        parser.version = version
        return parser

    def parser(self, *, background: bool = False) -> WatchingParser:
        return WatchingParser(
            self.load, [self.pointer], failed=self.failures.append, clock=lambda: self.now, background=background
        )


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    return Versions(tmp_path)


def test_watch_changes_over_within_a_second(versions: Versions) -> None:
    parser = versions.parser()
    versions.point("2")
    versions.now += SECONDS
    assert parser.version == "2"


def test_watch_looks_at_most_once_a_second(versions: Versions) -> None:
    parser = versions.parser()
    versions.point("2")
    versions.now += 0.9 * SECONDS
    assert parser.version == "1"


def test_watch_keeps_the_present_parser_when_the_next_is_damaged(versions: Versions) -> None:
    parser = versions.parser()
    versions.point("damaged")
    versions.now += SECONDS
    assert (parser.version, [str(failure) for failure in versions.failures]) == ("1", ["damaged"])


def test_watch_tries_again_after_the_next_change(versions: Versions) -> None:
    parser = versions.parser()
    for version in ("damaged", "3"):
        versions.point(version)
        versions.now += SECONDS
        last = parser.version
    assert last == "3"


def test_watch_answers_while_the_next_parser_loads(versions: Versions) -> None:
    go, loading = Event(), Event()
    plain = versions.load

    def slow() -> Parser:
        if versions.pointer.read_text() == "2":
            loading.set()
            assert go.wait(10)
        return plain()

    parser = WatchingParser(slow, [versions.pointer], clock=lambda: versions.now)
    versions.point("2")
    versions.now += SECONDS
    assert parser.parse("can i borrow a book").intent == "borrow_item"
    assert loading.wait(10)
    assert parser.version == "1"
    go.set()


def test_watch_readers_never_see_half_a_change(versions: Versions) -> None:
    """Readers ask from several threads while versions are promoted; every reading is one of a whole version."""
    parser = versions.parser()
    seen: set[tuple[str, str]] = set()
    stop = Event()

    def read() -> None:
        while not stop.is_set():
            seen.add((parser.version, str(parser.parse("can i borrow a book").key)))

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for version in ("2", "3", "4"):
        versions.point(version)
        versions.now += SECONDS
        while parser.version != version:
            pass
    stop.set()
    for reader in readers:
        reader.join()
    assert {key for _, key in seen} == {"borrow_item(aspect=eligibility, medium=book)"}
    assert versions.failures == []


def test_watch_follows_a_folder_of_versions(
    tiny_model: Path, edit_manifest: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tiny_model.parent
    shutil.copytree(tiny_model, root / "2")
    edit_manifest(root / "2", version="2")
    (root / "current.json").write_text(json.dumps({"library": "1"}))
    monkeypatch.setattr("slotcache.parsing.parser.check_labels", lambda *_, **__: None)
    parser = watching(LIBRARY, model=root)
    assert (parser.version, parser.domain.name) == ("1", "library")  # type: ignore[attr-defined]


def test_watch_knows_the_generation_that_is_being_built(versions: Versions, tmp_path: Path) -> None:
    announced = tmp_path / "next.json"
    upcoming = Parser(versions.domain)
    upcoming.version = "2"
    parser = WatchingParser(
        versions.load,
        [versions.pointer],
        announced=[announced],
        load_next=lambda: upcoming if announced.is_file() else None,
        clock=lambda: versions.now,
        background=False,
    )
    seen = [parser.next]
    announced.write_text("{}")
    versions.now += SECONDS
    seen.append(parser.next)
    versions.point("2")
    versions.now += SECONDS
    seen.append(parser.next)
    assert seen == [None, upcoming, None]


def test_watch_loads_an_announced_generation(tmp_path: Path) -> None:
    announce_next(tmp_path, Parser(load_domain(LIBRARY)))
    upcoming = load_next(LIBRARY, [tmp_path])
    assert upcoming is not None
    assert upcoming.domain_hash == Parser(load_domain(LIBRARY)).domain_hash


def test_watch_loads_nothing_that_was_retracted(tmp_path: Path) -> None:
    announce_next(tmp_path, Parser(load_domain(LIBRARY)))
    retract_next(tmp_path, "library")
    assert load_next(LIBRARY, [tmp_path]) is None


@pytest.mark.parametrize(
    "told",
    [
        "cut of",
        "[]",
        '{"library": {"folder": "", "generation": "of another domain file"}}',
        '{"library": {"folder": "on another machine", "generation": ""}}',
    ],
)
def test_watch_loads_no_other_generation_than_the_announced(tmp_path: Path, told: str) -> None:
    (tmp_path / "next.json").write_text(told)
    assert load_next(LIBRARY, [tmp_path]) is None
