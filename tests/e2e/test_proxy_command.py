"""`slotcache serve` as a process: start, signals, and the bot that the whole thing is for."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from slotcache.serving.tokens import hash_token
from tests.e2e.servers import endpoint_at
from tests.serving.harness import KEY, Endpoint, outcome, text_of

pytestmark = pytest.mark.e2e
COMMAND = str(Path(sys.executable).with_name("slotcache"))
TOKEN = "operators-token-0123"
LIBRARY = """
name: library
extends: english
concepts:
  renew: [renew~, extend~]
  book: [book~, novel~]
  fine: [fine~, late fee~]
slots:
  timing:
    about: Before or after the due date.
    protects: order
    values:
      before_due: ["before|until the? due date"]
      after_due: ["after|past the? due date"]
intents:
  renew_loan:
    about: Keeping something longer
    frames: [renew book]
    slots:
      aspect: {values: [eligibility, how], default: how, merge: {yesno: eligibility}}
      timing:
  fines:
    about: What being late costs
    frames: [fine]
    slots:
      aspect: {values: [cost, how], default: cost}
"""


class Process:
    """A proxy that runs as a process of its own."""

    def __init__(self, config: Path) -> None:
        command = [COMMAND, "serve", "--config", str(config)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
        self.log: list[str] = []
        self.url = self._address()

    def _address(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.log.append(line)
            found = re.search(r'"address": "([^"]+)"', line)
            if found:
                return f"http://{found[1]}"
        raise AssertionError("".join(self.log))

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        assert self._process.stderr is not None
        if not self._process.stderr.closed:
            self.log += self._process.stderr.readlines()
            self._process.stderr.close()
        return self._process.wait(timeout=20)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self.wait()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    with endpoint_at(made) as url:
        made.url = url  # type: ignore[attr-defined]
        yield made


@pytest.fixture
def run(tmp_path: Path, endpoint: Endpoint) -> Iterator[Callable[..., Process]]:
    made: list[Process] = []

    def start(**settings: Any) -> Process:
        domain = tmp_path / "library.yaml"
        domain.write_text(LIBRARY, encoding="utf-8")
        config = tmp_path / "proxy.yaml"
        plain = {
            "upstream": {"url": endpoint.url},  # type: ignore[attr-defined]
            "domain": str(domain),
            "store": str(tmp_path / "answers.sqlite3"),
            "admin": {"token": hash_token(TOKEN)},
            **settings,
            "listen": {"port": 0, **settings.get("listen", {})},
        }
        config.write_text(json.dumps(plain), encoding="utf-8")
        made.append(Process(config))
        return made[-1]

    yield start
    for process in made:
        process.end()


def client(process: Process) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx.AsyncClient(base_url=process.url, headers=headers, timeout=20.0)


async def chat(bot: httpx.AsyncClient, messages: list[dict[str, str]], **fields: Any) -> httpx.Response:
    return await bot.post("/v1/chat/completions", json={"model": "m", "messages": messages, **fields})


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


async def converse(bot: httpx.AsyncClient, prompt: str, *questions: str) -> list[httpx.Response]:
    """A chat that resends everything that was said, as bots do."""
    messages = [{"role": "system", "content": prompt}]
    responses = []
    for question in questions:
        messages.append(user(question))
        responses.append(await chat(bot, messages, stream=len(messages) % 4 == 0))
        messages.append({"role": "assistant", "content": text_of(responses[-1])})
    return responses


TEMPLATE = "You help the readers of our library. Today is {date}. You talk to {name}."
OPENERS = ("hi", "what is the late fee?", "how do i renew a novel?", "thanks")


async def test_serve_five_turn_chat_with_date_and_name_in_the_prompt_hits_safely(
    run: Callable[..., Process], endpoint: Endpoint
) -> None:
    endpoint.script.answer = lambda asked: f"Answer to {asked['messages'][-1]['content']!r}."
    chat_settings = {"self_contained": True, "prompts": [{"name": "desk", "text": TEMPLATE}]}
    process = run(chat=chat_settings)
    anna = TEMPLATE.format(date="Monday, 30 November 2026", name="Anna Lee")
    carl = TEMPLATE.format(date="Tuesday, 1 December 2026", name="Carl")
    async with client(process) as bot:
        first = await converse(bot, anna, *OPENERS, "can i extend a book after the due date?")
        second = await converse(bot, carl, *OPENERS, "hey, is it possible to renew my novel past the due date please")
        third = await converse(bot, carl, *OPENERS, "can i renew a book before the due date?")
    assert outcome(first[-1]) == ("miss", "not_found")
    assert outcome(second[-1]) == ("hit", "learned")
    assert text_of(second[-1]) == text_of(first[-1])
    # One qualifier changed: the same chat, and another question.
    assert outcome(third[-1]) == ("miss", "not_found")


async def test_serve_chat_whose_answers_name_the_customer_shares_nothing(
    run: Callable[..., Process], endpoint: Endpoint
) -> None:
    endpoint.script.answer = lambda asked: f"Sure, {asked['messages'][0]['content'].split()[-1]}"
    process = run(chat={"self_contained": True, "prompts": [{"name": "desk", "text": TEMPLATE}]})
    async with client(process) as bot:
        told = [
            (await converse(bot, TEMPLATE.format(date="Monday", name=name), "can i renew a book?"))[0]
            for name in ("Anna", "Carl")
        ]
    assert [(outcome(response)[0], text_of(response)) for response in told] == [
        ("miss", "Sure, Anna."),
        ("miss", "Sure, Carl."),
    ]


async def test_serve_answers_outlive_the_process(run: Callable[..., Process]) -> None:
    process = run()
    async with client(process) as bot:
        await chat(bot, [user("can i renew a book?")])
    process.signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM
    async with client(run()) as bot:
        assert outcome(await chat(bot, [user("may i extend a novel?")])) == ("hit", "learned")


async def test_serve_stop_lets_requests_finish_and_says_no_to_new_ones_first(
    run: Callable[..., Process], endpoint: Endpoint
) -> None:
    endpoint.script.delay = 1.0
    process = run(listen={"drain": 0.7})
    async with client(process) as bot:
        asked = asyncio.create_task(chat(bot, [user("can i renew a book?")]))
        while not endpoint.seen:
            await asyncio.sleep(0.01)
        process.signal(signal.SIGTERM)
        async with asyncio.timeout(5):
            while (await bot.get("/readyz")).status_code == 200:
                await asyncio.sleep(0.01)
        assert (await bot.get("/healthz")).status_code == 200
        assert text_of(await asked) == "Yes, until it ships."
    assert await asyncio.to_thread(process.wait) == -signal.SIGTERM


async def test_serve_hang_up_reloads_without_a_restart(run: Callable[..., Process], tmp_path: Path) -> None:
    process = run()
    async with client(process) as bot:
        assert outcome(await chat(bot, [user("can i renew a scroll?")]))[1] == "no_customer"
        (tmp_path / "library.yaml").write_text(LIBRARY.replace("novel~]", "novel~, scroll~]"), encoding="utf-8")
        process.signal(signal.SIGHUP)
        deadline = time.monotonic() + 20
        while outcome(await chat(bot, [user("can i renew a scroll?")]))[0] == "bypass":
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


def test_serve_wrong_configuration_is_one_message(tmp_path: Path) -> None:
    config = tmp_path / "proxy.yaml"
    config.write_text("upstream:\n  url: nowhere\n", encoding="utf-8")
    command = [COMMAND, "serve", "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "proxy.yaml:2: upstream.url: write a base URL" in done.stderr
