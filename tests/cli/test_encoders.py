from __future__ import annotations

import pytest

from slotcache.cli.encoders import open_encoder


def test_encoders_no_model_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert open_encoder("a_domain_without_a_model") is None
    assert "no cosine cache to compare with: no model for the domain" in capsys.readouterr().err
