"""Keeps personal data out of what is stored: a question as it may be written down, which is still read alike.

Personal data gives way to typed placeholders (`<order_number>`, `<email>`), and the reading that is stored is that of
the question with stand-ins in their place. Two order numbers must not become one key by that: where a key would hold
what was taken out, a digest of it, made with the operator's secret, is part of the address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

from slotcache.address import injective
from slotcache.parsing.types import Parse
from slotcache.records.redact import Redacted, Redactor, readable

_WORD_WITHIN: Final = re.compile(r"(?:(<name(?:_\d+)?>)|(?<=[^.!?\s]))\s+(?=([^\W\d_][\w'’-]*))")


@dataclass(frozen=True, slots=True)
class Concealed:
    """A reading that may be stored.

    Attributes:
        parse: The reading, without personal data.
        digest: What tells it from the same question about other data; empty when the key holds none of it.
        alike: Whether it is read as the question itself and holds nothing that may name somebody. Otherwise it is the
            reading as it was, and must not be stored.
    """

    parse: Parse
    digest: str = ""
    alike: bool = True


def conceal(parse: Parse, read: Callable[[str], Parse], redact: Redactor, secret: str) -> Concealed:
    """The reading of a question without its personal data.

    Args:
        parse: The reading as it is.
        read: Reads an utterance.
        redact: Finds personal data.
        secret: The operator's; without it nobody can try out which number a digest is of.
    """
    if not parse.text:
        return Concealed(parse, alike=not _holds_data(parse, redact))
    redacted = redact(parse.text)
    again = read(readable(redacted.text)) if redacted.kinds else parse
    if _may_name(redacted.text, again.residue):
        return Concealed(parse, alike=False)
    if not redacted.kinds:
        return Concealed(parse)
    if not _alike(parse, again, redacted):
        return Concealed(parse, alike=False)
    kept = injective(part for pair in _in_key(parse, redacted) for part in pair)
    digest = blake2b(kept, key=blake2b(secret.encode()).digest(), digest_size=20).hexdigest() if kept else ""
    return Concealed(replace(again, text=redacted.text, personal=parse.personal), digest)


def _holds_data(parse: Parse, redact: Redactor) -> bool:
    """Whether a key that somebody wrote holds what no stored key may."""
    redacted = redact(str(parse.key))
    return bool(redacted.kinds if parse.key is not None and parse.key.is_verbatim else redacted.references)


def _may_name(text: str, unknown: Collection[str]) -> bool:
    """Whether an unknown word may name somebody: within a sentence with a capital, or right behind a name."""
    return any(
        found[2].lower() in unknown and (bool(found[1]) or found[2][0].isupper())
        for found in _WORD_WITHIN.finditer(text)
    )


def _alike(parse: Parse, again: Parse, redacted: Redacted) -> bool:
    """Whether two readings differ in nothing but stand-ins for what was taken out."""
    if (parse.intent, parse.owner, parse.abstain, parse.fillable, parse.fingerprint) != (
        again.intent,
        again.owner,
        again.abstain,
        again.fillable,
        again.fingerprint,
    ):
        return False
    if parse.key is None or again.key is None or parse.key.is_verbatim:
        return (parse.key is None) == (again.key is None) and (again.key is None or again.key.is_verbatim)
    return redacted.key(parse.key, "") == again.key


def _in_key(parse: Parse, redacted: Redacted) -> Iterator[tuple[str, str]]:
    """What the key would hold of the personal data, each with the place where it stands."""
    if parse.key is None:
        return
    if parse.key.is_verbatim:
        yield from redacted.values
    else:
        yield from ((name, value) for name, value in parse.key.slots if value in redacted.references)
