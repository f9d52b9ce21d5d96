"""What is asked of every cache: the project's gate pairs, and questions that fill a store to any size.

Every filling question names a colour, a thing and a town. No question of the gate does, so whatever is served for a
question of the gate when nothing else is stored is wrong.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ASKED: Final = 300
"""Lookups of each kind at each size."""

_FRAMES: Final = (
    "is the {colour} {thing} in stock in {town}",
    "do you deliver the {colour} {thing} to {town}",
    "can I pick up a {colour} {thing} in {town} today",
    "what does a {colour} {thing} cost in {town}",
    "how heavy is the {colour} {thing} they sell in {town}",
    "does the shop in {town} repair a {colour} {thing}",
    "who in {town} can put together my {colour} {thing}",
    "will the {colour} {thing} come back to the {town} store",
    "how long does the {colour} {thing} take to reach {town}",
    "is there a display model of the {colour} {thing} in {town}",
)
COLOURS: Final = (
    "red blue green yellow black white grey brown pink purple orange beige navy silver golden cream teal olive maroon "
    "turquoise"
)
THINGS: Final = (
    "kettle sofa lamp rug mirror desk chair bookcase wardrobe toaster blender bicycle tent rucksack saucepan teapot "
    "vase clock cushion curtain blanket pillow mattress stool bench shelf cabinet fan heater iron jacket scarf hat "
    "glove boot sandal umbrella suitcase wallet watch guitar drum keyboard monitor printer camera tripod speaker "
    "headset drone"
)
TOWNS: Final = "Leeds Bristol Cardiff Belfast Glasgow Norwich Exeter Durham Lincoln Swansea Dundee Oxford"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions and whether one answer serves both."""

    file: str
    a: str
    b: str
    same: bool


def gate_pairs(files: list[Path], *, most: int | None = None) -> list[Pair]:
    """The pairs of some files; of each only the first `most`, when that is given."""
    pairs = []
    for path in files:
        lines = [line for line in path.read_text("utf-8").split("\n") if line]
        rows = (json.loads(line) for line in lines[:most])
        pairs += [Pair(path.name, row["a"], row["b"], row["same"]) for row in rows]
    return pairs


def filling(number: int) -> list[str]:
    """So many different questions that no gate question asks; the same ones in every run.

    Raises:
        ValueError: there are not so many.
    """
    made = [
        frame.format(colour=colour, thing=thing, town=town)
        for frame, colour, thing, town in itertools.product(_FRAMES, COLOURS.split(), THINGS.split(), TOWNS.split())
    ]
    if number > len(made):
        raise ValueError(f"{number} entries are too many: there are {len(made)} different filling questions")
    random.Random(7).shuffle(made)
    return made[:number]


def never_stored(pairs: list[Pair], sizes: int) -> list[list[str]]:
    """For each size `ASKED` questions of the gate, all different.

    Raises:
        ValueError: the pairs hold too few questions for so many sizes.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.a, pair.b)))
    if len(texts) < ASKED * sizes:
        raise ValueError(f"{len(texts)} different questions are too few for {sizes} sizes")
    random.Random(11).shuffle(texts)
    return [texts[at : at + ASKED] for at in range(0, ASKED * sizes, ASKED)]


def fingerprint(pairs: list[Pair], sizes: list[int], model: Path) -> str:
    """Changes when what is measured changes, so that figures of different workloads are never put side by side."""
    parts = hashlib.sha256()
    for part in _parts(pairs, sizes, model):
        parts.update(part.encode() + b"\0")
    return parts.hexdigest()[:16]


def _parts(pairs: list[Pair], sizes: list[int], model: Path) -> Iterator[str]:
    yield from (json.dumps([pair.file, pair.a, pair.b, pair.same]) for pair in pairs)
    yield from filling(max(sizes))[:100]
    yield json.dumps([sizes, ASKED])
    encoder: dict[str, Any] = json.loads((model / "manifest.json").read_text("utf-8"))["encoder"]
    yield hashlib.sha256((model / encoder["graph"]).read_bytes()).hexdigest()
