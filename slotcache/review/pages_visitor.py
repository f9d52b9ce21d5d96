"""Logging in and out."""

from __future__ import annotations

from starlette.responses import Response

from slotcache.review.sessions import COOKIE
from slotcache.review.web import Visit
from slotcache.serving.logs import say


def login(visit: Visit) -> Response:
    """The form to log in with."""
    if visit.name:
        return visit.go("/queue")
    return visit.admit(visit.show("login.html.j2", problem="", tried=""), visit.session)


def log_in(visit: Visit) -> Response:
    """Log somebody in, or say why not without telling whether the name is known."""
    name, password = visit.form.get("name", "").strip(), visit.form.get("password", "")
    wait = visit.desk.attempts.wait(name, visit.address)
    if wait > 0:
        problem = f"Too many attempts. Try again in {int(wait // 60) + 1} minutes."
        response: Response = visit.show("login.html.j2", status=429, problem=problem, tried=name)
        response.headers["retry-after"] = str(int(wait) + 1)
        return response
    # Counted before it is looked at, so that many attempts at once are not looked at all.
    visit.desk.attempts.failed(name, visit.address)
    if not visit.desk.sessions.admits(name, password):
        say("log-in refused")
        return visit.show("login.html.j2", status=401, problem="This name and password do not go together.", tried=name)
    visit.desk.attempts.succeeded(name, visit.address)
    say("logged in", person=name)
    return visit.admit(visit.go("/queue"), visit.desk.sessions.begin(name))


def log_out(visit: Visit) -> Response:
    """Log somebody out."""
    response = visit.go("/login")
    response.delete_cookie(COOKIE)
    return response
