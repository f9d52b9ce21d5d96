"""`slotcache reasons`: the catalogue of reasons, as `docs/reasons.md` holds it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from slotcache.errors import EXPLANATIONS, Abstain, Bypass, Miss, NotStored, Unsupported

_SECTIONS: Final[tuple[tuple[str, str, type[StrEnum]], ...]] = (
    ("Abstentions", "Why a question got no intent key. It is told in the parse as `abstain`.", Abstain),
    ("Misses", "Why a question with a key was not answered from the cache. The answer that follows may be kept.", Miss),
    ("Bypasses", "Why the cache took no part in a question: nothing was read and nothing is kept.", Bypass),
    ("Not stored", "Why the model's answer was handed to its asker and not kept.", NotStored),
    (
        "Unsupported requests",
        "Why a request that came through the proxy or an adapter is the bypass `request_unsupported`.",
        Unsupported,
    ),
)


def reasons() -> None:
    """Print every reason for which a question is not answered from the cache, and what each means."""
    print(render(), end="")


def render() -> str:
    """The catalogue in Markdown."""
    lines = [
        "# Reasons",
        "",
        "Every parse, outcome, metric and report names its reason by one of these ids. Ids never change meaning.",
        "This page is what `slotcache reasons` prints; the texts live in `slotcache/errors.py`.",
    ]
    for title, about, catalogue in _SECTIONS:
        lines += ["", f"## {title}", "", about, "", "| id | meaning |", "| --- | --- |"]
        lines += [f"| `{reason.value}` | {EXPLANATIONS[reason]} |" for reason in catalogue]
    return "\n".join(lines) + "\n"
