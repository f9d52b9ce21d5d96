"""Every example runs as it is and shows what it says; LiteLLM's runs with the checks of its adapter."""

from __future__ import annotations

import gc
import runpy
from pathlib import Path

import pytest
from langchain_core.globals import set_llm_cache

from slotcache.parsing.parser import Parser
from slotcache.serving.config_files import read_settings

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser.load()


@pytest.mark.e2e
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "hits"),
    [
        ("decorator.py", "hit (learned)"),
        ("openai_client.py", "hit (learned)"),
        ("langchain_cache.py", "'hit.learned': 1"),
    ],
)
def test_examples_run_and_hit(
    name: str, hits: str, parser: Parser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    # Loading the shipped domain takes seconds, and all of them load the same.
    monkeypatch.setattr(Parser, "load", lambda: parser)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    finally:
        set_llm_cache(None)
        # Examples leave open what ends with their process; that must not turn up as a warning in another test.
        gc.collect()
    assert hits in capsys.readouterr().out


def test_examples_configuration_is_valid() -> None:
    settings = read_settings(EXAMPLES / "proxy.yaml")
    assert settings.policy().prompts[0].placeholders == ("date", "name", "plan", "articles")
