from __future__ import annotations

from pathlib import Path

from slotcache.cli.reasons import render


def test_reasons_page_is_what_the_command_prints(invoke) -> None:
    page = Path(__file__).parent.parent.parent / "docs" / "reasons.md"
    assert invoke("reasons").stdout == page.read_text(encoding="utf-8") == render()
