from __future__ import annotations

import stat
from pathlib import Path

import pytest

from slotcache.errors import ConfigurationError
from slotcache.review.sessions import Attempts, Sessions
from slotcache.review.users import Role, add_user, read_users, remove_user, set_role
from slotcache.testing import FakeClock
from tests.review.conftest import PASSWORD


def test_users_file_holds_hashes_and_is_its_owners(users_file: Path) -> None:
    text = users_file.read_text()
    assert PASSWORD not in text
    assert text.count("scrypt:32768:8:1:") == 2
    assert stat.S_IMODE(users_file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "password", "right"), [("kim", PASSWORD, True), ("kim", "no", False), ("jo", PASSWORD, False)]
)
def test_users_admit_the_right_password_only(users_file: Path, name: str, password: str, right: bool) -> None:
    assert read_users(users_file).admits(name, password) is right


@pytest.mark.parametrize(
    ("name", "password", "fix"), [("kim", "short", "10 characters"), ("k m", PASSWORD, "a name has")]
)
def test_users_refuse_what_is_unsafe(tmp_path: Path, name: str, password: str, fix: str) -> None:
    with pytest.raises(ConfigurationError, match=fix):
        add_user(tmp_path / "users.json", name, password)
    assert not (tmp_path / "users.json").exists()


def test_users_file_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="slotcache review add-user"):
        read_users(tmp_path / "users.json")


def test_users_damaged_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    path.write_text("{")
    with pytest.raises(ConfigurationError, match="not a users file"):
        add_user(path, "kim", PASSWORD)
    assert path.read_text() == "{"


def test_sessions_end_with_a_new_password_and_with_removal(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    for name in ("kim", "lee"):
        add_user(path, name, PASSWORD)
    sessions = Sessions(lambda: read_users(path))
    cookies = {name: sessions.write(sessions.begin(name)) for name in ("kim", "lee")}
    add_user(path, "kim", PASSWORD + "!")
    remove_user(path, "lee")
    assert [sessions.read(cookie) for cookie in cookies.values()] == [None, None]


def test_sessions_form_of_one_is_nothing_to_another(users_file: Path) -> None:
    sessions = Sessions(lambda: read_users(users_file))
    kim, other = sessions.begin("kim"), sessions.begin("kim")
    assert sessions.genuine(kim, sessions.token(kim))
    assert not sessions.genuine(other, sessions.token(kim))


def test_attempts_of_one_address_are_limited_over_all_names() -> None:
    attempts = Attempts(clock=FakeClock(0.0))
    for at in range(30):
        attempts.failed(f"name-{at}", "192.0.2.1")
    assert attempts.wait("another", "192.0.2.1") == 300.0
    assert attempts.wait("another", "192.0.2.2") == 0.0


def test_attempts_that_succeed_are_not_held_against_an_address() -> None:
    attempts = Attempts(clock=FakeClock(0.0))
    for _ in range(40):
        attempts.failed("kim", "192.0.2.1")
        attempts.succeeded("kim", "192.0.2.1")
    assert attempts.wait("kim", "192.0.2.1") == 0.0


def test_users_are_analysts_unless_somebody_says_more(users_file: Path) -> None:
    held = read_users(users_file)
    assert [held.role(name) for name in ("kim", "lee", "nobody")] == [Role.LEAD, Role.ANALYST, Role.ANALYST]


def test_users_keep_their_role_with_a_new_password(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    add_user(path, "kim", PASSWORD + "!")
    assert read_users(path).role("kim") is Role.LEAD


def test_users_who_come_back_under_a_name_do_not_inherit_its_role(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "lee", PASSWORD)
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    remove_user(path, "kim")
    add_user(path, "kim", PASSWORD)
    assert read_users(path).role("kim") is Role.ANALYST


def test_users_file_with_an_unknown_role_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    add_user(path, "kim", PASSWORD, role=Role.LEAD)
    path.write_text(path.read_text().replace('"lead"', '"admin"'))
    with pytest.raises(ConfigurationError, match="not a users file"):
        read_users(path)


def test_users_role_of_nobody_cannot_be_set(users_file: Path) -> None:
    assert not set_role(users_file, "nobody", Role.LEAD)
    assert "nobody" not in read_users(users_file).roles
