"""What the proxy adds to a request, and how many hits one core answers in a second.

    python benchmarks/bench_proxy.py                         # about half a minute
    python benchmarks/bench_proxy.py --json results.json     # figures with machine and versions beside them

An endpoint that answers at once, the proxy (`slotcache serve`) and this client run as three processes on one machine.
*Added* is the difference between a request to the endpoint itself and one through the proxy, one at a time over a kept
connection, taken turn by turn in the same run. *Hits per second* come from several connections at once; because the
machine may be busy with other things, they are also given per second of processor time that the proxy used.

The proxy runs with its defaults, a log line for each request included. `chat` is what real bots send: a system prompt
with a date and a name in it, and four turns before the question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

TEMPLATE = "You help the customers of Acme. " * 40 + "Today is {date}. You talk to {name}. Be brief."
QUESTION = "can i cancel my order after it ships?"
TURNS = ("hi", "Hello! How can I help?", "what payment methods do you accept?", "Cards, PayPal and gift cards.")
ANSWER = "No. Once it has shipped an order can only be returned; returns are free within 30 days of delivery."
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 25, "total_tokens": 425},
    }
).encode()
STREAM = b"".join(
    [b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}\n\n' % ANSWER.encode(),
     b'data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', b"data: [DONE]\n\n"]
)  # fmt: skip


async def endpoint(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """An endpoint that answers at once, as an ASGI application."""
    if scope["type"] == "lifespan":
        for part in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{part}.complete"})
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    stream = b'"stream": true' in body
    kind, reply = (b"text/event-stream", STREAM) if stream else (b"application/json", REPLY)
    headers = [(b"content-type", kind), (b"content-length", str(len(reply)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": reply})


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--requests", type=int, default=2_000, help="requests for each latency")
    options.add_argument("--seconds", type=float, default=4.0, help="seconds for each throughput")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    figures = {"machine": _machine(), **asyncio.run(_measure(chosen.requests, chosen.seconds))}
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


async def _measure(requests: int, seconds: float) -> dict[str, Any]:
    figures: dict[str, Any] = {"added_ms": {}, "hits": {}}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        direct = stack.enter_context(_endpoint_process())
        for store in ("memory", "sqlite"):
            place = "memory" if store == "memory" else str(folder / "answers.sqlite3")
            with _proxy_process(folder, direct, place) as (proxy, pid):
                for shape, stream in (("question", False), ("chat", False), ("chat", True)):
                    name = f"{store}, {shape}{', stream' if stream else ''}"
                    request = _request(shape, stream)
                    await _prove(proxy, request)
                    figures["added_ms"][name] = await _latency(direct, proxy, request, requests)
                    _show(name, figures["added_ms"][name])
                    figures["hits"][name] = await _throughput(proxy, pid, request, seconds)
                    _show(name, figures["hits"][name])
    return figures


def _request(shape: str, stream: bool) -> bytes:
    messages = [{"role": "user", "content": QUESTION}]
    if shape == "chat":
        prompt = TEMPLATE.format(date="Monday, 30 November", name="Anna Lee")
        roles = ("user", "assistant") * 2
        before = [{"role": role, "content": text} for role, text in zip(roles, TURNS, strict=True)]
        messages = [{"role": "system", "content": prompt}, *before, *messages]
    body = json.dumps({"model": "m", "temperature": 0.2, "stream": stream, "messages": messages}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-benchmark-0123456789\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Connection:
    """One kept HTTP connection; as little of a client as there can be, so that it does not measure itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, address: tuple[str, int]) -> _Connection:
        return cls(*await asyncio.open_connection(*address))

    async def ask(self, request: bytes) -> bytes:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length is not None, head
        await self._reader.readexactly(int(length[1]))
        return head

    def close(self) -> None:
        self._writer.close()


async def _prove(proxy: tuple[str, int], request: bytes) -> None:
    """Fill the key with the question alone, and see that the request is a hit."""
    connection = await _Connection.to(proxy)
    if b'user", "content": "hi"' in request:
        # The answer for everybody comes from a chat that has no history yet.
        plain = json.loads(request.partition(b"\r\n\r\n")[2])
        plain["messages"] = [plain["messages"][0], plain["messages"][-1]]
        plain["stream"] = False
        body = json.dumps(plain).encode()
        head = request.partition(b"\r\n\r\n")[0]
        await connection.ask(re.sub(rb"Length: \d+", b"Length: %d" % len(body), head) + b"\r\n\r\n" + body)
    else:
        await connection.ask(request)
    for _ in range(50):
        head = await connection.ask(request)
        if b"x-slotcache-outcome: hit" in head:
            connection.close()
            return
        await asyncio.sleep(0.05)
    raise SystemExit(f"this is no hit, so nothing is measured:\n{head.decode()}")


async def _latency(direct: tuple[str, int], proxy: tuple[str, int], request: bytes, requests: int) -> dict[str, float]:
    connections = [await _Connection.to(direct), await _Connection.to(proxy)]
    times: list[list[float]] = [[], []]
    for at in range(requests + 200):
        for which in (0, 1):
            started = time.perf_counter()
            await connections[which].ask(request)
            if at >= 200:
                times[which].append(1000 * (time.perf_counter() - started))
    for connection in connections:
        connection.close()
    through, straight = (statistics.quantiles(values, n=100) for values in reversed(times))
    return {
        "direct_p50_ms": round(straight[49], 3),
        "hit_p50_ms": round(through[49], 3),
        "hit_p95_ms": round(through[94], 3),
        "added_p50_ms": round(through[49] - straight[49], 3),
        "added_p95_ms": round(through[94] - straight[94], 3),
    }


async def _throughput(proxy: tuple[str, int], pid: int, request: bytes, seconds: float) -> dict[str, float]:
    connections = [await _Connection.to(proxy) for _ in range(16)]
    done = 0
    end = time.perf_counter() + seconds

    async def work(connection: _Connection) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await connection.ask(request)
            done += 1

    used, started = _cpu_seconds(pid), time.perf_counter()
    await asyncio.gather(*map(work, connections))
    used, took = _cpu_seconds(pid) - used, time.perf_counter() - started
    for connection in connections:
        connection.close()
    return {
        "hits_per_second": round(done / took),
        "hits_per_cpu_second": round(done / used),
        "cpu_us_per_hit": round(1e6 * used / done),
        "cpu_share": round(used / took, 2),
    }


def _cpu_seconds(pid: int) -> float:
    """Processor time of a process and its threads, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _process(command: list[str], address: str) -> Iterator[tuple[tuple[str, int], int]]:
    """A server that runs, found by what it logs; gives its address and its process id."""
    # A file takes whatever is logged; a pipe that nobody reads would fill up and stop the server.
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        running = subprocess.Popen(command, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while (found := re.search(address, Path(log.name).read_text())) is None:
                if running.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(Path(log.name).read_text())
                time.sleep(0.05)
            yield (found[1], int(found[2])), running.pid
        finally:
            running.terminate()
            running.wait(timeout=20)


@contextmanager
def _endpoint_process() -> Iterator[tuple[str, int]]:
    here = Path(__file__)
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(here.parent), "--port", "0", "--no-access-log"]
    with _process([*command, f"{here.stem}:endpoint"], r"http://([\d.]+):(\d+)") as (address, _):
        yield address


@contextmanager
def _proxy_process(folder: Path, upstream: tuple[str, int], store: str) -> Iterator[tuple[tuple[str, int], int]]:
    settings = {
        "upstream": {"url": "http://{}:{}/v1".format(*upstream)},
        "listen": {"port": 0},
        "store": store,
        "chat": {"self_contained": True, "prompts": [{"name": "bot", "text": TEMPLATE}]},
        "rules": {"undeclared_prompts": 8},
    }
    config = folder / "proxy.yaml"
    config.write_text(json.dumps(settings), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("slotcache")), "serve", "--config", str(config)]
    with _process(command, r'"address": "([\d.]+):(\d+)"') as started:
        yield started


def _show(name: str, figures: dict[str, float]) -> None:
    print(f"{name:24}", "  ".join(f"{key} {value:g}" for key, value in figures.items()), flush=True)


def _machine() -> dict[str, str]:
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        **{
            name: version(name)
            for name in ("slotcache", "uvicorn", "httptools", "uvloop", "httpx", "prometheus-client")
        },
    }


if __name__ == "__main__":
    main()
