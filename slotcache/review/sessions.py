"""Sessions in a signed cookie, tokens against forged requests, and a limit on attempts to log in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer

from slotcache.review.users import Role, Users

COOKIE: Final = "slotcache_review"
LIFE: Final = 12 * 3600
"""Seconds after which one has to log in anew."""

_ATTEMPTS, _ATTEMPTS_BY_ADDRESS = 5, 30
_WINDOW: Final = 300.0
_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Session:
    """A visitor, logged in or not.

    Attributes:
        id: Random; another one after logging in.
        name: Who; empty before logging in.
        stamp: The person's password when they logged in, as `Users.stamp` gives it.
    """

    id: str
    name: str = ""
    stamp: str = ""


class Sessions:
    """Reads and writes session cookies. People are read anew each time: removing one ends their sessions."""

    def __init__(self, users: Callable[[], Users]) -> None:
        self._users = users

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None when it is absent, forged, too old or of somebody who was removed."""
        if not cookie:
            return None
        users = self._users()
        try:
            id, name, stamp = self._serializer(users).loads(cookie, max_age=LIFE)
        except (BadSignature, ValueError, TypeError):
            return None
        if name and not hmac.compare_digest(str(stamp), users.stamp(str(name)) or "-"):
            return None
        return Session(str(id), str(name), str(stamp))

    def admits(self, name: str, password: str) -> bool:
        """Whether somebody may log in."""
        return self._users().admits(name, password)

    def role(self, name: str) -> Role:
        """What somebody may do now."""
        return self._users().role(name)

    def begin(self, name: str = "") -> Session:
        """A new session; of nobody when no name is given."""
        return Session(secrets.token_urlsafe(16), name, self._users().stamp(name) if name else "")

    def write(self, session: Session) -> str:
        """The cookie of a session."""
        return self._serializer(self._users()).dumps([session.id, session.name, session.stamp])

    def token(self, session: Session) -> str:
        """What forms of this session carry, and nobody else's page can know."""
        return hmac.new(self._users().secret.encode(), f"form:{session.id}".encode(), hashlib.sha256).hexdigest()

    def genuine(self, session: Session, token: str) -> bool:
        """Whether a form comes from a page of this session."""
        return hmac.compare_digest(self.token(session).encode(), token.encode("utf-8", "replace"))

    @staticmethod
    def _serializer(users: Users) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            users.secret, salt="slotcache.review.session", signer_kwargs={"digest_method": hashlib.sha256}
        )


class Attempts:
    """Counts failed attempts to log in, by name and by address, within five minutes."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        """Begin with none.

        Args:
            clock: Seconds of a clock that is never set.
        """
        self._clock = clock
        self._failed: dict[str, deque[float]] = {}
        self._lock = Lock()

    def wait(self, name: str, address: str) -> float:
        """Seconds until another attempt is looked at; 0.0 for at once."""
        with self._lock:
            return max(self._wait(f"n:{name}", _ATTEMPTS), self._wait(f"a:{address}", _ATTEMPTS_BY_ADDRESS))

    def failed(self, name: str, address: str) -> None:
        """Note a failed attempt."""
        with self._lock:
            for key in (f"n:{name}", f"a:{address}"):
                self._failed.setdefault(key, deque(maxlen=_ATTEMPTS_BY_ADDRESS)).append(self._clock())
            while len(self._failed) > _REMEMBERED:
                self._failed.pop(next(iter(self._failed)))

    def succeeded(self, name: str, address: str) -> None:
        """Forget the failures of somebody who got in, and that this attempt was counted against the address."""
        with self._lock:
            self._failed.pop(f"n:{name}", None)
            if self._failed.get(f"a:{address}"):
                self._failed[f"a:{address}"].pop()

    def _wait(self, key: str, most: int) -> float:
        times = self._failed.get(key, deque())
        now = self._clock()
        while times and now - times[0] >= _WINDOW:
            times.popleft()
        return _WINDOW - (now - times[-most]) if len(times) >= most else 0.0
