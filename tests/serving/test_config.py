from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from slotcache.errors import ConfigurationError
from slotcache.parsing.types import Owner
from slotcache.policy import Policy
from slotcache.serving.config import Rules
from slotcache.serving.config_files import read_settings
from slotcache.serving.tokens import hash_token, matches

HASH = hash_token("k" * 20)
YAML = f"""upstream:
  url: https://api.example/v1/
listen:
  port: 9000
callers:
  - name: bot
    tenant: acme
    key: {HASH}
chat:
  self_contained: true
  prompts:
    - name: main
      text: "Today is {{date}}."
rules:
  verbatim_owner: shared
  ttl: 60
"""
TOML = f"""
[upstream]
url = "https://api.example/v1/"

[listen]
port = 9000

[[callers]]
name = "bot"
tenant = "acme"
key = "{HASH}"

[chat]
self_contained = true

[[chat.prompts]]
name = "main"
text = "Today is {{date}}."

[rules]
verbatim_owner = "shared"
ttl = 60
"""


def write(folder: Path, text: str, kind: str = "yaml") -> Path:
    path = folder / f"proxy.{kind}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("kind", "text"), [("yaml", YAML), ("toml", TOML)])
def test_config_file_is_read(tmp_path: Path, kind: str, text: str) -> None:
    settings = read_settings(write(tmp_path, text, kind))
    policy = settings.policy()
    assert (settings.upstream.url, settings.listen.port) == ("https://api.example/v1", 9000)
    assert (policy.verbatim_owner, policy.ttl, policy.self_contained_context) == (Owner.SHARED, 60, True)
    assert [template.placeholders for template in policy.prompts] == [("date",)]


def test_config_flags_win_over_the_file(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, YAML), {"listen.port": 1, "listen.host": None, "rules.observe": True})
    assert (settings.listen.port, settings.listen.host, settings.rules.observe) == (1, "127.0.0.1", True)


def test_config_flags_are_enough() -> None:
    assert read_settings(None, {"upstream.url": "http://x/v1"}).unknown_callers is None


def test_config_rules_are_those_of_the_policy() -> None:
    elsewhere = {"self_contained_context", "points_back", "prompts"}
    assert set(Rules.model_fields) | elsewhere == {field.name for field in fields(Policy)}


def test_config_defaults_are_those_of_the_policy() -> None:
    assert read_settings(None, {"upstream.url": "http://x/v1"}).policy() == Policy()


WRONG: list[tuple[str, str, str]] = [
    ("yaml", "listen: {}\n", "{file}:1: upstream is missing; add it .or say --upstream URL."),
    ("yaml", "upstream:\n  url: example\n", "{file}:2: upstream.url: write a base URL"),
    (
        "yaml",
        "upstream:\n  url: http://x\n  conect: 3\n",
        "{file}:3: upstream.conect is not known; did you mean 'connect'",
    ),
    ("yaml", "upstream:\n  url: http://x\nlisten:\n  port: 70000\n", "{file}:4: listen.port: .* not 70000"),
    ("yaml", "upstream:\n  url: http://x\nrules:\n  ttl: 0\n", "{file}:4: rules.ttl"),
    ("yaml", "upstream:\n  url: http://x\nupstream:\n  url: http://y\n", "{file}:3: 'upstream' stands twice"),
    ("yaml", "upstream: [\n", "{file}: not valid YAML"),
    ("yaml", "- a\n", "{file}:1: expected names"),
    ("yaml", "", "{file}:1: expected names"),
    ("yaml", "upstream:\n  url: http://x\nadmin:\n  token: secret\n", "{file}:4: admin.token: .*--hash-key"),
    ("yaml", "upstream:\n  url: http://x\nadmin:\n  metrics: true\n", "{file}:3: admin: 'metrics' asks for a token"),
    (
        "yaml",
        "upstream:\n  url: http://x\ngateway:\n  customer_header: X-Customer\n",
        "{file}:3: gateway: X-Customer would be believed from anybody",
    ),
    (
        "yaml",
        f"upstream:\n  url: http://x\ncallers:\n- {{name: a, tenant: 'key:1', key: '{HASH}'}}\n",
        "{file}:4: callers.0.tenant: names that begin with 'key:'",
    ),
    (
        "yaml",
        "upstream:\n  url: http://x\ncallers:\n"
        f"- {{name: a, tenant: t, key: '{HASH}'}}\n- {{name: b, tenant: t, key: '{HASH}'}}\n",
        "{file}:3: callers: 'a' and 'b' have the same key",
    ),
    (
        "yaml",
        "upstream:\n  url: http://x\nchat:\n  prompts:\n  - {name: a, text: '{b}{c} x'}\n",
        "{file}:5: chat.prompts.0: prompt template 'a' has two placeholders",
    ),
    (
        "yaml",
        "upstream:\n  url: http://x\nchat:\n  prompts:\n  - {name: a, text: 'x {b}', trusted: [c]}\n",
        "{file}:5: chat.prompts.0: the text has no placeholder",
    ),
    ("toml", "[upstream]\nurl = 'http://x'\n[listen]\nport = -1\n", "{file}:4: listen.port"),
    ("toml", "[upstream]\nurl = 'http://x'\n[[callers]]\nname = 'a'\n", "{file}:3: callers.0.key is missing"),
    ("toml", "[upstream\n", "{file}: not valid TOML"),
]


@pytest.mark.parametrize(("kind", "text", "message"), WRONG)
def test_config_error_names_the_line_and_the_fix(tmp_path: Path, kind: str, text: str, message: str) -> None:
    path = write(tmp_path, text, kind)
    with pytest.raises(ConfigurationError, match="(?s)" + message.replace("{file}", str(path))) as caught:
        read_settings(path)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("flags", [{"listen.port": 70_000}, {"upstream.url": "ftp://x"}])
def test_config_error_of_a_flag_says_command_line(flags: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"^command line: "):
        read_settings(None, {"upstream.url": "http://x", **flags})


def test_config_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_settings(tmp_path / "none.yaml")


def test_config_secret_is_only_a_digest() -> None:
    assert matches(b"k" * 20, HASH)
    assert not matches(b"k" * 21, HASH)


def test_config_short_secret_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="16 characters"):
        hash_token("hunter2")


def test_config_printed_settings_hold_no_secret(tmp_path: Path) -> None:
    assert "k" * 20 not in json.dumps(read_settings(write(tmp_path, YAML)).model_dump(mode="json"))
