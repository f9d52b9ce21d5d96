"""English inflection of the phrases in a domain file: `cancel~` stands for every form of the word.

British and American spellings both stand ("cancelled", "canceled"). Regular forms are made by rule and then checked
against English: a noun that nobody uses as a verb gets its plural only, because every needless form is one more word
that a misspelling could be taken for. Words that the English list lacks get every form.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from slotcache.parsing.english import english_words

_IRREGULAR: Final = """
arise arises arose arisen arising
awake awakes awoke awoken awaking
be am is are was were been being
bear bears bore borne bearing
become becomes became becoming
begin begins began begun beginning
bend bends bent bending
bet bets betting
bid bids bidding
bind binds bound binding
bite bites bit bitten biting
bleed bleeds bled bleeding
blow blows blew blown blowing
break breaks broke broken breaking
bring brings brought bringing
broadcast broadcasts broadcasted broadcasting
build builds built building
burn burns burnt burned burning
burst bursts bursting
buy buys bought buying
can could
catch catches caught catching
choose chooses chose chosen choosing
cling clings clung clinging
come comes came coming
cost costs costed costing
creep creeps crept creeping
cut cuts cutting
deal deals dealt dealing
dig digs dug digging
do does did done doing
draw draws drew drawn drawing
dream dreams dreamed dreamt dreaming
drink drinks drank drunk drinking
drive drives drove driven driving
eat eats ate eaten eating
fall falls fell fallen falling
feed feeds fed feeding
feel feels felt feeling
fee fees
fight fights fought fighting
find finds found finding
fit fits fitted fitting
fly flies flew flown flying
forbid forbids forbade forbidden forbidding
forget forgets forgot forgotten forgetting
forgive forgives forgave forgiven forgiving
freeze freezes froze frozen freezing
get gets got gotten getting
give gives gave given giving
go goes went gone going
grind grinds ground grinding
grow grows grew grown growing
hang hangs hung hanged hanging
have has had having
hear hears heard hearing
hide hides hid hidden hiding
hit hits hitting
hold holds held holding
hurt hurts hurting
input inputs inputted inputting
keep keeps kept keeping
kneel kneels knelt kneeling
know knows knew known knowing
lay lays laid laying
lead leads led leading
lean leans leaned leant leaning
learn learns learned learnt learning
leave leaves left leaving
lend lends lent lending
let lets letting
lie lies lied lay lain lying
light lights lit lighted lighting
lose loses lost losing
make makes made making
may might
mean means meant meaning
meet meets met meeting
must
panic panics panicked panicking
pay pays paid payed paying
prove proves proved proven proving
put puts putting
queue queues queued queuing queueing
quit quits quitting
quiz quizzes quizzed quizzing
read reads reading
ride rides rode ridden riding
ring rings rang rung ringing
rise rises rose risen rising
run runs ran running
saw saws sawed sawn sawing
say says said saying
see sees saw seen seeing
seek seeks sought seeking
sell sells sold selling
send sends sent sending
set sets setting
sew sews sewed sewn sewing
shake shakes shook shaken shaking
shall should
shine shines shone shined shining
shoot shoots shot shooting
show shows showed shown showing
shrink shrinks shrank shrunk shrunken shrinking
shut shuts shutting
sing sings sang sung singing
sink sinks sank sunk sinking
sit sits sat sitting
sleep sleeps slept sleeping
slide slides slid sliding
smell smells smelled smelt smelling
speak speaks spoke spoken speaking
speed speeds sped speeded speeding
spell spells spelled spelt spelling
spend spends spent spending
spill spills spilled spilt spilling
spin spins spun spinning
split splits splitting
spoil spoils spoiled spoilt spoiling
spread spreads spreading
spring springs sprang sprung springing
stand stands stood standing
steal steals stole stolen stealing
stick sticks stuck sticking
sting stings stung stinging
strike strikes struck striking
string strings strung stringing
swap swaps swapped swapping
sweep sweeps swept sweeping
swell swells swelled swollen swelling
swim swims swam swum swimming
swing swings swung swinging
take takes took taken taking
teach teaches taught teaching
tear tears tore torn tearing
tell tells told telling
think thinks thought thinking
throw throws threw thrown throwing
thrust thrusts thrusting
understand understands understood understanding
wake wakes woke waked woken waking
wear wears wore worn wearing
weave weaves wove woven weaving
weep weeps wept weeping
wet wets wetted wetting
will would
win wins won winning
wind winds wound winding
withdraw withdraws withdrew withdrawn withdrawing
write writes wrote written writing
calf calves
child children
criterion criteria
datum data
foot feet
goose geese
half halves
knife knives
leaf leaves
life lives
loaf loaves
man men
medium media
mouse mice
person persons people
scarf scarves scarfs
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
"""

_FORMS: Final[dict[str, tuple[str, ...]]] = {
    line.split()[0]: tuple(line.split()) for line in _IRREGULAR.strip().splitlines()
}
_PREFIXES: Final = ("re", "un", "over", "under", "mis", "out", "pre", "with", "up")
"""Prefixes that leave an irregular verb irregular: "resend", "withhold", "overpay"."""

_DOUBLES: Final = re.compile(r"(?:[^aeiou]|qu)[aeiou][bdgklmnprt]\Z")
_SIBILANT: Final = ("s", "x", "z", "ch", "sh")


@lru_cache(maxsize=8_192)
def inflections(word: str) -> tuple[str, ...]:
    """Give every form of a base word, the word itself first.

    >>> inflections("cancel")
    ('cancel', 'cancels', 'canceled', 'cancelled', 'canceling', 'cancelling')
    >>> inflections("resend")
    ('resend', 'resends', 'resent', 'resending')
    >>> inflections("payment")
    ('payment', 'payments')
    """
    if word in _FORMS:
        return _FORMS[word]
    for prefix in _PREFIXES:
        stem = word.removeprefix(prefix)
        if stem != word and (stem in _FORMS or (_is_verb(stem) and not _is_verb(word))):
            return tuple(prefix + form for form in inflections(stem))
    return tuple(dict.fromkeys([word, *_with_s(word), *_used(word, _past(word)), *_used(word, _progressive(word))]))


def _with_s(word: str) -> tuple[str, ...]:
    """Plural and third person."""
    if _ends_in_consonant_y(word):
        return (word[:-1] + "ies",)
    if word.endswith("o"):
        return (word + "s", word + "es")
    return (word + "es",) if word.endswith(_SIBILANT) else (word + "s",)


def _past(word: str) -> tuple[str, ...]:
    if _ends_in_consonant_y(word):
        return (word[:-1] + "ied",)
    if word.endswith("e"):
        return (word + "d",)
    return tuple(stem + "ed" for stem in _stems(word))


def _progressive(word: str) -> tuple[str, ...]:
    if word.endswith("ie"):
        return (word[:-2] + "ying",)
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return (word[:-1] + "ing",)
    return tuple(stem + "ing" for stem in _stems(word))


def _stems(word: str) -> tuple[str, ...]:
    """The word, the word with its last letter doubled, or both where usage or stress decides."""
    if not _DOUBLES.search(word) or word.endswith("or"):
        return (word,)
    doubled = word + word[-1]
    return (doubled,) if len(re.findall("[aeiouy]+", word)) == 1 else (word, doubled)


def _is_verb(word: str) -> bool:
    """Whether English uses the word as a verb; American spellings are looked up in British."""
    british = word[:-2] + "our" if word.endswith("or") else word
    return any(form in english_words() for verb in {word, british} for form in (*_past(verb), *_progressive(verb)))


def _used(word: str, forms: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the forms that are English; all of them for a word that varies ("cancelled") or that the list lacks."""
    english = english_words()
    if not _is_verb(word):
        return () if word in english else forms
    known = tuple(form for form in forms if form in english)
    return known if known and not word.endswith("l") else forms


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2:-1] not in tuple("aeiou")
