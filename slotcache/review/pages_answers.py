"""The answers of a key: approving, editing, reporting a wrong one, ending a quarantine."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from slotcache.address import Namespace
from slotcache.domain.keys import wrong_with
from slotcache.errors import KeyFormatError
from slotcache.key import Key
from slotcache.review.acts import Kind, key_id
from slotcache.review.answers import Answers
from slotcache.review.pages_queue import done_of
from slotcache.review.web import Visit
from slotcache.review.weigh import Why
from slotcache.serving.logs import say

_KEYS: Final = (Why.QUARANTINE, Why.CONFLICT, Why.WAITING)


def answers(visit: Visit) -> Response:
    """Keys that wait for a person, and finding the answers of any other."""
    waiting = [item for why in _KEYS for item in visit.desk.queue.page(why=why, most=100)]
    return visit.show("answers.html.j2", items=waiting, problem="", asked="")


def find(visit: Visit) -> Response:
    """The key of a printed key or of a question."""
    asked = " ".join(visit.form.get("asked", "").split())
    try:
        key = Key.parse(asked)
    except KeyFormatError:
        read = visit.desk.parser.parse(asked).key if asked else None
        if read is None or read.is_verbatim:
            waiting = [item for why in _KEYS for item in visit.desk.queue.page(why=why, most=100)]
            problem = "That is neither a printed key nor a question that the domain reads."
            return visit.show("answers.html.j2", status=422, items=waiting, problem=problem, asked=asked)
        key = read
    return visit.go(f"/key/{key_id(str(key))}", key="" if key.is_verbatim else str(key))


def key_page(visit: Visit) -> Response:
    """Everything about one key."""
    return _shown(visit)


def approve(visit: Visit) -> Response:
    """Approve an answer in recall, as it is or with another text, or write one for a key that has none."""
    store, key = visit.desk.answers, _key(visit)
    if store is None or key is None:
        return _unknown(visit)
    text, entry_id = visit.form.get("answer", "").strip(), visit.form.get("entry", "")
    if not text:
        return _shown(visit, problem="An approved answer needs a text.")
    if entry_id:
        held = store.entry(entry_id)
        if held is None or str(held.key) != key:
            return _shown(visit, problem="This answer left recall in the meantime; look again.")
        if held.answer != visit.form.get("was", "").replace("\r\n", "\n"):
            return _shown(visit, problem="Somebody changed this answer in the meantime; look again.")
        stored = store.approve(entry_id, author=visit.name, answer=text.replace("\r\n", "\n"))
        if not stored.stored:
            return _shown(visit, problem=f"It was not kept: {stored.reason}.")
        written = [stored.entry_id] if stored.entry_id else []
    else:
        places = _chosen(store, visit)
        written = list(
            store.write(key, text.replace("\r\n", "\n"), places, author=visit.name, domain=visit.desk.domain())
        )
    act = visit.desk.act(
        Kind.APPROVE, key_id(key), {"key": key, "entries": written}, author=visit.name, id=visit.form.get("id", "")
    )
    visit.desk.labels.add(act)
    say("answer approved", person=visit.name)
    return visit.go(f"/key/{key_id(key)}", key=_open(key), done=act.id)


def report(visit: Visit) -> Response:
    """Take a wrong answer out of recall at once."""
    store, key, entry_id = visit.desk.answers, _key(visit), visit.form.get("entry", "")
    if store is None or key is None or store.entry(entry_id) is None:
        return _unknown(visit)
    told = store.report(entry_id, author=visit.name, note=visit.form.get("note", "").strip())
    body = {"key": key, "hit_id": entry_id, "evicted": told.evicted}
    act = visit.desk.act(Kind.REPORT, key_id(key), body, author=visit.name, id=visit.form.get("id", ""))
    visit.desk.labels.add(act)
    say("false hit reported", person=visit.name, evicted=told.evicted)
    return visit.go(f"/key/{key_id(key)}", key=_open(key), done=act.id)


def clear(visit: Visit) -> Response:
    """Let the model's answers fill a key again."""
    store, key = visit.desk.answers, _key(visit)
    if store is None or key is None:
        return _unknown(visit)
    if store.clear(key):
        act = visit.desk.act(Kind.CLEAR, key_id(key), {"key": key}, author=visit.name, id=visit.form.get("id", ""))
        visit.desk.labels.add(act)
        say("quarantine cleared", person=visit.name)
    return visit.go(f"/key/{key_id(key)}", key=_open(key))


def _shown(visit: Visit, *, problem: str = "") -> Response:
    store, key = visit.desk.answers, _key(visit)
    if store is None or key is None:
        return _unknown(visit)
    state = store.state(key)
    parsed = Key.parse(key)
    return visit.show(
        "key.html.j2",
        status=422 if problem else 200,
        id=key_id(key),
        state=state,
        query_key=_open(key),
        wrong="" if parsed.is_verbatim else wrong_with(visit.desk.domain(), parsed),
        place=_told,
        generation="/".join((visit.desk.parser.version, visit.desk.parser.domain_hash)),
        problem=problem,
        typed=visit.form.get("answer", "") if problem else "",
        history=visit.desk.labels.acts(key_id(key)),
        **done_of(visit),
    )


def _key(visit: Visit) -> str | None:
    """The printed key that an address names; the address holds it openly when it says nothing of a customer's words."""
    id, named = visit.path["id"], visit.query.get("key") or visit.form.get("key", "")
    if named and key_id(named) == id:
        try:
            Key.parse(named)
        except KeyFormatError:
            return None
        return named
    return visit.desk.answers.key_of(id) if visit.desk.answers is not None else None


def _open(key: str) -> str:
    return "" if Key.parse(key).is_verbatim else key


def _chosen(store: Answers, visit: Visit) -> list[Namespace]:
    places = store.places()
    return [places[int(at)] for at in visit.many.get("place", ()) if at.isdecimal() and int(at) < len(places)]


def _told(namespace: Namespace) -> str:
    """A place in a few words."""
    named = {
        "tenant": namespace.tenant,
        "locale": namespace.locale,
        "model": namespace.model,
        "prompt": namespace.prompt,
        "epoch": namespace.epoch,
        "with": namespace.extra,
    }
    return ", ".join(f"{name} {value}" for name, value in named.items() if value) or "the bot that names no tenant"


def _unknown(visit: Visit) -> Response:
    message = "No store is attached, or nobody waits for this key any more."
    return visit.show("message.html.j2", status=404, title="Not found", message=message)
