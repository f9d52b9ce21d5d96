"""English inflection of the phrases in a domain file: `cancel~` stands for every form of the word.

Over-generation is harmless here (a form that nobody types is never met), so the rules stay regular and only common
irregular verbs and nouns are listed.
"""

from __future__ import annotations

import re
from typing import Final

_IRREGULAR: Final = """
be am is are was were been being
bear bears bore borne bearing
become becomes became becoming
begin begins began begun beginning
break breaks broke broken breaking
bring brings brought bringing
build builds built building
burn burns burnt burned burning
buy buys bought buying
catch catches caught catching
choose chooses chose chosen choosing
come comes came coming
cut cuts cutting
deal deals dealt dealing
do does did done doing
draw draws drew drawn drawing
drive drives drove driven driving
fall falls fell fallen falling
find finds found finding
fly flies flew flown flying
forget forgets forgot forgotten forgetting
get gets got gotten getting
give gives gave given giving
go goes went gone going
have has had having
hear hears heard hearing
hit hits hitting
hold holds held holding
keep keeps kept keeping
know knows knew known knowing
lead leads led leading
leave leaves left leaving
lend lends lent lending
let lets letting
lose loses lost losing
make makes made making
mean means meant meaning
meet meets met meeting
pay pays paid payed paying
put puts putting
quit quits quitting
read reads reading
run runs ran running
say says said saying
see sees saw seen seeing
sell sells sold selling
send sends sent sending
set sets setting
show shows showed shown showing
shut shuts shutting
speak speaks spoke spoken speaking
spend spends spent spending
split splits splitting
stand stands stood standing
steal steals stole stolen stealing
stick sticks stuck sticking
swap swaps swapped swapping
take takes took taken taking
tear tears tore torn tearing
tell tells told telling
think thinks thought thinking
throw throws threw thrown throwing
understand understands understood understanding
wear wears wore worn wearing
withdraw withdraws withdrew withdrawn withdrawing
write writes wrote written writing
child children
foot feet
knife knives
life lives
man men
person persons people
shelf shelves
woman women
"""

_FORMS: Final[dict[str, tuple[str, ...]]] = {
    line.split()[0]: tuple(line.split()) for line in _IRREGULAR.strip().splitlines()
}
_DOUBLES = re.compile(r"[^aeiou][aeiou][bdgklmnprt]\Z")
_BRITISH_L = re.compile(r"[aeiou]l\Z")


def inflections(word: str) -> tuple[str, ...]:
    """Give every form of a base word, the word itself first.

    >>> inflections("cancel")
    ('cancel', 'cancels', 'canceled', 'canceling', 'cancelled', 'cancelling')
    >>> inflections("send")
    ('send', 'sends', 'sent', 'sending')
    """
    if word in _FORMS:
        return _FORMS[word]
    forms = [word]
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        forms.append(word + "es")
    if word.endswith("o") or not word.endswith(("s", "x", "z", "ch", "sh", "y")):
        forms.append(word + "s")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        stem = word[:-1]
        return tuple(dict.fromkeys([*forms, stem + "ies", stem + "ied", word + "ing"]))
    if word.endswith("y"):
        forms.append(word + "s")
    if word.endswith("ie"):
        return tuple(dict.fromkeys([*forms, word + "d", word[:-2] + "ying"]))
    if word.endswith("e"):
        return tuple(dict.fromkeys([*forms, word + "d", word[:-1] + "ing"]))
    doubled = word + word[-1]
    if _DOUBLES.search(word) and _syllables(word) == 1:
        forms += [doubled + "ed", doubled + "ing"]
    else:
        forms += [word + "ed", word + "ing"]
        if _BRITISH_L.search(word) or (_DOUBLES.search(word) and _syllables(word) == 2):
            forms += [doubled + "ed", doubled + "ing"]
    return tuple(dict.fromkeys(forms))


def _syllables(word: str) -> int:
    return len(re.findall(r"[aeiouy]+", word))
