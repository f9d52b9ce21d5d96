"""Who may log in: a file with one scrypt hash a person, and the secret that session cookies are signed with."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slotcache.errors import ConfigurationError

SHORTEST: Final = 10
"""Characters a password must have."""

_N, _R, _P = 2**15, 8, 1
_MEMORY: Final = 64 * 1024 * 1024
_NAME: Final = re.compile(r"[\w.@+-]{1,64}")
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Users:
    """The people of a file.

    Attributes:
        secret: Signs session cookies.
        hashes: Name -> scrypt hash with its parameters.
    """

    secret: str
    hashes: Mapping[str, str]

    def admits(self, name: str, password: str) -> bool:
        """Whether this is the person's password; a name that is not there takes as long to refuse."""
        known = self.hashes.get(name)
        right = _matches(password, known if known is not None else _NOBODY)
        return right and known is not None

    def stamp(self, name: str) -> str:
        """Changes with the person's password, so that sessions from before it end; empty for nobody."""
        known = self.hashes.get(name)
        return "" if known is None else hashlib.sha256(known.encode()).hexdigest()[:16]


def read_users(path: Path) -> Users:
    """The people of a users file.

    Raises:
        ConfigurationError: the file is not there, is damaged, or names nobody.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        users = Users(str(raw["secret"]), {str(name): str(hashed) for name, hashed in raw["users"].items()})
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path}: there is no users file; make one with `slotcache review add-user NAME --users {path}`"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path}: not a users file: {error!r}") from None
    if not users.hashes or len(users.secret) < 32:
        raise ConfigurationError(f"{path}: names nobody; run `slotcache review add-user NAME --users {path}`")
    return users


def add_user(path: Path, name: str, password: str) -> None:
    """Add a person, or give them another password. The file is replaced in one step and only its owner can read it.

    Raises:
        ConfigurationError: the name or the password cannot be used, or the file is damaged.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError("a name has up to 64 letters, digits and . _ @ + -")
    if len(password) < SHORTEST:
        raise ConfigurationError(f"a password needs {SHORTEST} characters or more; three or four words will do")
    held = read_users(path) if path.exists() else Users(secrets.token_hex(32), {})
    hashes = {**held.hashes, name: hash_password(password)}
    _write(path, {"secret": held.secret, "users": dict(sorted(hashes.items()))})


def remove_user(path: Path, name: str) -> bool:
    """Remove a person, whose sessions end at once; gives whether they were there."""
    held = read_users(path)
    left = {known: hashed for known, hashed in held.hashes.items() if known != name}
    _write(path, {"secret": held.secret, "users": left})
    return name in held.hashes


def hash_password(password: str) -> str:
    """The scrypt hash of a password with a salt of its own."""
    salt = secrets.token_bytes(16)
    return f"scrypt:{_N}:{_R}:{_P}:{_coded(salt)}:{_coded(_scrypt(password, salt, _N, _R, _P))}"


def _matches(password: str, hashed: str) -> bool:
    _, n, r, p, salt, key = hashed.split(":")
    return hmac.compare_digest(_scrypt(password, base64.b64decode(salt), int(n), int(r), int(p)), base64.b64decode(key))


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    text = password[:_LONGEST].encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)


def _coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _write(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=".users-")
    try:
        # Made by mkstemp, the file is readable by its owner only.
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
            file.write("\n")
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


_NOBODY: Final = f"scrypt:{_N}:{_R}:{_P}:{_coded(bytes(16))}:{_coded(bytes(32))}"
