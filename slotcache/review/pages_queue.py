"""The queue, what was labelled, and going on to the next question."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from slotcache.review.acts import LEADS, Act, Kind, standing
from slotcache.review.labels import Stale
from slotcache.review.queue import Item
from slotcache.review.web import Visit
from slotcache.review.weigh import Why
from slotcache.serving.logs import say

PAGE: Final = 50
_ON_THE_WAY: Final = frozenset({"q", "k"})


def queue(visit: Visit) -> Response:
    """Questions to look at, the most pressing first."""
    why, search = why_of(visit.query.get("why", "")), visit.query.get("q", "").strip()
    number = visit.query.get("page", "1")
    at = int(number) if number.isdecimal() and 0 < int(number[:6]) < 100_000 else 1
    items = visit.desk.queue.page(why=why, search=search, first=(at - 1) * PAGE, most=PAGE + 1)
    counts = visit.desk.queue.counts()
    return visit.show(
        "queue.html.j2",
        items=items[:PAGE],
        first=(at - 1) * PAGE,
        more=len(items) > PAGE,
        at=at,
        counts=counts,
        total=sum(counts.values()),
        why=why,
        search=search,
        address=address_of,
        **done_of(visit),
    )


def next_question(visit: Visit) -> Response:
    """On to the most pressing question that nobody else looks at."""
    why, after = why_of(visit.query.get("why", "")), visit.query.get("after", "")
    if after:
        visit.desk.labels.release(after, author=visit.name)
    return go_on(visit, why=why, after=after, done="")


def go_on(visit: Visit, *, why: Why | None, after: str, done: str) -> Response:
    """The next question after one; the queue when there is none."""
    desk = visit.desk
    found = desk.queue.next(author=visit.name, now=desk.clock(), why=why, after=after)
    if found is None and after:
        found = desk.queue.next(author=visit.name, now=desk.clock(), why=why)
    if found is None or found == after:
        return visit.go("/queue", why=why.value if why else "", done=done)
    desk.labels.claim(found, author=visit.name, now=desk.clock())
    return visit.go(path_of(found), why=why.value if why else "", done=done)


def labels(visit: Visit) -> Response:
    """What was done lately, by whom, and taking it back."""
    author = visit.query.get("author", "")
    return visit.show("labels.html.j2", acts=visit.desk.labels.recent(author=author, most=200), author=author)


def undo(visit: Visit) -> Response:
    """Take an act back, with what it did to answers."""
    desk, id = visit.desk, visit.form.get("act", "")
    act = desk.labels.act(id)
    if act is None:
        return visit.show("message.html.j2", status=404, title="Nothing to undo", message="There is no such label.")
    if _changes_answers(visit, act) and not visit.leads:
        return visit.refuse("Taking this back")
    if isinstance(desk.labels.undo(act, author=visit.name, at=desk.clock(), id=visit.form.get("id", "")), Stale):
        return visit.show(
            "message.html.j2", status=409, title="Undone already", message="Somebody took this back before you."
        )
    say("taken back", person=visit.name, kind=act.kind.value)
    if desk.answers is not None and act.kind is Kind.APPROVE:
        desk.answers.take_back(act.body.get("entries", ()))
    if desk.answers is not None and act.kind is Kind.REPORT and act.body.get("key"):
        desk.answers.clear(str(act.body["key"]))
    if visit.form.get("back") == "labels" or act.subject[:1] not in _ON_THE_WAY:
        return visit.go("/labels" if visit.form.get("back") == "labels" else "/proposals")
    return visit.go(path_of(act.subject), key=str(act.body.get("key", "")) if act.subject[:1] == "k" else "")


def done_of(visit: Visit) -> dict[str, Any]:
    """What the visitor did last, to show it with the way back."""
    act = visit.desk.labels.act(visit.query["done"]) if visit.query.get("done") else None
    stands = act is not None and any(one.id == act.id for one in standing(visit.desk.labels.acts(act.subject)))
    return {"done": act, "done_stands": stands}


def why_of(name: str) -> Why | None:
    """The reason of a name; None for all of them."""
    return next((why for why in Why if why.value == name), None)


def path_of(subject: str) -> str:
    """The page of a question or a key."""
    return f"/key/{subject}" if subject.startswith("k-") else f"/question/{subject}"


def address_of(item: Item) -> str:
    """The page of an item."""
    return path_of(item.id)


def _changes_answers(visit: Visit, act: Act) -> bool:
    """Whether undoing an act changes what customers get. A proposal takes its acceptance with it."""
    accepted = {one.id for one in visit.desk.proposals() if one.accepted}
    return act.kind in LEADS or (act.kind is Kind.PROPOSE and act.subject in accepted)
