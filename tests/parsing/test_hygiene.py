"""Bad input gives a reason and never an exception; text in other Latin-script languages is readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotcache.errors import Abstain
from slotcache.parsing.hygiene import MAX_CHARACTERS, check


@pytest.mark.parametrize(
    "text",
    [
        "can I return this?",
        "line one\nline two\tand a tab\r\n",
        "café, señor, naïve, Łódź, İstanbul",
        "cafe\u0301",
        "¿dónde está mi pedido?",
        "tôi muốn đổi trả đơn hàng này được không ế",
        "“quoted” – it’s £5 or €5 or ₹500… ½ price™",
        "thanks 👍🏽 ❤️ 👨‍👩‍👧‍👦 🇺🇸 ✈️",
        "standard → express",
        "a" * MAX_CHARACTERS,
        "🫨" * 50,
        "???",
    ],
)
def test_hygiene_reads_what_people_type(text: str) -> None:
    assert check(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Abstain.EMPTY),
        (" \n\t ", Abstain.EMPTY),
        ("\u00a0\u2003", Abstain.EMPTY),
        ("a" * (MAX_CHARACTERS + 1), Abstain.TOO_LONG),
        ("x" * 1_000_000, Abstain.TOO_LONG),
        ("can\x00cel", Abstain.UNREADABLE),
        ("can\x1b[31mcel", Abstain.UNREADABLE),
        ("can\x85cel", Abstain.UNREADABLE),
        ("can\ud800cel", Abstain.UNREADABLE),
        ("can \u202ecel", Abstain.UNREADABLE),
        ("can\u200bcel", Abstain.UNREADABLE),
        ("can\u200dcel", Abstain.UNREADABLE),
        ("can\ufe0fcel", Abstain.UNREADABLE),
        ("can\u00adcel", Abstain.UNREADABLE),
        ("\ufeffcancel", Abstain.UNREADABLE),
        ("can\u2028cel", Abstain.UNREADABLE),
        ("\ue000cancel", Abstain.UNREADABLE),
        ("𝐜𝐚𝐧𝐜𝐞𝐥", Abstain.UNREADABLE),
        ("ｃａｎｃｅｌ", Abstain.UNREADABLE),
        ("ⓒancel", Abstain.UNREADABLE),
        ("🅲ancel", Abstain.UNREADABLE),
        ("ᴄᴀɴᴄᴇʟ", Abstain.UNREADABLE),
        ("ʇǝɔuɐɔ", Abstain.UNREADABLE),
        ("ﬁnd", Abstain.UNREADABLE),
        ("x²", Abstain.UNREADABLE),
        ("1️⃣ item", Abstain.UNREADABLE),
        ("c\u0335\u0321a\u0334n\u0338cel", Abstain.UNREADABLE),
        ("сancel", Abstain.UNREADABLE),
        ("cαncel", Abstain.UNREADABLE),
        ("сапсеl my order", Abstain.UNREADABLE),
        ("где мой заказ", Abstain.OTHER_LANGUAGE),
        ("我的订单在哪里", Abstain.OTHER_LANGUAGE),
        ("मेरा ऑर्डर कहाँ है", Abstain.OTHER_LANGUAGE),
        ("أين طلبي", Abstain.OTHER_LANGUAGE),
        ("refund चाहिए please", Abstain.OTHER_LANGUAGE),
        ("借りた本", Abstain.OTHER_LANGUAGE),
    ],
)
def test_hygiene_names_why_a_text_cannot_be_read(text: str, reason: Abstain) -> None:
    assert check(text) is reason


@given(
    st.text(max_size=200)
    | st.text(st.characters(min_codepoint=0x80), max_size=60)
    | st.text("\ud800\u200dӓa🅰", max_size=9)
)
def test_hygiene_judges_any_text(text: str) -> None:
    assert check(text) in (None, Abstain.EMPTY, Abstain.UNREADABLE, Abstain.OTHER_LANGUAGE)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=80))
def test_hygiene_reads_all_printable_ascii(text: str) -> None:
    assert check(text) is (None if text.strip() else Abstain.EMPTY)
