"""Bots on several machines write to one place: a stream on servers that all of them reach."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis
from typer.testing import Result

from slotcache import TrafficRecord
from slotcache.errors import ConfigurationError, StoreError
from slotcache.events import LookedUp
from slotcache.records import import_lines, read_records
from slotcache.records.files import last_number, lost, numbered_records
from slotcache.testing import FakeClock
from tests.cli.conftest import invoke, library
from tests.servers import Server, server
from tests.stores.redis_stores import prefix

__all__ = ["invoke", "library", "prefix", "server"]

Make = Callable[..., LookedUp]


@pytest.fixture
def url(server: Server, prefix: str) -> str:
    return f"{server.url}/0?prefix={prefix}"


def test_stream_bots_on_several_machines_write_to_one_place(url: str, looked_up: Make) -> None:
    with TrafficRecord(url) as first, TrafficRecord(url) as second:
        for record, text in ((first, "asked at a"), (second, "asked at b")):
            record(looked_up(text))
            assert record.flush()
        assert (first.counts()["recorded"], second.counts()["recorded"]) == (1, 1)
    assert [record.text for record in read_records(url)] == ["asked at a", "asked at b"]


def test_stream_reader_comes_back_for_what_is_new(url: str, looked_up: Make) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("first"))
        assert record.flush()
        position = last_number(url)
        record(looked_up("second"))
    assert [record.text for _, record in numbered_records(url, after=position)] == ["second"]


def test_stream_pages_through_a_long_record(url: str, looked_up: Make) -> None:
    with TrafficRecord(url) as record:
        for n in range(1_100):
            record(looked_up(str(n)))
    assert [record.text for record in read_records(url)] == [str(n) for n in range(1_100)]


def test_stream_keeps_at_most_so_many_rows(url: str, looked_up: Make) -> None:
    with TrafficRecord(url, rows=2) as record:
        for text in "abc":
            record(looked_up(text))
    assert [record.text for record in read_records(url)] == ["b", "c"]
    assert record.counts()["removed"] == 1


def test_stream_old_records_leave(url: str, looked_up: Make) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("old"))
    clock = FakeClock(4_000_000_000.0)
    with TrafficRecord(url, clock=clock) as later:
        later(looked_up("asked then"))
    assert later.counts()["removed"] == 2


def test_stream_reads_what_was_asked_since(url: str, looked_up: Make) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("asked"))
    (kept,) = read_records(url)
    assert list(read_records(url, since=kept.at + 1)) == []


def test_stream_of_nothing_is_empty(url: str) -> None:
    assert (list(read_records(url)), last_number(url), lost(url)) == ([], 0, 0)


def test_stream_losses_of_all_writers_add_up(url: str, looked_up: Make) -> None:
    for _ in range(2):
        with TrafficRecord(url, waiting=1, pause=0.0) as record:
            record._count("lost", 3)
            record(looked_up("kept"))
    assert lost(url) == 6


def test_stream_server_that_is_away_is_not_felt_and_counted(looked_up: Make) -> None:
    with TrafficRecord("redis://127.0.0.1:1/0?timeout=0.2") as record:
        record(looked_up("lost"))
        assert record.flush()
    assert {name: record.counts()[name] for name in ("recorded", "lost")} == {"recorded": 0, "lost": 1}


def test_stream_record_that_was_sent_twice_counts_once(url: str, server: Server, looked_up: Make) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("asked"))
    (kept,) = read_records(url)
    with Redis.from_url(server.url) as client:
        (key,) = client.keys(f"*{url.rpartition('=')[2]}:records*")
        client.xadd(key, {"r": kept.to_json()})
    assert len(list(read_records(url))) == 1


def test_stream_place_of_something_else_is_refused_at_start(url: str, server: Server, prefix: str) -> None:
    with Redis.from_url(server.url) as client:
        client.set(f"{{{prefix}:records}}", "mine")
    with pytest.raises(StoreError, match=r"is a string, not a traffic record; name another \?prefix="):
        TrafficRecord(url)


def test_stream_foreign_entry_is_named(url: str, server: Server, prefix: str) -> None:
    with Redis.from_url(server.url) as client:
        client.xadd(f"{{{prefix}:records}}", {"other": "field"})
    with pytest.raises(StoreError, match="is no traffic record"):
        list(read_records(url))


def test_stream_takes_no_imports(url: str) -> None:
    with pytest.raises(ConfigurationError, match="imported into a file"):
        import_lines(url, [])


def test_stream_is_exported_into_a_file(
    url: str, looked_up: Make, invoke: Callable[..., Result], tmp_path: Path
) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("asked"))
    assert invoke("records", "export", url, "--out", tmp_path / "all.jsonl").exit_code == 0
    assert invoke("records", "import", tmp_path / "all.db", tmp_path / "all.jsonl").exit_code == 0
    assert [record.text for record in read_records(tmp_path / "all.db")] == ["asked"]


def test_stream_is_reported_on(url: str, looked_up: Make, invoke: Callable[..., Result], library: Path) -> None:
    with TrafficRecord(url) as record:
        record(looked_up("can i renew a book"))
    told = json.loads(invoke("report", "--records", url, "--domain", library, "--json").stdout)
    assert told["traffic"]["asked"] == 1.0
