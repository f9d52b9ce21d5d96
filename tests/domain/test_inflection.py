"""Inflected forms: the base first, each once, the irregular ones right, nouns without verb forms."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.domain.inflection import inflections


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("cancel", "cancel cancels canceled cancelled canceling cancelling"),
        ("ship", "ship ships shipped shipping"),
        ("deliver", "deliver delivers delivered delivering"),
        ("transfer", "transfer transfers transferred transferring"),
        ("mail", "mail mails mailed mailing"),
        ("return", "return returns returned returning"),
        ("require", "require requires required requiring"),
        ("try", "try tries tried trying"),
        ("delay", "delay delays delayed delaying"),
        ("tie", "tie ties tied tying"),
        ("agree", "agree agrees agreed agreeing"),
        ("process", "process processes processed processing"),
        ("equip", "equip equips equipped equipping"),
        ("organise", "organise organises organised organising"),
        ("favor", "favor favors favored favoring"),
        ("buy", "buy buys bought buying"),
        ("pay", "pay pays paid payed paying"),
        ("be", "be am is are was were been being"),
        ("freeze", "freeze freezes froze frozen freezing"),
        ("resend", "resend resends resent resending"),
        ("overpay", "overpay overpays overpaid overpayed overpaying"),
        ("withhold", "withhold withholds withheld withholding"),
        ("resell", "resell resells resold reselling"),
        ("preorder", "preorder preorders preordered preordering"),
        ("reship", "reship reships reshipped reshipping"),
        ("payment", "payment payments"),
        ("voucher", "voucher vouchers"),
        ("policy", "policy policies"),
        ("fee", "fee fees"),
        ("box", "box boxes boxed boxing"),
        ("photo", "photo photos photoes"),
        ("knife", "knife knives"),
        ("person", "person persons people"),
        ("wug", "wug wugs wugged wugging"),
    ],
)
def test_inflection_gives_every_form(word: str, forms: str) -> None:
    assert " ".join(inflections(word)) == forms


@given(st.text(string.ascii_lowercase, min_size=1, max_size=12))
def test_inflection_puts_the_base_first_and_repeats_nothing(word: str) -> None:
    forms = inflections(word)
    assert forms[0] == word
    assert len(set(forms)) == len(forms)


@given(st.text(string.ascii_lowercase, min_size=3, max_size=12))
def test_inflection_makes_words_only(word: str) -> None:
    assert all(form.isalpha() and form.islower() for form in inflections(word))
