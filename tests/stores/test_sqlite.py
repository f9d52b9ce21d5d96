from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests
from slotcache.entry import Selector
from slotcache.errors import ConfigurationError, StoreError, StoreUnavailable
from slotcache.stores.base import PutResult, Store
from slotcache.stores.sqlite import SqliteStore, default_path
from tests.stores.contract import (
    NOW,
    BoundedStoreContract,
    SharedStoreContract,
    StoreContract,
    entry,
    lease_for,
    quarantine,
)

ROOT = Path(tests.__path__[0]).parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "answers.sqlite3"


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, path: Path) -> Iterator[Store]:
        store = SqliteStore(path)
        yield store
        store.close()


class TestSharedSqliteStore(SharedStoreContract):
    @pytest.fixture
    def views(self, path: Path) -> Iterator[tuple[Store, Store]]:
        here, there = SqliteStore(path), SqliteStore(path)
        yield here, there
        here.close()
        there.close()


class TestFullSqliteStore(BoundedStoreContract):
    @pytest.fixture
    def small(self, path: Path) -> Iterator[Store]:
        store = SqliteStore(path, max_entries=3, max_history=2)
        yield store
        store.close()


@pytest.mark.parametrize("option", [{"max_entries": 0}, {"max_history": 0}, {"busy_seconds": 0}], ids=str)
def test_sqlite_refuses_options_that_make_no_sense(path: Path, option: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        SqliteStore(path, **option)


def test_sqlite_uses_the_named_file_by_default(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTCACHE_STORE", str(path))
    assert default_path() == path


def test_sqlite_uses_the_users_data_folder_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLOTCACHE_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in default_path().parents


def test_sqlite_keeps_entries_when_it_is_opened_again(path: Path) -> None:
    for _ in range(2):
        store = SqliteStore(path)
        store.put(entry())
        store.close()
    again = SqliteStore(path)
    assert tuple(again.get(entry().cell)) == (entry(),)
    again.close()


def test_sqlite_of_another_program_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_sqlite_of_a_newer_version_is_noticed_at_start(path: Path) -> None:
    SqliteStore(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match="schema 99"):
        SqliteStore(path)


def test_sqlite_of_an_older_version_is_brought_up_to_date(path: Path) -> None:
    store = SqliteStore(path)
    store.put(entry())
    store.close()
    older = sqlite3.connect(path)
    older.executescript("DROP TABLE quarantine; PRAGMA user_version = 1")
    older.close()
    store = SqliteStore(path)
    store.add_quarantine(quarantine(tenant="b"))
    assert tuple(store.get(entry().cell)) == (entry(),)
    assert tuple(store.quarantines()) == (quarantine(tenant="b"),)
    store.close()


@pytest.mark.parametrize("damage", [b"not a database at all, but longer than a header" * 100, b"\0" * 8192])
def test_sqlite_damaged_file_is_moved_aside_and_counted(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    store = SqliteStore(path)
    assert store.put(entry()) is PutResult.STORED
    assert store.counts()["damaged"] == 1
    assert [found.read_bytes() for found in path.parent.glob("*.damaged-*")] == [damage]
    store.close()


def test_sqlite_damage_while_running_heals_after_one_failure(path: Path) -> None:
    store = SqliteStore(path)
    store.put_many([entry(tenant=str(number)) for number in range(300)])
    store.close()
    with path.open("r+b") as file:
        # The second half: the tables' names and what opening reads are before it, most entries are in it.
        file.seek(path.stat().st_size // 2)
        file.write(os.urandom(path.stat().st_size - file.tell()))
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable):
        list(store.find(Selector()))
    assert store.put(entry()) is PutResult.STORED
    assert store.counts()["damaged"] == 1
    store.close()


@pytest.mark.parametrize("suffix", ["", ".away"], ids=["removed", "moved aside by another process"])
def test_sqlite_file_that_is_gone_costs_one_failure_and_a_new_one_is_shared(path: Path, suffix: str) -> None:
    here, there = SqliteStore(path), SqliteStore(path)
    for store in (here, there):
        store.put(entry())
    for file in path.parent.iterdir():
        file.rename(f"{file}{suffix}") if suffix else file.unlink()
    for store in (here, there):
        with pytest.raises(StoreUnavailable, match="another file stands in its place"):
            store.get(entry().cell)
    assert here.put(entry(tenant="b")) is PutResult.STORED
    # What one process stores or withdraws, the other one sees: nobody goes on with the file that is gone.
    assert tuple(there.get(entry(tenant="b").cell)) == (entry(tenant="b"),)
    there.set_switch("cancel_order", off=True, now=NOW)
    assert here.switches() == {"cancel_order"}
    for store in (here, there):
        store.close()
    again = SqliteStore(path)
    assert again.counts()["entries"] == 1
    again.close()


def test_sqlite_damaged_row_answers_nothing_and_can_be_replaced(path: Path) -> None:
    store = SqliteStore(path)
    store.put(entry())
    other = sqlite3.connect(path)
    other.execute("UPDATE entries SET body = substr(body, 1, 40)")
    other.commit()
    other.close()
    assert tuple(store.get(entry().cell)) == ()
    assert store.counts()["damaged"] == 1
    assert store.put(entry(token="1" * 16)) is PutResult.STORED
    store.close()


def test_sqlite_that_is_locked_for_too_long_is_unavailable_and_recovers(path: Path) -> None:
    store = SqliteStore(path, busy_seconds=0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable):
        store.put(entry())
    other.execute("ROLLBACK")
    other.close()
    assert store.put(entry()) is PutResult.STORED
    store.close()


def test_sqlite_readers_go_on_while_somebody_writes(path: Path) -> None:
    store = SqliteStore(path, busy_seconds=0.05)
    store.put(entry())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert tuple(store.get(entry().cell)) == (entry(),)
    other.execute("ROLLBACK")
    other.close()
    store.close()


def test_sqlite_full_disk_is_unavailable_and_loses_nothing(path: Path) -> None:
    store = SqliteStore(path)
    store.put(entry())
    with store._file.reading() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable, match="full"):
        store.put(entry(answer="x" * 1_000_000, tenant="b"))
    assert tuple(store.get(entry().cell)) == (entry(),)
    assert store.put(entry(tenant="c")) is PutResult.STORED
    store.close()


def test_sqlite_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SqliteStore(tmp_path / "file" / "answers.sqlite3")
    with pytest.raises(StoreUnavailable):
        store.get(entry().cell)
    store.close()


def test_sqlite_closed_store_is_unavailable(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.get(entry().cell)


def test_sqlite_put_many_keeps_all_or_none(path: Path) -> None:
    store = SqliteStore(path)
    unwritable = entry(tenant="b", tags=("\ud800",))
    with pytest.raises(UnicodeEncodeError):
        store.put_many([entry(tenant="a"), unwritable])
    assert list(store.find(Selector())) == []
    store.close()


def test_sqlite_short_lived_threads_leave_no_connections_behind(path: Path) -> None:
    store = SqliteStore(path)
    for _ in range(40):
        thread = threading.Thread(target=store.get, args=(entry().cell,))
        thread.start()
        thread.join()
    assert len(store._file._idle) <= 2
    store.close()


def _put_in_a_child(store: SqliteStore) -> None:
    store.put(entry(tenant="child"))


def test_sqlite_goes_on_after_a_fork(path: Path) -> None:
    store = SqliteStore(path)
    store.put(entry())
    child = multiprocessing.get_context("fork").Process(target=_put_in_a_child, args=(store,))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    assert len(list(store.find(Selector()))) == 2
    store.close()


@pytest.mark.parametrize("acknowledged", [1, 40, 400])
def test_sqlite_survives_kill_9_of_a_writer(path: Path, acknowledged: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.stores.writer", str(path)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert writer.stdout is not None
    last = -1
    for line in writer.stdout:
        last = int(line)
        if last >= acknowledged:
            break
    os.kill(writer.pid, signal.SIGKILL)
    last = max([last, *(int(line) for line in writer.stdout if line.strip())])
    writer.stdout.close()
    writer.wait(timeout=30)

    store = SqliteStore(path)
    held = {int(found.answer.partition(":")[0]): found for found in store.find(Selector())}
    expected = set(range(max(0, last - 49), last + 1))
    # One more than was acknowledged may be there: committed, but killed before it could say so.
    assert expected - set(held) <= {last - 49}
    assert set(held) - expected <= {last + 1}
    assert all(len(found.answer.partition(":")[2]) == 3_000 for found in held.values())
    everything = [*held.values(), *(old.entry for found in held.values() for old in store.history(found.cell))]
    assert {int(one.answer.partition(":")[0]) for one in everything} >= set(range(last + 1))
    counts = store.counts()
    assert (counts["entries"], counts["damaged"]) == (len(held), 0)
    assert lease_for(store, entry(tenant="0"), now=NOW + 10**6).granted
    store.close()


def test_sqlite_several_processes_write_at_once(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITE_200, str(path), name], cwd=ROOT, stderr=subprocess.PIPE)
        for name in "ab"
    ]
    failures = [writer.communicate(timeout=60)[1] for writer in writers]
    assert failures == [b"", b""]
    store = SqliteStore(path)
    assert store.counts()["entries"] == 400
    store.close()


_WRITE_200 = """
import sys
from slotcache.stores.sqlite import SqliteStore
from tests.stores.contract import entry
store = SqliteStore(sys.argv[1], busy_seconds=20)
for number in range(200):
    store.put(entry(tenant=sys.argv[2] + str(number)))
store.close()
"""
