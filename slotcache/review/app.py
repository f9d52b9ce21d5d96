"""The review page as an ASGI application: its routes, and what is refreshed beside serving."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from slotcache.errors import SlotcacheError
from slotcache.review import pages_answers, pages_proposals, pages_question, pages_queue, pages_visitor
from slotcache.review.desk import Desk
from slotcache.review.web import Guarded, Handler, for_leads, page, static
from slotcache.serving.logs import say

REFRESH_SECONDS: Final = 5.0
"""How often new records are taken in."""

_STATIC: Final = {"review.css": "text/css", "review.js": "text/javascript", "icon.svg": "image/svg+xml"}


def make_app(desk: Desk, *, refresh: bool = True) -> Starlette:
    """The application.

    Args:
        desk: What the pages work with.
        refresh: Whether to take in new records while serving.
    """

    def get(path: str, handler: Handler, *, open_to_all: bool = False) -> Route:
        return Route(path, page(desk, handler, open_to_all=open_to_all), methods=["GET"])

    def post(path: str, handler: Handler, *, open_to_all: bool = False) -> Route:
        return Route(path, page(desk, handler, open_to_all=open_to_all), methods=["POST"])

    routes = [
        Route("/", _home),
        Route("/healthz", _healthy),
        Route("/static/{name}", _static),
        get("/login", pages_visitor.login, open_to_all=True),
        post("/login", pages_visitor.log_in, open_to_all=True),
        post("/logout", pages_visitor.log_out),
        get("/queue", pages_queue.queue),
        get("/next", pages_queue.next_question),
        get("/labels", pages_queue.labels),
        post("/undo", pages_queue.undo),
        get("/question/{id}", pages_question.question),
        post("/question/{id}/label", pages_question.label),
        post("/question/{id}/pair", pages_question.pair),
        post("/question/{id}/report", pages_question.report),
        get("/question/{id}/teach", pages_proposals.teach),
        post("/question/{id}/teach", pages_proposals.propose),
        get("/proposals", pages_proposals.listed),
        get("/proposals/{id}", pages_proposals.proposal),
        get("/proposals/{id}/file", pages_proposals.file),
        post("/proposals/{id}/accept", for_leads("Accepting a proposal", pages_proposals.accept)),
        get("/answers", pages_answers.answers),
        post("/answers", pages_answers.find),
        get("/key/{id}", pages_answers.key_page),
        post("/key/{id}/approve", for_leads("Approving an answer", pages_answers.approve)),
        post("/key/{id}/report", pages_answers.report),
        post("/key/{id}/clear", for_leads("Ending a quarantine", pages_answers.clear)),
    ]

    @contextlib.asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(_refresh(desk)) if refresh else None
        try:
            yield
        finally:
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    return Starlette(routes=routes, middleware=[Middleware(Guarded)], lifespan=running)


async def _refresh(desk: Desk) -> None:
    while True:
        try:
            await asyncio.to_thread(desk.refresh)
        except SlotcacheError as error:
            # A record that is being moved, a store that does not answer: what is known stays, and it is tried again.
            say("cannot refresh", level=logging.WARNING, error_type=type(error).__name__)
        await asyncio.sleep(REFRESH_SECONDS)


async def _home(_: Request) -> Response:
    return RedirectResponse("/queue", status_code=303)


async def _healthy(_: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _static(request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in _STATIC:
        return PlainTextResponse("not found\n", status_code=404)
    return Response(static(name), media_type=_STATIC[name])
