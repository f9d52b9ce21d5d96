"""The training text, as the engine reads it; see `slotcache.learning.corpus`."""

from slotcache.learning.corpus import (
    CALIBRATION,
    FIT,
    OUT_OF_SCOPE_FILE,
    OUTSIDE_KINDS,
    TEST,
    Corpus,
    Utterance,
    check,
    examples,
    load,
)

__all__ = [
    "CALIBRATION",
    "FIT",
    "OUTSIDE_KINDS",
    "OUT_OF_SCOPE_FILE",
    "TEST",
    "Corpus",
    "Utterance",
    "check",
    "examples",
    "load",
]
