"""Who may log in, and do what: a file with a scrypt hash and a role a person, and the secret that signs cookies."""

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
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from slotcache.errors import ConfigurationError

SHORTEST: Final = 10
"""Characters a password must have."""

_ADD: Final = "run `slotcache review add-user NAME --role lead --users {}`"
_N, _R, _P = 2**15, 8, 1
_MEMORY: Final = 64 * 1024 * 1024
_NAME: Final = re.compile(r"[\w.@+-]{1,64}")
_LONGEST: Final = 1_000


class Role(StrEnum):
    """What a person may do."""

    ANALYST = "analyst"
    """Labels, pairs, proposals, and reporting a wrong answer, which can only turn hits into misses."""

    LEAD = "lead"
    """Besides that, what customers get: approving answers, ending a quarantine, accepting proposals, undoing those."""


@dataclass(frozen=True, slots=True)
class Users:
    """The people of a file.

    Attributes:
        secret: Signs session cookies.
        hashes: Name -> scrypt hash with its parameters.
        roles: Name -> role; whoever has none is an analyst.
    """

    secret: str
    hashes: Mapping[str, str]
    roles: Mapping[str, Role] = field(default_factory=dict)

    def role(self, name: str) -> Role:
        """What somebody may do: what an analyst may, unless the file says more."""
        return self.roles.get(name, Role.ANALYST) if name in self.hashes else Role.ANALYST

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
        users = Users(
            str(raw["secret"]),
            {str(name): str(hashed) for name, hashed in raw["users"].items()},
            {str(name): Role(role) for name, role in raw.get("roles", {}).items()},
        )
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no users file; {_ADD.format(path)}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path}: not a users file: {error!r}") from None
    if not users.hashes or len(users.secret) < 32:
        raise ConfigurationError(f"{path}: names nobody; {_ADD.format(path)}")
    return users


def add_user(path: Path, name: str, password: str, *, role: Role | None = None) -> None:
    """Add a person, or give them another password. The file is replaced in one step and only its owner can read it.

    Args:
        path: The users file; made when it is not there.
        name: Who.
        password: What they log in with.
        role: What they may do; None keeps the role they have, and makes somebody new an analyst.

    Raises:
        ConfigurationError: the name or the password cannot be used, or the file is damaged.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError("a name has up to 64 letters, digits and . _ @ + -")
    if len(password) < SHORTEST:
        raise ConfigurationError(f"a password needs {SHORTEST} characters or more; three or four words will do")
    held = read_users(path) if path.exists() else Users(secrets.token_hex(32), {})
    made = replace(held, hashes={**held.hashes, name: hash_password(password)})
    _write(path, made if role is None else replace(made, roles={**held.roles, name: role}))


def set_role(path: Path, name: str, role: Role) -> bool:
    """Let a person do more or less, from their next click on; gives whether they were there."""
    held = read_users(path)
    if name not in held.hashes:
        return False
    _write(path, replace(held, roles={**held.roles, name: role}))
    return True


def remove_user(path: Path, name: str) -> bool:
    """Remove a person, whose sessions end at once; gives whether they were there."""
    held = read_users(path)
    # With the role gone as well, somebody who gets the name later begins as an analyst.
    _write(
        path,
        replace(
            held,
            hashes={known: hashed for known, hashed in held.hashes.items() if known != name},
            roles={known: role for known, role in held.roles.items() if known != name},
        ),
    )
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


def _write(path: Path, users: Users) -> None:
    data: dict[str, Any] = {
        "secret": users.secret,
        "users": dict(sorted(users.hashes.items())),
        "roles": {name: role.value for name, role in sorted(users.roles.items())},
    }
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
