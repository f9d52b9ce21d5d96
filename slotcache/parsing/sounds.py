"""Digits typed for words of the same sound: "send it back 2 u", "do i hav 2 pay 4 a replacement".

A number that is lost would turn an answer, so a digit becomes a word only where no number can stand: before a
pronoun, an article or a bare verb. A rate ("2 a day") and a time that follows a number ("i bought 4 the other day")
stay numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from slotcache.parsing.cardinals import STARTS

_SOUNDS: Final = {"2": "to", "4": "for"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRONOUNS: Final = _words("u you me my ur your him her them")
_ARTICLES: Final = _words("a an the another any something somethin smth someone sumone somebody")
_NO_ARTICLE_BEFORE: Final = _words(
    "day days night week weekend month year hour minute person piece pack box order other next same first last "
    "following"
)
_BEFORE_VERBS: Final = _words(
    "able allowed supposed trying going how have hav hv has having had need needs needed want wants wanted like "
    "got used  required obliged wish hoping hope easy possible ok okay ready way ways where what who when is"
)
_VERBS: Final = _words(
    "add apply arrange ask be become book bring buy call cancel change check choose claim close collect come "
    "complain  contact create delete do edit enter exchange fill find get give go have keep know leave log login "
    "make message move  open order pay pick post print prove provide put receive refund register remove replace "
    "report reset return say see  send ship show sign speak start stop swap take talk tell track transfer try "
    "update upgrade use wait work write"
)
_BEFORE_OBJECTS: Final = _words("wait waiting pay paying paid ask asking look looking charge charged refund send sent")
_OBJECTS: Final = _words("it this that these those")


def sound_of(digit: str, before: str, following: Sequence[str]) -> str:
    """The word that a digit stands for between its neighbours, or the digit itself.

    Args:
        digit: "2" or "4".
        before: The normalised word before it; empty at the start.
        following: The pieces behind it, nearest first.
    """
    after, then = (*following, "", "")[:2]
    article = after in _ARTICLES and then.isalpha() and then not in _NO_ARTICLE_BEFORE and then not in STARTS
    verb = digit == "2" and before in _BEFORE_VERBS and after in _VERBS
    paid = digit == "4" and before in _BEFORE_OBJECTS and after in _OBJECTS
    return _SOUNDS[digit] if after in _PRONOUNS or article or verb or paid else digit
