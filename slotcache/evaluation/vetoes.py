"""What each class of the guard costs on true paraphrases, so that safety never becomes silence unseen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slotcache.evaluation.blame import missed
from slotcache.evaluation.bounds import Proportion, proportion
from slotcache.evaluation.causes import Cause, Stage
from slotcache.evaluation.sight import Sight


@dataclass(frozen=True, slots=True)
class Veto:
    """One class of the guard.

    Attributes:
        name: A protected class, or another check of the guard (residue, several questions, ...).
        blocked: True paraphrases that it kept apart.
        alone: Those among them that nothing else kept apart.
        kept_apart: Pairs that must not meet and that it kept apart.
    """

    name: str
    blocked: Proportion
    alone: int
    kept_apart: Proportion

    def as_dict(self) -> dict[str, object]:
        """For JSON output."""
        return {
            "class": self.name,
            "blocked": self.blocked.as_dict(),
            "alone": self.alone,
            "kept_apart": self.kept_apart.as_dict(),
        }


def vetoes(
    same: Sequence[tuple[Sight, Sight]], different: Sequence[tuple[Sight, Sight]], *, classes: Iterable[str] = ()
) -> tuple[Veto, ...]:
    """What each class of the guard blocks, the costliest first.

    Args:
        same: Pairs that one answer serves, those that meet among them.
        different: Pairs that need different answers.
        classes: Protected classes of the domain, so that those which block nothing are shown, too.
    """
    costs = [_guards(a, b) for a, b in same]
    gains = [_guards(a, b) for a, b in different]
    names = {*classes, *(name for found, _ in (*costs, *gains) for name in found)}
    made = [
        Veto(
            name,
            proportion(sum(name in found for found, _ in costs), len(same)),
            sum(found == {name} and not others for found, others in costs),
            proportion(sum(name in found for found, _ in gains), len(different)),
        )
        for name in names
    ]
    return tuple(sorted(made, key=lambda veto: (-veto.blocked.count, -veto.kept_apart.count, veto.name)))


def _guards(a: Sight, b: Sight) -> tuple[set[str], bool]:
    """Classes of the guard that keep a pair apart, and whether something else does, too."""
    # Live questions of one key are kept apart by their owner, and equal words meet under a verbatim key.
    if a.parse.key is not None and a.parse.key == b.parse.key and a.parse.fingerprint == b.parse.fingerprint:
        return set(), False
    causes = missed(a, b)
    blocked = {name for cause in causes for name in _names(cause)}
    return blocked, any(not _names(cause) for cause in causes)


def _names(cause: Cause) -> tuple[str, ...]:
    if cause.stage is Stage.AGREEMENT:
        return ("agreement of the readers",)
    if cause.stage is not Stage.GUARD:
        return ()
    kind, _, classes = cause.name.partition(" ")
    return tuple(classes.split(" + ")) if kind in ("protected", "fingerprint") else (cause.name,)
