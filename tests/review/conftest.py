"""Small pieces that a review is made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from slotcache import MemoryStore, Parser, Scope, SlotCache
from slotcache.events import Outcome
from slotcache.parsing.watch import WatchingParser
from slotcache.records import TrafficRecord
from slotcache.records.record import Kind as RecordKind
from slotcache.records.record import Record, normal
from slotcache.review.acts import Act, Kind, pair_id, question_id
from slotcache.review.answers import Answers, place_for
from slotcache.review.app import make_app
from slotcache.review.desk import Desk, Settings
from slotcache.review.labels import LabelStore
from slotcache.review.sessions import COOKIE, Sessions
from slotcache.review.users import Role, add_user, read_users
from slotcache.stores.base import Store
from slotcache.testing import FakeClock

LIBRARY = Path(__file__).parent.parent / "domains" / "library.yaml"
NOW = 1_800_000_000.0
PASSWORD = "correct horse battery"
Client = Callable[[str], "Person"]


@pytest.fixture(scope="session")
def library_parser() -> Parser:
    return Parser.load(LIBRARY)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    made = LabelStore(tmp_path / "labels.db")
    yield made
    made.close()


@pytest.fixture
def act() -> Callable[..., Act]:
    """Makes an act about a question, or with `a` and `b` about a pair."""
    number = 0

    def make(kind: Kind = Kind.LABEL, text: str = "can i nab a dvd", *, author: str = "kim", **body: Any) -> Act:
        nonlocal number
        number += 1
        if kind is Kind.LABEL:
            body = {"intent": "borrow_item", "slots": {"medium": "dvd"}} | body
        subject = pair_id(body["a"], body["b"]) if "a" in body else question_id(text)
        about = {} if "a" in body else {"text": text}
        return Act(f"act-{number}", NOW + number, author, kind, subject, about | body)

    return make


@pytest.fixture
def record() -> Callable[..., Record]:
    """Makes a record of a look-up that found no key."""
    number = 0

    def make(text: str = "can i nab a dvd", **more: Any) -> Record:
        nonlocal number
        number += 1
        fields = {"kind": RecordKind.LOOKUP, "decision": "miss", "abstain": None if "intent" in more else "residue"}
        about = {"at": NOW + number, "text": text, "normal": normal(text)}
        return Record(f"r-{number}", **(about | fields | more))

    return make


@pytest.fixture(scope="session")
def users_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people who may log in: kim, who leads, and lee, an analyst."""
    path = tmp_path_factory.mktemp("people") / "users.json"
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    add_user(path, "lee", PASSWORD)
    return path


class Room:
    """A page over a small library's bot: its cache, its record, its labels."""

    def __init__(
        self, folder: Path, parser: Parser | WatchingParser, users: Path, *, store: Store | None = None
    ) -> None:
        self.clock = FakeClock(NOW)
        self.record = TrafficRecord(folder / "traffic.db", clock=self.clock, pause=0.0)
        self.cache = SlotCache(parser, store or MemoryStore(), observers=[self.record], clock=self.clock)
        self.labels = LabelStore(folder / "labels.db")
        self.timer = FakeClock(0.0)
        self.desk = Desk(
            self.labels,
            lambda: parser.parser if isinstance(parser, WatchingParser) else parser,
            Sessions(lambda: read_users(users)),
            answers=Answers(self.cache.core, journals=folder, places=[place_for(Scope())]),
            settings=Settings(folder / "traffic.db"),
            find=self.cache.core.store.find,
            clock=self.clock,
            timer=self.timer,
        )

    def ask(self, text: str, answer: str = "Two at a time.", customer: str = "c-1") -> Outcome:
        """A customer asks the bot."""
        return self.cache.get_or_call(text, lambda _: answer, Scope(customer=customer))

    def refresh(self) -> None:
        """What happens every few seconds."""
        assert self.record.flush()
        self.timer.now += 100.0
        self.desk.refresh()

    def close(self) -> None:
        self.desk.close()
        self.cache.close()
        self.record.close()


@pytest.fixture
def room(tmp_path: Path, library_parser: Parser, users_file: Path) -> Iterator[Room]:
    made = Room(tmp_path, library_parser, users_file)
    yield made
    made.close()


class Person:
    """Somebody at the page."""

    def __init__(self, room: Room, name: str) -> None:
        self.http = TestClient(make_app(room.desk, refresh=False), base_url="http://review", follow_redirects=False)
        self.name = name

    def token(self, path: str = "/login") -> str:
        found = re.search(r'name="token" value="([0-9a-f]+)"', self.http.get(path).text)
        assert found is not None
        return found[1]

    def log_in(self, password: str = PASSWORD) -> Any:
        return self.http.post("/login", data={"name": self.name, "password": password, "token": self.token()})

    def send(self, path: str, **form: str) -> Any:
        """Send a form of the queue's page."""
        return self.http.post(path, data={"token": self.token("/queue"), **form})

    def label(self, text: str, say: str, **form: str) -> Any:
        return self.send(f"/question/{question_id(text)}/label", say=say, **form)


@pytest.fixture
def client(room: Room) -> Iterator[Client]:
    people: list[Person] = []

    def make(name: str) -> Person:
        person = Person(room, name)
        people.append(person)
        sessions = room.desk.sessions
        person.http.cookies.set(COOKIE, sessions.write(sessions.begin(name)))
        return person

    yield make
    for person in people:
        person.http.close()


@pytest.fixture
def kim(client: Client) -> Person:
    return client("kim")
