"""Secrets of the configuration: kept as digests, compared in constant time.

API keys and tokens are long and random, so one round of SHA-256 is enough; a password that a person chose would need
more, and `hash_token` refuses what is as short as one.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from slotcache.errors import ConfigurationError

SHORTEST: Final = 16
"""Characters a secret must have."""

_FORM: Final = re.compile(r"sha256:[0-9a-f]{64}")


def hash_token(secret: str) -> str:
    """What stands for a secret in the configuration.

    Raises:
        ConfigurationError: the secret is too short to be safe behind one round of hashing.
    """
    if len(secret) < SHORTEST:
        raise ConfigurationError(f"a key or token needs {SHORTEST} characters or more, such as `openssl rand -hex 32`")
    return digest_of(secret.encode())


def digest_of(secret: bytes) -> str:
    """The digest of any bytes, in the form of the configuration."""
    return f"sha256:{hashlib.sha256(secret).hexdigest()}"


def is_hash(text: str) -> bool:
    """Whether a text is what `hash_token` gives."""
    return _FORM.fullmatch(text) is not None


def matches(secret: bytes, hashed: str) -> bool:
    """Whether a secret is the one behind a digest."""
    return hmac.compare_digest(digest_of(secret), hashed)
