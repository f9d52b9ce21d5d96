"""The observer: what it keeps, what it loses, and that the bot never feels it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from slotcache import MemoryStore, Scope, SlotCache
from slotcache.errors import Abstain, ConfigurationError, StoreError
from slotcache.events import Event, LookedUp
from slotcache.key import Key
from slotcache.parsing.types import Owner
from slotcache.records import TrafficRecord, read_records
from slotcache.records.files import lost
from slotcache.records.record import Kind
from slotcache.testing import FakeClock, FakeModel, ScriptedParser

Make = Callable[..., LookedUp]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traffic.db"


def test_traffic_records_what_a_cache_decided(path: Path) -> None:
    parser = ScriptedParser({"can i cancel?": "cancel_order(aspect=eligibility)"})
    with TrafficRecord(path) as record, SlotCache(parser, MemoryStore(), observers=[record]) as cache:
        for _ in range(2):
            cache.get_or_call("can i cancel?", FakeModel(), Scope(tenant="acme"))
    kept = [(r.kind.value, r.decision, r.reason, r.key) for r in read_records(path)]
    key = "cancel_order(aspect=eligibility)"
    assert kept[0] == ("lookup", "miss", "not_found", key)
    assert kept[-1] == ("lookup", "hit", "learned", key)


def test_traffic_reported_false_hit_is_recorded_with_its_hit(path: Path) -> None:
    parser = ScriptedParser({"can i cancel?": "cancel_order(aspect=eligibility)"})
    with TrafficRecord(path) as record, SlotCache(parser, MemoryStore(), observers=[record]) as cache:
        cache.get_or_call("can i cancel?", FakeModel())
        hit = cache.get("can i cancel?")
        cache.report_false_hit(str(hit.hit_id))
    (reported,) = read_records(path, kinds=[Kind.FALSE_HIT])
    assert (reported.hit_id, reported.text) == (hit.hit_id, "can i cancel?")


def test_traffic_neither_customer_nor_personal_data_reaches_the_file(path: Path, looked_up: Make) -> None:
    with TrafficRecord(path) as record:
        record(
            looked_up(
                "jo@example.org asks where is order 10234567",
                key=Key.verbatim("jo@example.org asks where is order 10234567"),
                intent=None,
                slots={},
                abstain=Abstain.PERSONAL,
                owner=Owner.CUSTOMER,
                residue=("jo@example.org", "asks"),
                personal=("email", "reference"),
            )
        )
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert [word for word in (b"10234567", b"example.org", b"c-77") if word in held] == []


def test_traffic_notes_whether_redaction_kept_the_key(path: Path, looked_up: Make) -> None:
    parser = ScriptedParser({"where is order 100200300": "track(reference=100200300)"})
    with TrafficRecord(path, read=parser.parse) as record:
        key = Key.of("track", {"reference": "10234567"})
        record(looked_up("where is order 10234567", key=key, intent="track", slots=key.as_dict()))
    (kept,) = read_records(path)
    assert (kept.key, kept.redaction) == ("track(reference=100200300)", "same")


def test_traffic_full_queue_loses_records_and_counts_them(path: Path, looked_up: Make) -> None:
    record = TrafficRecord(path, waiting=3, busy_seconds=0.05)
    with closing(sqlite3.connect(path)) as blocker:
        blocker.execute("BEGIN EXCLUSIVE")
        for _ in range(2_000):
            record(looked_up())
        blocker.execute("ROLLBACK")
    record.close()
    counts = record.counts()
    assert counts["lost"] > 1_000
    assert counts["recorded"] + counts["lost"] == 2_000


def test_traffic_losses_are_told_in_the_file(path: Path, looked_up: Make) -> None:
    with TrafficRecord(path, busy_seconds=0.05, pause=0.0) as record:
        with closing(sqlite3.connect(path)) as blocker:
            blocker.execute("BEGIN EXCLUSIVE")
            record(looked_up())
            record.flush()
        record(looked_up())
    assert lost(path) == 1


def test_traffic_recovers_when_the_disk_has_room_again(
    path: Path, looked_up: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slotcache.records import places

    connect = places.connect

    def full(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    with TrafficRecord(path) as record:
        monkeypatch.setattr(places, "connect", full)
        record(looked_up())
        record.flush()
        monkeypatch.setattr(places, "connect", connect)
        record(looked_up("again"))
    assert [r.text for r in read_records(path)] == ["again"]
    assert record.counts()["lost"] == 1


def test_traffic_folder_that_cannot_be_made_is_not_felt(tmp_path: Path, looked_up: Make) -> None:
    (tmp_path / "file").touch()
    with TrafficRecord(tmp_path / "file" / "traffic.db") as record:
        record(looked_up())
    assert record.counts()["lost"] == 1


def test_traffic_event_that_cannot_be_told_does_not_stop_the_others(path: Path, looked_up: Make) -> None:
    with TrafficRecord(path) as record:
        record(looked_up(confidence=None))
        record(looked_up("fine"))
    assert [r.text for r in read_records(path)] == ["fine"]


def test_traffic_sampled_record_says_how_many_it_stands_for(path: Path, looked_up: Make) -> None:
    chances = iter([0.9, 0.1, 0.24, 0.25])
    with TrafficRecord(path, sample=0.25, chance=lambda: next(chances)) as record:
        for text in "abcd":
            record(looked_up(text))
    assert [(r.text, r.weight) for r in read_records(path)] == [("b", 4.0), ("c", 4.0)]
    assert record.counts()["sampled_out"] == 2


def test_traffic_disagreements_are_never_sampled_out(path: Path, looked_up: Make) -> None:
    event = looked_up(key=None, intent=None, abstain=Abstain.READERS_DISAGREE)
    with TrafficRecord(path, sample=0.1, chance=lambda: 0.99) as record:
        record(event)
    assert [r.weight for r in read_records(path)] == [1.0]


def test_traffic_old_records_leave(path: Path, looked_up: Make) -> None:
    clock = FakeClock()
    with TrafficRecord(path, days=1, clock=clock) as record:
        record(looked_up("old", at=clock.now - 90_000))
        record(looked_up("new", at=clock.now))
    assert [r.text for r in read_records(path)] == ["new"]


def test_traffic_keeps_at_most_so_many_rows(path: Path, looked_up: Make) -> None:
    with TrafficRecord(path, rows=2, clock=FakeClock(1_000.0)) as record:
        for text in "abcde":
            record(looked_up(text))
    assert [r.text for r in read_records(path)] == ["d", "e"]


def test_traffic_closed_record_loses_what_comes_later(path: Path, looked_up: Make) -> None:
    record = TrafficRecord(path)
    record.close()
    record(looked_up())
    assert record.counts()["lost"] == 1


@pytest.mark.parametrize("dials", [{"sample": 0.0}, {"sample": 1.5}, {"days": 0}, {"rows": 0}, {"waiting": 0}])
def test_traffic_nonsense_is_refused_at_start(path: Path, dials: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        TrafficRecord(path, **dials)  # type: ignore[arg-type]


def test_traffic_file_of_another_program_is_refused_at_start(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="not a traffic record"):
        TrafficRecord(path)


def test_traffic_several_processes_write_to_one_file(path: Path) -> None:
    script = (
        "import sys\n"
        "from slotcache import MemoryStore, SlotCache\n"
        "from slotcache.records import TrafficRecord\n"
        "from slotcache.testing import ScriptedParser\n"
        "cache = SlotCache(ScriptedParser(), MemoryStore(), observers=[TrafficRecord(sys.argv[1])])\n"
        "for at in range(100): cache.get(f'{sys.argv[2]} {at}')\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("one", "two", "three")]
    assert [run.wait(60) for run in runs] == [0, 0, 0]
    assert sum(1 for _ in read_records(path)) == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_traffic_goes_on_after_a_fork(path: Path) -> None:
    script = (
        "import os, sys\n"
        "from slotcache.events import Decision, LookedUp, Outcome\n"
        "from slotcache.address import Scope\n"
        "from slotcache.records import TrafficRecord\n"
        "record = TrafficRecord(sys.argv[1])\n"
        "event = LookedUp(1e9 * 9, Outcome(Decision.MISS, 'not_found'), None, Scope(), 0.0)\n"
        "record(event); record.flush()\n"
        "child = os.fork()\n"
        "record(event); record.close()\n"
        "if child: sys.exit(os.waitpid(child, 0)[1])\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, str(path)], timeout=60, check=False)
    assert done.returncode == 0
    assert len({r.id for r in read_records(path)}) == 3


def test_traffic_observer_takes_any_event(path: Path) -> None:
    from slotcache.events import Trouble

    event: Event = Trouble(1.0, "store", "OSError")
    with TrafficRecord(path) as record:
        record(event)
    assert json.loads(json.dumps(record.counts()))["recorded"] == 0
