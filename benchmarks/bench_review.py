"""How quickly the review page answers with a long queue.

    python benchmarks/bench_review.py                       # 100 thousand questions queued, a small domain
    python benchmarks/bench_review.py --queued 10000        # fewer, for a look in between
    python benchmarks/bench_review.py --domain order_support
    python benchmarks/bench_review.py --json results.json   # figures with machine and versions beside them

Records of made-up questions are taken in as the page does it, a store holds answered questions to compare with, and a
real server on the loopback is asked for its pages over HTTP by somebody who is logged in. Times are from the request to
the last byte; the bound is 100 ms at the 95th percentile of every page. Status 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from slotcache import Parser, SlotCache
from slotcache.address import Address, Namespace
from slotcache.entry import Entry, Origin
from slotcache.key import Key
from slotcache.records.record import Kind, Record, normal
from slotcache.review.answers import Answers
from slotcache.review.desk import Desk
from slotcache.review.labels import LabelStore
from slotcache.review.server import server
from slotcache.review.sessions import COOKIE, Sessions
from slotcache.review.users import Users, hash_password
from slotcache.stores.sqlite import SqliteStore

LIBRARY = Path(__file__).parent.parent / "tests" / "domains" / "library.yaml"
BOUND_MS = 100.0
WORDS = "renew borrow extend return book novel dvd film card fine late lost child student hold shelf desk hall week"
ABSTENTIONS = ("residue", "ambiguous", "readers_disagree", "low_confidence", "conflict", "incomplete")


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--queued", type=int, default=100_000)
    options.add_argument("--answered", type=int, default=20_000, help="answered questions in the store")
    options.add_argument("--domain", default=str(LIBRARY))
    options.add_argument("--requests", type=int, default=60, help="of each page")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure(Path(folder), chosen)
    for name, value in figures["pages"].items():
        print(f"{name:<24}{value['p50_ms']:>9.1f} ms p50{value['p95_ms']:>9.1f} ms p95")
    print(f"took in {figures['queued']:,} questions in {figures['take_in_s']:.1f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    late = [name for name, value in figures["pages"].items() if value["p95_ms"] > BOUND_MS]
    if late:
        print(f"above {BOUND_MS:.0f} ms: {', '.join(late)}", file=sys.stderr)
    return 1 if late else 0


def _measure(folder: Path, chosen: argparse.Namespace) -> dict[str, Any]:
    parser = Parser.load(chosen.domain)
    cache = SlotCache(parser, SqliteStore(folder / "answers.db"))
    source = random.Random(chosen.seed)
    cache.core.store.put_many([_entry(at, source) for at in range(chosen.answered)])
    users = Users("benchmark" * 8, {"kim": hash_password("a password of a benchmark")})
    sessions = Sessions(lambda: users)
    desk = Desk(
        LabelStore(folder / "labels.db"),
        lambda: parser,
        sessions,
        answers=Answers(cache.core),
        find=cache.core.store.find,
    )
    started = time.perf_counter()
    desk.queue.take_in((at, _record(at, source)) for at in range(1, chosen.queued + 1))
    took = time.perf_counter() - started
    desk.refresh()
    pages = _served(desk, sessions.write(sessions.begin("kim")), chosen.requests, source)
    queued = sum(desk.queue.counts().values())
    desk.close()
    cache.close()
    machine = {"python": sys.version.split()[0], "system": platform.platform(), "processor": platform.machine()}
    return {
        "machine": machine,
        "domain": parser.domain.name,
        "queued": queued,
        "answered": len(desk.nearest),
        "requests": chosen.requests,
        "take_in_s": round(took, 2),
        "pages": pages,
    }


def _served(desk: Desk, cookie: str, requests: int, source: random.Random) -> dict[str, dict[str, float]]:
    made = server(desk, host="127.0.0.1", port=0, refresh=False)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    while not made.started:
        time.sleep(0.01)
    (bound,) = made.servers[0].sockets
    address = "http://{}:{}".format(*bound.getsockname())
    try:
        with httpx.Client(base_url=address, cookies={COOKIE: cookie}, timeout=30) as client:
            return _asked(client, desk, requests, source)
    finally:
        made.should_exit = True
        thread.join(20)


def _asked(client: httpx.Client, desk: Desk, requests: int, source: random.Random) -> dict[str, dict[str, float]]:
    token = re.search(r'name="token" value="(\w+)"', client.get("/queue").text)
    assert token is not None
    subjects = [item.id for item in desk.queue.page(first=source.randrange(1_000), most=requests)]
    chosen = iter(subjects * 2)

    def label() -> httpx.Response:
        return client.post(f"/question/{next(chosen)}/label", data={"token": token[1], "say": "leave", "seen": "0"})

    pages: dict[str, Callable[[], httpx.Response]] = {
        "queue": lambda: client.get("/queue"),
        "queue, one reason": lambda: client.get("/queue?why=abstained"),
        "queue, page 100": lambda: client.get("/queue?page=100"),
        "search, a rare word": lambda: client.get("/queue?q=99999"),
        "search, a common word": lambda: client.get("/queue?q=novel"),
        "next": lambda: client.get("/next"),
        "question": lambda: client.get(f"/question/{source.choice(subjects)}"),
        "label": label,
        "labels": lambda: client.get("/labels"),
        "answers": lambda: client.get("/answers"),
    }
    figures = {}
    for name, ask in pages.items():
        took = []
        for _ in range(requests):
            started = time.perf_counter()
            answer = ask()
            took.append(1e3 * (time.perf_counter() - started))
            assert answer.status_code in (200, 303), (name, answer.status_code)
        took.sort()
        figures[name] = {
            "p50_ms": took[len(took) // 2],
            "p95_ms": took[int(0.95 * (len(took) - 1))],
            "most_ms": took[-1],
        }
    return figures


def _question(source: random.Random) -> str:
    return "can i " + " ".join(source.choices(WORDS.split(), k=source.randint(3, 8)))


def _entry(at: int, source: random.Random) -> Entry:
    question = f"{_question(source)} {at}"
    address = Address.of(Namespace(), Key.verbatim(question), ())
    return Entry(address.cell + f"{at:016x}", address, "An answer.", Origin.LEARNED, 0.0, None, question=question)


def _record(at: int, source: random.Random) -> Record:
    text = f"{_question(source)} {at}"
    return Record(
        f"r-{at}",
        1_800_000_000.0 + at,
        Kind.LOOKUP,
        text,
        normal(text),
        decision="miss",
        abstain=source.choice(ABSTENTIONS),
        candidates=(("renew_loan", 0.6), ("borrow_item", 0.4)),
        weight=float(source.randint(1, 50)),
        model="2026.1",
    )


if __name__ == "__main__":
    raise SystemExit(main())
