"""Contractions and run-together words of spoken and typed English, with and without their apostrophes.

Only spellings that can mean one thing stand here: `well`, `hell`, `were`, `wed`, `ill` and `id` are words of their own
and are opened up only beside a word that decides (`id like`, `ill be`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NEGATED: Final = "do does did is are was were has have had could should would must need might dare ought"

_OTHER: Final = """
can't: can not
cannot: can not
won't: will not
shan't: shall not
ain't: is not
i'm: i am
i've: i have
you're: you are
you've: you have
you'll: you will
you'd: you would
he's: he is
it's: it is
it'll: it will
it'd: it would
we've: we have
they're: they are
they've: they have
they'll: they will
they'd: they would
that's: that is
that'll: that will
this's: this is
there's: there is
here's: here is
what's: what is
what're: what are
where's: where is
when's: when is
who's: who is
how's: how is
why's: why is
would've: would have
could've: could have
should've: should have
must've: must have
might've: might have
y'all: you all
ya'll: you all
d'you: do you
c'mon: come on
o'clock: oclock
ma'am: maam
"""
"""Each line also stands for its spelling without the apostrophe."""

_ONLY_AS_WRITTEN: Final = """
she's: she is
shes: she is
let's: let us
i'll: i will
i'd: i would
we'll: we will
we're: we are
we'd: we would
'em: them
'til: until
'cause: because
n't: not
nt: not
's: is
've: have
're: are
'll: will
'm: am
'd: would
gonna: going to
wanna: want to
gotta: got to
hafta: have to
tryna: trying to
imma: i am going to
ima: i am going to
gimme: give me
lemme: let me
dunno: do not know
innit: is not it
kinda: kind of
sorta: sort of
outta: out of
shoulda: should have
coulda: could have
woulda: would have
w/o: without
w/: with
"""


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for verb in _NEGATED.split():
        table[f"{verb}n't"] = table[f"{verb}nt"] = f"{verb} not"
    for block, drop in ((_OTHER, True), (_ONLY_AS_WRITTEN, False)):
        for line in block.strip().splitlines():
            short, _, long = line.partition(": ")
            table[short] = long
            if drop:
                table[short.replace("'", "")] = long
    return table


CONTRACTIONS: Final[Mapping[str, str]] = _table()
"""Lower-case spelling -> the words it stands for, separated by spaces."""

CLITICS: Final[tuple[str, ...]] = ("n't", "'s", "'ve", "'re", "'ll", "'m", "'d")
"""Endings that are words of their own behind any word ("the parcel'll", "my order's")."""

_SUBJECTS: Final = ("i", "you", "he", "she", "it", "we", "they", "that", "what", "where", "who", "how", "there", "here")
_LIKE: Final = ("like", "love", "prefer", "rather", "appreciate")
_BE: Final = ("be", "have", "need", "get", "just", "take", "pay", "wait", "never", "only", "not")


def _pairs() -> dict[tuple[str, str], tuple[str, ...]]:
    pairs: dict[tuple[str, str], tuple[str, ...]] = {}
    for verb in (*_NEGATED.split(), "ca", "can", "wo"):
        full = {"ca": "can", "wo": "will"}.get(verb, verb)
        for head in {f"{verb}n", verb} if verb == "can" else {f"{verb}n"}:
            pairs[head, "t"] = (full, "not")
    for subject in _SUBJECTS:
        # "i d" and "we d" are letters spelled out as often as they are contractions.
        pairs[subject, "ll"] = (subject, "will")
        pairs[subject, "ve"] = (subject, "have")
        if subject in ("you", "we", "they"):
            pairs[subject, "re"] = (subject, "are")
        elif subject != "i":
            pairs[subject, "s"] = (subject, "is")
    pairs["i", "m"] = ("i", "am")
    for verb in _LIKE:
        pairs["id", verb] = ("i", "would", verb)
        pairs["wed", verb] = ("we", "would", verb)
    for verb in ("be", "need", "want"):
        pairs["id", verb] = ("i", "would", verb)
    for verb in _BE:
        pairs["ill", verb] = ("i", "will", verb)
    return pairs


PAIRS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = _pairs()
"""Two neighbouring words that are one contraction typed apart ("don t", "i m"), or that decide one ("id like")."""
