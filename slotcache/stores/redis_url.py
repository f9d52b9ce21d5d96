"""Where a Redis store is, read from a URL.

    redis://[user[:password]@]host[:port][/database]          one server
    unix://[user[:password]@]/path/to/socket[?db=0]           one server on this machine
    redis+sentinel://[user[:password]@]host[:port],host[:port]/service[/database]
    redis+cluster://[user[:password]@]host[:port],host[:port]

`rediss` in place of `redis` means TLS, and `valkey` and `valkeys` mean the same as `redis` and `rediss`. User, password
and service are percent-encoded. What may follow after `?` is what `Options` holds.

>>> url = RedisUrl.parse("redis+sentinel://bot:p%40ss@a,b:26380/mymaster/2?prefix=shop")
>>> url.nodes, url.service, url.database, url.password, url.options.prefix
((('a', 26379), ('b', 26380)), 'mymaster', 2, 'p@ss', 'shop')
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final, Self
from urllib.parse import parse_qsl, unquote

from slotcache.errors import ConfigurationError

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]+")
_SCHEME = re.compile(r"(redis|valkey)(s?)(?:\+(sentinel|cluster))?|(unix)")
_NODE = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^:\[\]]+))(?::(\d{1,5}))?")
_YES_NO: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class Kind(StrEnum):
    """How the servers stand together."""

    SINGLE = "single"
    UNIX = "unix"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything about a Redis store but its address.

    Attributes:
        prefix: What the names of all keys begin with; one for each deployment on the same servers.
        buckets: Into how many parts a new store is divided, see `redis_layout`; an existing one keeps its number.
        max_entries: How many entries may be in recall.
        max_history: How many entries that left recall are kept.
        timeout: Seconds to wait for a reply before the store counts as unavailable.
        connect_timeout: Seconds to wait for a connection.
        max_connections: How many requests of one process are under way at the same time; more wait their turn.
        protocol: RESP version, 2 or 3.
        sentinel_username: User at the sentinels, when they ask for one.
        sentinel_password: Password at the sentinels.
        ssl_ca_certs: File with the certificates of the authorities to trust; those of the system when None.
        ssl_certfile: File with the client's own certificate.
        ssl_keyfile: File with its key.
        ssl_cert_reqs: `required`, or `none` to trust any certificate.
        ssl_check_hostname: Whether the certificate must be for the host that was asked for.
    """

    prefix: str = "slotcache"
    buckets: int = 64
    max_entries: int = 2_000_000
    max_history: int = 200_000
    timeout: float = 1.0
    connect_timeout: float = 0.5
    max_connections: int = 32
    protocol: int = 3
    sentinel_username: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)
    ssl_ca_certs: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    ssl_cert_reqs: str = "required"
    ssl_check_hostname: bool = True

    def __post_init__(self) -> None:
        for name in ("buckets", "max_entries", "max_history", "timeout", "connect_timeout", "max_connections"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ConfigurationError(f"redis: {name} is {value!r}; it must be a number above 0")
        if not _PREFIX.fullmatch(self.prefix):
            raise ConfigurationError(f"redis: prefix {self.prefix!r} may hold letters, digits and _ . : - only")
        if self.buckets > 4096:
            raise ConfigurationError(f"redis: buckets is {self.buckets}; more than 4096 help nobody")
        if self.protocol not in (2, 3):
            raise ConfigurationError(f"redis: protocol is {self.protocol!r}; it is 2 or 3")
        if self.ssl_cert_reqs not in ("required", "none"):
            raise ConfigurationError(f"redis: ssl_cert_reqs is {self.ssl_cert_reqs!r}; it is 'required' or 'none'")


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisUrl:
    """A parsed address.

    Attributes:
        kind: How the servers stand together.
        nodes: Host and port of the server, the sentinels, or some nodes of the cluster.
        path: The socket, for `unix`.
        service: The name under which the sentinels know the servers.
        database: Number of the database.
        username: User at the servers.
        password: Password at the servers.
        tls: Whether connections are encrypted.
        options: Everything else.
    """

    kind: Kind
    nodes: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    database: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    options: Options = field(default_factory=Options)

    @property
    def shown(self) -> str:
        """The address for messages, without user and password."""
        scheme = "rediss" if self.tls else "redis"
        if self.kind is Kind.UNIX:
            return f"unix://{self.path}"
        hosts = ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.nodes)
        if self.kind is Kind.SENTINEL:
            return f"{scheme}+sentinel://{hosts}/{self.service}"
        return f"{scheme}+cluster://{hosts}" if self.kind is Kind.CLUSTER else f"{scheme}://{hosts}/{self.database}"

    @classmethod
    def parse(cls, url: str, **options: Any) -> Self:
        """Read a URL.

        Args:
            url: The address.
            options: What `Options` holds; they win over those in the URL.

        Raises:
            ConfigurationError: the URL or an option makes no sense; the message never holds the password.
        """
        scheme, _, rest = url.partition("://")
        known = _SCHEME.fullmatch(scheme)
        if known is None:
            raise ConfigurationError(
                f"no Redis address begins with {scheme!r}; use redis, rediss, unix, redis+sentinel or redis+cluster"
            )
        where, _, query = rest.partition("?")
        credentials, at, where = where.rpartition("@")
        user, _, secret = credentials.partition(":")
        asked = dict(parse_qsl(query, keep_blank_values=True))
        database = asked.pop("db", None)
        read = _options(asked)
        login = {"username": unquote(user) or None, "password": unquote(secret) or None} if at else {}
        common: dict[str, Any] = {**login, "options": replace(read, **options)}
        if known[4]:
            return cls(kind=Kind.UNIX, path=unquote(where), database=_number("db", database or "0"), **common)
        hosts, _, path = where.partition("/")
        kind = Kind(known[3] or "single")
        service, _, number = path.partition("/") if kind is Kind.SENTINEL else ("", "", path)
        made = cls(
            kind=kind,
            nodes=_nodes(hosts, _SENTINEL_PORT if kind is Kind.SENTINEL else _PORT),
            service=unquote(service),
            database=_number("database", number.rstrip("/") or database or "0"),
            tls=bool(known[2]),
            **common,
        )
        made._check()
        return made

    def _check(self) -> None:
        if self.kind is Kind.SENTINEL and not self.service:
            raise ConfigurationError("redis: name the service that the sentinels watch: redis+sentinel://hosts/service")
        if self.kind is Kind.SINGLE and len(self.nodes) > 1:
            raise ConfigurationError(
                "redis: several hosts are sentinels (redis+sentinel://) or nodes of a cluster (redis+cluster://)"
            )
        if self.kind is Kind.CLUSTER and self.database:
            raise ConfigurationError("redis: a cluster has no databases; tell deployments apart by ?prefix=")


def _nodes(hosts: str, port: int) -> tuple[tuple[str, int], ...]:
    nodes = []
    for host in hosts.split(","):
        found = _NODE.fullmatch(host)
        if found is None or int(found[3] or 1) not in range(1, 65_536):
            # What was read as a host may be half a password.
            raise ConfigurationError(
                "redis: the address holds no host[:port]; are special characters in the password percent-encoded?"
            )
        nodes.append((unquote(found[1] or found[2]), int(found[3] or port)))
    return tuple(nodes)


def _options(asked: dict[str, str]) -> Options:
    kinds = {one.name: one.type for one in fields(Options)}
    unknown = sorted(set(asked) - set(kinds))
    if unknown:
        # What was read as an option may be half a password.
        named = repr(unknown[0]) if unknown[0].isidentifier() and "@" not in "".join(asked) else "in the address"
        raise ConfigurationError(f"redis: unknown option {named}; known are {', '.join(kinds)}")
    return Options(**{name: _value(name, str(kinds[name]), value) for name, value in asked.items()})


def _value(name: str, kind: str, value: str) -> Any:
    if kind == "bool":
        if value.lower() not in _YES_NO:
            raise ConfigurationError(f"redis: {name} is {value!r}; it is yes or no")
        return _YES_NO[value.lower()]
    if kind == "int":
        return _number(name, value)
    if kind == "float":
        try:
            return float(value)
        except ValueError:
            raise ConfigurationError(f"redis: {name} is {value!r}; it must be a number") from None
    return value


def _number(name: str, value: str) -> int:
    if not value.isdecimal():
        raise ConfigurationError(f"redis: {name} is {value!r}; it must be a whole number")
    return int(value)
