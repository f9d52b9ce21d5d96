from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


def test_ask_second_wording_is_a_hit(invoke, library, tmp_path) -> None:
    store = tmp_path / "answers.db"
    first = invoke("ask", "how do i renew a book", "--store", store, "--domain", library)
    again = invoke("ask", "hi, how can i renew a book?", "--store", store, "--domain", library)
    assert "miss (not_found)" in first.stdout
    assert "hit (learned)" in again.stdout
    assert first.stdout.splitlines()[0] == again.stdout.splitlines()[0]


def test_ask_json(invoke, library) -> None:
    told = json.loads(invoke("ask", "how do i renew a book", "--store", "memory", "--domain", library, "--json").stdout)
    assert (told["decision"], told["reason"], told["source"], told["not_stored"]) == (
        "miss",
        "not_found",
        "model",
        None,
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [([], "bypass (no_customer): The answer belongs"), (["--customer", "c1"], "miss (not_found): Nobody has asked")],
)
def test_ask_says_why(invoke, library, options: list[str], told: str) -> None:
    shown = invoke("ask", "what is the wifi name", "--store", "memory", "--domain", library, *options).stdout
    assert told in shown


def test_ask_no_cache(invoke, library) -> None:
    shown = invoke("ask", "how do i renew a book", "--store", "memory", "--domain", library, "--no-cache").stdout
    assert "bypass (no_cache)" in shown


def test_ask_unknown_store(invoke, library) -> None:
    result = invoke("ask", "x", "--store", "ftp://somewhere", "--domain", library)
    assert (result.exit_code, "no store has addresses like" in result.stderr) == (2, True)


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict]]]:
    """An OpenAI-compatible endpoint and the requests that it got."""
    got: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            got.append({"path": self.path, "key": self.headers["Authorization"], **body})
            fails = body["messages"][0]["content"].startswith("fail")
            said = {"choices": [{"message": {"content": "From the endpoint."}, "finish_reason": "stop"}]}
            reply = json.dumps({"error": "no"} if fails else said).encode()
            self.send_response(503 if fails else 200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *arguments: object) -> None:
            """Keep the test's output clean."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", got
        server.shutdown()
        thread.join()


def test_ask_endpoint_of_the_environment(invoke, library, endpoint, monkeypatch) -> None:
    url, got = endpoint
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    shown = invoke("ask", "how do i renew a book", "--store", "memory", "--domain", library).stdout
    assert shown.startswith("From the endpoint.")
    assert [(g["path"], g["key"], g["model"]) for g in got] == [("/v1/chat/completions", "Bearer k", "m")]


def test_ask_endpoint_failure_is_one_message(invoke, library, endpoint, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint[0])
    result = invoke("ask", "fail please", "--store", "memory", "--domain", library)
    assert (result.exit_code, "answered 503" in result.stderr) == (2, True)
