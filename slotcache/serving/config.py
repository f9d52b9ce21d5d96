"""Everything the operator can set about the proxy, checked at start-up.

The file that holds it is YAML or TOML (see `slotcache.serving.config_files`); docs/proxy.md explains each part.
All durations are seconds.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from slotcache.conversation import POINTS_BACK
from slotcache.parsing.types import Owner
from slotcache.policy import Policy
from slotcache.prompts import PromptTemplate
from slotcache.serving.tokens import is_hash

Seconds = Annotated[float, Field(gt=0, le=10_000_000)]


def _hashed(value: Any) -> Any:
    if isinstance(value, str) and not is_hash(value):
        raise ValueError("secrets stand here as digests; make one with `slotcache serve --hash-key`")
    return value


Hashed = Annotated[str, BeforeValidator(_hashed)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]*$")]


class Part(BaseModel):
    """What all parts share: unknown names are errors, and nothing changes while the proxy runs."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Listen(Part):
    """Where the proxy listens, and how it stops.

    Attributes:
        host: Address to bind.
        port: Port to bind; 0 takes a free one.
        drain: For how long `/readyz` already says no while new requests are still taken, after SIGTERM.
        finish: For how long requests that run may go on after that.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    drain: float = Field(default=0.0, ge=0, le=600)
    finish: Seconds = 30.0


class Upstream(Part):
    """The endpoint that the bot used before.

    Attributes:
        url: The base URL that the client was given, such as `https://api.openai.com/v1`.
        connect: For how long connecting may take.
        idle: For how long nothing may arrive.
        total: For how long one call may take.
        connections: How many connections may be open.
        proxy: URL of an HTTP proxy on the way there.
    """

    url: str
    connect: Seconds = 5.0
    idle: Seconds = 120.0
    total: Seconds = 600.0
    connections: int = Field(default=1_000, ge=1)
    proxy: str | None = None

    @field_validator("url")
    @classmethod
    def _absolute(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("write a base URL such as https://api.openai.com/v1")
        return url.rstrip("/")


class Limits(Part):
    """Bounds on what one request may take.

    Attributes:
        body: Bytes of a request body.
        upload: For how long the head of a request may take to arrive, and then its body.
        answer: Bytes of an answer that may be kept; a longer one is handed on and not kept.
        concurrency: How many requests may run at the same time; more than that are told to come back.
        remembered: How many readings of questions are remembered.
    """

    body: int = Field(default=20_000_000, ge=1_000)
    upload: Seconds = 60.0
    answer: int = Field(default=200_000, ge=100)
    concurrency: int = Field(default=2_000, ge=1)
    remembered: int = Field(default=8_192, ge=1)


class Caller(Part):
    """A bot that may use the cache, known by the API key it sends.

    Attributes:
        name: What logs call it.
        key: Digest of its API key.
        tenant: Whose bot it is.
        customer: The one customer it speaks for, if there is only one.
        locale: Language and region of its answers.
        prompt_version: Name of the stable part of its system prompt; raise it when that changes.
    """

    name: str
    key: Hashed
    tenant: str = Field(min_length=1)
    customer: str | None = Field(default=None, min_length=1)
    locale: str | None = None
    prompt_version: str | None = None

    @field_validator("tenant")
    @classmethod
    def _not_reserved(cls, tenant: str) -> str:
        if tenant.startswith("key:"):
            raise ValueError("names that begin with 'key:' are for callers who are not listed; choose another")
        return tenant


class Gateway(Part):
    """The operator's own gateway, whose headers may be believed.

    Attributes:
        secret: Digest of the secret that it sends.
        secret_header: The header it sends it in.
        addresses: Networks that it calls from.
        customer_header: Header with the customer's id.
        tenant_header: Header with the tenant.
        locale_header: Header with the locale.
    """

    secret: Hashed | None = None
    secret_header: HeaderName = "X-Slotcache-Gateway"
    addresses: tuple[IPv4Network | IPv6Network, ...] = ()
    customer_header: HeaderName | None = None
    tenant_header: HeaderName | None = None
    locale_header: HeaderName | None = None

    @model_validator(mode="after")
    def _known_by_something(self) -> Self:
        named = self.customer_header or self.tenant_header or self.locale_header
        if named and self.secret is None and not self.addresses:
            raise ValueError(
                f"{named} would be believed from anybody; give the gateway a 'secret', its 'addresses', or both"
            )
        return self


class Template(Part):
    """A system prompt with `{placeholders}`; see `slotcache.PromptTemplate`.

    Attributes:
        name: What reports call it.
        text: The prompt.
        significant: Placeholders whose value changes the answers.
        trusted: Placeholders that only the operator writes (retrieved articles, say), however long they are. What
            customers can write themselves must never be among them.
    """

    name: str
    text: str
    significant: frozenset[str] = frozenset()
    trusted: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _makes_a_template(self) -> Self:
        made = self.made()  # its own errors say what to write
        unknown = self.trusted - set(made.placeholders)
        if unknown:
            raise ValueError(f"the text has no placeholder {sorted(unknown)}")
        return self

    def made(self) -> PromptTemplate:
        """The template itself."""
        return PromptTemplate(self.name, self.text, self.significant)


class Chat(Part):
    """How chat completions are read.

    Attributes:
        max_temperature: The highest temperature (inclusive) that does not ask for variety.
        seeds: Whether a request with a seed may be answered from the cache; the seed then separates answers.
        separating: Further parameters of the endpoint that change answers.
        neutral: Further parameters of the endpoint that never change an answer.
        opening: Turns that every conversation begins with, word for word, such as the bot's greeting. They are no
            history.
        self_contained: Whether a question that stands on its own may be answered without regard to earlier turns.
        points_back: Words with which a question points to an earlier turn; then it does not stand on its own.
        customer_from_user: Whether the `user` field of the request names the customer. Only where the bot sets it.
        prompts: Templates of the system prompts in use.
    """

    max_temperature: float = Field(default=1.0, ge=0)
    seeds: bool = False
    separating: frozenset[str] = frozenset()
    neutral: frozenset[str] = frozenset()
    opening: tuple[str, ...] = ()
    self_contained: bool = False
    points_back: frozenset[str] = POINTS_BACK
    customer_from_user: bool = False
    prompts: tuple[Template, ...] = ()


class Rules(Part):
    """The operator's rules of the cache; see `slotcache.Policy` for each."""

    ttl: Seconds = 7 * 86_400.0
    customer_ttl: Seconds = 86_400.0
    approved_ttl: Seconds | None = None
    ttl_by_intent: dict[str, Seconds] = {}
    live_ttl: dict[str, Seconds] = {}
    approved_only: bool = False
    observe: bool = False
    intents_off: frozenset[str] = frozenset()
    verbatim_owner: Literal["customer", "shared"] | None = None
    undeclared_prompts: int = Field(default=1, ge=1)
    prompt_window: Seconds = 3_600.0
    redaction_secret: str = Field(default="", repr=False)
    public: tuple[str, ...] = ()
    lease: Seconds = 60.0
    wait: Seconds = 30.0
    max_waiters: int = Field(default=256, ge=0)
    store_failures: int = Field(default=3, ge=1)
    store_pause: Seconds = 2.0


class Price(Part):
    """What a model costs, in the operator's currency, for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Admin(Part):
    """What only operators may do.

    Attributes:
        token: Digest of the operators' token; without it intents cannot be switched through the proxy.
        metrics: Whether `/metrics` asks for the token too.
    """

    token: Hashed | None = None
    metrics: bool = False

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.metrics and self.token is None:
            raise ValueError("'metrics' asks for a token that is not given; give 'token' too")
        return self


class Logs(Part):
    """Structured logs.

    Attributes:
        requests: Whether every request gets a line.
        text: Whether questions are logged as typed. They are customers' own words: mind who reads your logs.
    """

    requests: bool = True
    text: bool = False


class Recorded(Part):
    """The traffic record, for reports and the review page.

    Attributes:
        where: A SQLite file of this machine, or the URL of Redis or Valkey servers for proxies on several machines.
        sample: Share of decisions to record; near misses, disagreements and reported false hits always are.
        days: How long records are kept.
        rows: How many records are kept at most.
    """

    where: str
    sample: float = Field(1.0, gt=0, le=1)
    days: float = Field(90.0, gt=0)
    rows: int = Field(1_000_000, ge=1)


class Settings(Part):
    """The whole configuration of the proxy.

    Attributes:
        upstream: The endpoint that the bot used before.
        listen: Where the proxy listens.
        store: A SQLite file, `memory`, or the URL of a server; a file in the user's data folder when None.
        domain: A shipped domain, a domain file or a folder.
        model: A model folder; None looks where models are kept.
        locale: Locale of answers where nothing else names one.
        policy_epoch: Version of the business's policies; raise it when they change.
        callers: Bots that may use the cache. Without any, every API key is a tenant of its own.
        unknown_callers: What becomes of a request with another key: `own_tenant` (the default without `callers`),
            `bypass` (the default with them) or `reject`.
        gateway: The operator's own gateway.
        chat: How chat completions are read.
        rules: The rules of the cache.
        limits: Bounds.
        prices: Prices by model.
        admin: What only operators may do.
        logs: Structured logs.
        record: The traffic record; none is kept when None.
    """

    upstream: Upstream
    listen: Listen = Listen()
    store: str | None = None
    domain: str = "order_support"
    model: str | None = None
    locale: str = ""
    policy_epoch: str = ""
    callers: tuple[Caller, ...] = ()
    unknown_callers: Literal["own_tenant", "bypass", "reject"] | None = None
    gateway: Gateway = Gateway()
    chat: Chat = Chat()
    rules: Rules = Rules()
    limits: Limits = Limits()
    prices: dict[str, Price] = {}
    admin: Admin = Admin()
    logs: Logs = Logs()
    record: Recorded | None = None

    @field_validator("callers")
    @classmethod
    def _different_keys(cls, callers: tuple[Caller, ...]) -> tuple[Caller, ...]:
        seen: dict[str, str] = {}
        for caller in callers:
            if caller.key in seen:
                raise ValueError(f"{seen[caller.key]!r} and {caller.name!r} have the same key; give each its own")
            seen[caller.key] = caller.name
        return callers

    @model_validator(mode="after")
    def _customer_is_named_once(self) -> Self:
        if self.chat.customer_from_user and self.gateway.customer_header:
            raise ValueError("customers come from chat.customer_from_user or gateway.customer_header; keep one of them")
        return self

    def policy(self) -> Policy:
        """The rules as the cache takes them."""
        given = self.rules.model_dump()
        owner = given.pop("verbatim_owner")
        return Policy(
            **given,
            verbatim_owner=Owner(owner) if owner else None,
            self_contained_context=self.chat.self_contained,
            points_back=self.chat.points_back,
            prompts=tuple(template.made() for template in self.chat.prompts),
        )
