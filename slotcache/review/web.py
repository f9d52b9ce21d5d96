"""What every page has in common: who visits, forms against forgery, headers, templates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slotcache.address import digest
from slotcache.errors import EXPLANATIONS, SlotcacheError, StoreUnavailable
from slotcache.review.acts import LEADS, told
from slotcache.review.desk import Desk, new_id
from slotcache.review.sessions import COOKIE, LIFE, Session
from slotcache.review.users import Role
from slotcache.review.weigh import NAMES
from slotcache.serving.logs import say

_BODY: Final = 256 * 1024
_HEADERS: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
        b"base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of one visitor.

    Attributes:
        desk: What the pages work with.
        session: Who asks.
        path: What the address names.
        query: What stands behind the question mark; of a name that stands twice the last.
        form: What was sent; of a name that stands twice the last.
        many: All that was sent.
        address: Where it comes from.
    """

    desk: Desk
    session: Session
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    many: Mapping[str, Sequence[str]] = field(default_factory=dict)
    address: str = ""

    @property
    def name(self) -> str:
        """Who is logged in."""
        return self.session.name

    @property
    def leads(self) -> bool:
        """Whether the visitor may decide what customers get."""
        return self.desk.sessions.role(self.name) is Role.LEAD

    @property
    def seen(self) -> int:
        """Number of the last act that the visitor's page showed."""
        text = self.form.get("seen", "")
        return int(text) if text.isdecimal() and len(text) < 16 else 0

    def show(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page."""
        shown = _ENVIRONMENT.get_template(template).render(
            me=self.name,
            leads=self.leads,
            token=self.desk.sessions.token(self.session),
            new_id=new_id,
            now=self.desk.clock(),
            has_store=self.desk.answers is not None,
            domain_name=self.desk.parser.domain.name,
            model=self.desk.parser.version,
            **values,
        )
        return HTMLResponse(shown, status_code=status)

    def go(self, path: str, **query: str) -> RedirectResponse:
        """On to another page."""
        said = {name: value for name, value in query.items() if value}
        return RedirectResponse(f"{path}?{urlencode(said)}" if said else path, status_code=303)

    def refuse(self, what: str) -> HTMLResponse:
        """A page that says whose decision something is; nothing was done."""
        say("not a lead", person=self.name)
        message = f"{what} is a decision of people with the role “lead”; you have the role “{Role.ANALYST}”."
        return self.show("message.html.j2", status=403, title="For leads", message=message)

    def admit(self, response: Response, session: Session) -> Response:
        """Give the visitor a session with a response."""
        response.set_cookie(
            COOKIE,
            self.desk.sessions.write(session),
            max_age=LIFE,
            httponly=True,
            # Not strict: a link in a message to a colleague would arrive logged out. Forms carry a token anyway.
            samesite="lax",
            secure=self.desk.settings.secure,
        )
        return response


Handler = Callable[[Visit], Response]


def for_leads(what: str, handler: Handler) -> Handler:
    """A handler that only people who lead get to.

    Args:
        what: What it does, as the subject of a sentence for those who may not.
        handler: What it is.
    """
    return lambda visit: handler(visit) if visit.leads else visit.refuse(what)


def page(desk: Desk, handler: Handler, *, open_to_all: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for a handler that works in a thread of its own: nobody but people who are logged in get there."""

    async def endpoint(request: Request) -> Response:
        session = desk.sessions.read(request.cookies.get(COOKIE))
        if not open_to_all and (session is None or not session.name):
            return RedirectResponse("/login", status_code=303)
        many: dict[str, list[str]] = {}
        if request.method == "POST":
            body = await _body(request)
            if body is None:
                return Response("the form is too long", status_code=413, media_type="text/plain")
            many = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=200)
            if session is None or not desk.sessions.genuine(session, many.get("token", [""])[-1]):
                # A page from before the session ended, or somebody else's page.
                return RedirectResponse("/login", status_code=303)
        visit = Visit(
            desk,
            session if session is not None else desk.sessions.begin(),
            path={name: str(value) for name, value in request.path_params.items()},
            query=dict(request.query_params),
            form={name: values[-1] for name, values in many.items()},
            many=many,
            address=request.client.host if request.client is not None else "",
        )
        return await run_in_threadpool(_handled, handler, visit)

    return endpoint


def _handled(handler: Handler, visit: Visit) -> Response:
    try:
        return handler(visit)
    except SlotcacheError as error:
        status = 503 if isinstance(error, StoreUnavailable) else 400
        say("review page refused", error_type=type(error).__name__)
        return visit.show("message.html.j2", status=status, title="That did not work", message=str(error))


async def _body(request: Request) -> bytes | None:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > _BODY:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


class Guarded:
    """Adds the headers that keep other pages and other people's scripts out; nothing is kept by caches."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve as the application within does."""
        kept = scope.get("path", "").startswith("/static/")

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                caching = b"private, max-age=300" if kept else b"no-store"
                message["headers"] = [*message["headers"], *_HEADERS, (b"cache-control", caching)]
            await send(message)

        await self._app(scope, receive, guarded)


def _ago(at: float, now: float) -> str:
    seconds = max(0.0, now - at)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.1f}"


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _reason(name: object) -> str:
    return next((text for reason, text in EXPLANATIONS.items() if reason.value == name), "")


def static(name: str) -> str:
    """The text of a stylesheet or script."""
    return resources.files("slotcache.review").joinpath("templates", name).read_text(encoding="utf-8")


def _stamp() -> str:
    """Changes with stylesheet and script, so that browsers never mix versions."""
    return digest("static", static("review.css"), static("review.js"), size=6)


_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("slotcache.review"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {"ago": _ago, "n": _number, "when": _when, "reason": _reason, "told": told}
_ENVIRONMENT.globals |= {"why_names": NAMES, "stamp": _stamp(), "lead_kinds": LEADS}
