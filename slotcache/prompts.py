"""The system prompt's part in an address: the fingerprint of what is stable in it.

Real bots write the date, the customer's name or retrieved passages into the system prompt. The operator names either
a version or a template whose placeholders stand for those parts; then only the stable part enters the address:

>>> template = PromptTemplate("bot", "You help Acme's customers. Today is {date}. Plan: {plan}.", significant={"plan"})
>>> monday = template.read("You help Acme's customers. Today is Monday. Plan: gold.")
>>> friday = template.read("You help Acme's customers. Today is Friday. Plan: gold.")
>>> monday.fingerprint == friday.fingerprint, friday.varying
(True, ('Friday',))

A prompt that nobody declared enters as it is, while it is always the same text. One that varies would give every
request an address of its own, so it is a bypass; `PromptMemory` notices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from slotcache.address import Scope, digest
from slotcache.errors import ConfigurationError

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_TENANTS: Final = 1024
_REMEMBERED: Final = 8


@dataclass(frozen=True, slots=True)
class PromptReading:
    """What a system prompt contributes to an address.

    Attributes:
        fingerprint: The stable part, with its kind in front; empty without a prompt.
        varying: What was found in the placeholders that do not enter the fingerprint.
        declared: Whether the operator vouches for the fingerprint.
    """

    fingerprint: str = ""
    varying: tuple[str, ...] = ()
    declared: bool = True


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A system prompt with `{placeholders}` for the parts that differ from request to request.

    Attributes:
        name: What reports call it.
        text: The prompt. Doubled braces stand for single ones.
        significant: Placeholders whose value changes the answers and therefore enters the fingerprint.

    Raises:
        ConfigurationError: a placeholder repeats, touches the next one, or `significant` names none of them.
    """

    name: str
    text: str
    significant: frozenset[str] = frozenset()
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "significant", frozenset(self.significant))
        pieces = _PLACEHOLDER.split(self.text.replace("{{", "\x00").replace("}}", "\x01"))
        names, literals = pieces[1::2], pieces[0::2]
        if len(set(names)) != len(names):
            raise ConfigurationError(f"prompt template {self.name!r} uses a placeholder twice")
        if not self.significant <= set(names):
            raise ConfigurationError(f"prompt template {self.name!r} has no {sorted(self.significant - set(names))}")
        if not all(literals[1:-1]):
            raise ConfigurationError(f"prompt template {self.name!r} has two placeholders with nothing between them")
        if not any(literal.strip() for literal in literals):
            raise ConfigurationError(f"prompt template {self.name!r} has no stable part")
        escaped = [re.escape(literal.replace("\x00", "{").replace("\x01", "}")) for literal in literals]
        parts = [f"(?P<{name}>.*?){literal}" for name, literal in zip(names, escaped[1:], strict=True)]
        object.__setattr__(self, "_pattern", re.compile(escaped[0] + "".join(parts), re.DOTALL))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the placeholders, in order."""
        return tuple(self._pattern.groupindex)

    def values(self, prompt: str) -> dict[str, str] | None:
        """What stands in the placeholders, or None when the prompt does not follow this template."""
        found = self._pattern.fullmatch(prompt)
        return found.groupdict() if found is not None else None

    def read(self, prompt: str) -> PromptReading | None:
        """What the prompt contributes, or None when it does not follow this template."""
        values = self.values(prompt)
        if values is None:
            return None
        kept = [part for name in sorted(self.significant) for part in (name, values[name])]
        varying = tuple(value for name, value in values.items() if name not in self.significant and value)
        return PromptReading(f"template:{digest(self.text, *kept)}", varying)


def read_prompt(scope: Scope, templates: Iterable[PromptTemplate] = ()) -> PromptReading:
    """What the prompt of a request contributes to its address.

    A version wins over a template, a template over the text itself.
    """
    if scope.prompt_version is not None:
        return PromptReading(f"version:{scope.prompt_version}", scope.varying)
    if not scope.prompt:
        return PromptReading("", scope.varying)
    for template in templates:
        reading = template.read(scope.prompt)
        if reading is not None:
            return PromptReading(reading.fingerprint, reading.varying + scope.varying)
    return PromptReading(f"text:{digest(scope.prompt)}", scope.varying, declared=False)


class PromptMemory:
    """Notices undeclared prompts that vary, in bounded memory.

    A tenant's prompts vary while more than `allowed` different ones were seen within `window` seconds. Once a new
    constant prompt has replaced the old one for that long, it counts as constant again. What is forgotten or not seen
    by another process costs hits, never correctness: an undeclared prompt enters the address as a whole.
    """

    def __init__(self, *, allowed: int = 1, window: float = 3600.0) -> None:
        self._allowed = allowed
        self._window = window
        self._seen: dict[str, dict[str, float]] = {}
        self._lock = Lock()

    def varies(self, tenant: str, fingerprint: str, now: float) -> bool:
        """Note that a tenant sent this prompt at `now`, and say whether its prompts vary."""
        with self._lock:
            seen = self._seen.setdefault(tenant, {})
            seen.pop(fingerprint, None)
            seen[fingerprint] = now
            for other in [other for other, at in seen.items() if abs(now - at) >= self._window]:
                del seen[other]
            while len(seen) > max(_REMEMBERED, self._allowed + 1):
                del seen[next(iter(seen))]
            while len(self._seen) > _TENANTS:
                del self._seen[next(iter(self._seen))]
            return len(seen) > self._allowed
