"""One question: what was read, the candidates, the nearest answered questions, and the label."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from slotcache.learning.examples import OUT_OF_SCOPE
from slotcache.parsing.parser import Trace
from slotcache.parsing.types import Parse
from slotcache.records.redact import readable
from slotcache.reporting.stages import stages
from slotcache.review.acts import SETTLES, Kind, key_id, pair_id, standing
from slotcache.review.editor import fields, problems, reading_as
from slotcache.review.labels import Stale
from slotcache.review.pages_queue import done_of, go_on, path_of, why_of
from slotcache.review.queue import Item
from slotcache.review.web import Visit
from slotcache.serving.logs import say

_CANDIDATES: Final = 5


def question(visit: Visit) -> Response:
    """The page of a question."""
    return _shown(visit)


def label(visit: Visit) -> Response:
    """Keep a label and go on to the next question."""
    item = visit.desk.queue.item(visit.path["id"])
    if item is None or item.is_key:
        return _unknown(visit)
    said = visit.form.get("say", "")
    if said in ("confirm", "label"):
        intent = visit.form.get("intent", "").strip()
        slots = {
            name.removeprefix("slot."): value.strip()
            for name, value in visit.form.items()
            if name.startswith("slot.") and value.strip()
        }
        wrong = problems(visit.desk.domain(), intent, slots)
        if wrong:
            return _shown(visit, problem="; ".join(wrong), intent=intent, slots=slots, status=422)
        kind, body = Kind.LABEL, {"intent": intent, "slots": slots}
    elif said == "scope":
        kind, body = Kind.LABEL, {"intent": OUT_OF_SCOPE, "slots": {}}
    elif said in ("personal", "leave"):
        kind, body = Kind(said), {}
    else:
        return _shown(visit, problem="Say what the question asks.", status=422)
    act = visit.desk.act(
        kind, item.id, {"text": readable(item.text), **body}, author=visit.name, id=visit.form.get("id", "")
    )
    result = visit.desk.labels.add(act, seen=visit.seen)
    if isinstance(result, Stale):
        return _shown(visit, since=result, status=409)
    say("labelled", person=visit.name, kind=kind.value)
    return go_on(visit, why=why_of(visit.form.get("why", "")), after=item.id, done=result.act.id)


def pair(visit: Visit) -> Response:
    """Say that two questions may or must not share an answer."""
    item = visit.desk.queue.item(visit.path["id"])
    other = visit.form.get("other", "").strip()
    if item is None or item.is_key or not other:
        return _unknown(visit)
    a, same = readable(item.text), visit.form.get("same") == "yes"
    body = {"a": a, "b": other, "same": same}
    act = visit.desk.act(Kind.PAIR, pair_id(a, other), body, author=visit.name, id=visit.form.get("id", ""))
    visit.desk.labels.add(act)
    say("pair labelled", person=visit.name)
    return visit.go(path_of(item.id), why=visit.form.get("why", ""), done=act.id)


def report(visit: Visit) -> Response:
    """Take the answer that this question got out of recall at once."""
    desk = visit.desk
    item = desk.queue.item(visit.path["id"])
    if item is None or not item.hit_id or desk.answers is None:
        return _unknown(visit)
    told = desk.answers.report(item.hit_id, author=visit.name, note=visit.form.get("note", "").strip())
    body = {"text": readable(item.text), "hit_id": item.hit_id, "key": told.key or "", "evicted": told.evicted}
    act = desk.act(Kind.REPORT, item.id, body, author=visit.name, id=visit.form.get("id", ""))
    desk.labels.add(act)
    say("false hit reported", person=visit.name, evicted=told.evicted)
    return visit.go(path_of(item.id), why=visit.form.get("why", ""), done=act.id)


def _unknown(visit: Visit) -> Response:
    message = "This question is not in the traffic record any more."
    return visit.show("message.html.j2", status=404, title="Not found", message=message)


def _shown(
    visit: Visit,
    *,
    problem: str = "",
    intent: str = "",
    slots: dict[str, str] | None = None,
    since: Stale | None = None,
    status: int = 200,
) -> Response:
    desk = visit.desk
    item = desk.queue.item(visit.path["id"])
    if item is None or item.is_key:
        return _unknown(visit)
    claim = desk.labels.claim(item.id, author=visit.name, now=desk.clock())
    parser = desk.parser
    parse, trace = parser.trace(readable(item.text))
    history = desk.labels.acts(item.id)
    stands = [act for act in standing(history) if act.kind in SETTLES]
    chosen = intent or visit.query.get("intent", "").strip()
    domain = desk.domain()
    said = slots if slots is not None else _said(trace, parse, stands, chosen)
    near = desk.nearest.of(readable(item.text))
    return visit.show(
        "question.html.j2",
        status=status,
        item=item,
        text=readable(item.text),
        parse=parse,
        key_printed=str(parse.key) if parse.intent is not None else "",
        key_of=key_id(str(parse.key)),
        then=_then(item, parse),
        intents=domain.intents,
        candidates=_candidates(parse, item, domain.intents),
        stages=stages(parser, item.text),
        near=near,
        pairs={one.text: _pair(visit, item, one.text) for one in near},
        history=history,
        label=stands[-1] if stands else None,
        seen=history[-1].number if history else 0,
        why=visit.query.get("why") or visit.form.get("why", ""),
        claim=claim if claim.author != visit.name else None,
        chosen=chosen,
        fields=fields(domain, chosen, said) if chosen in domain.intents else [],
        problem=problem or (f"The domain has no intent “{chosen}”." if chosen not in ("", *domain.intents) else ""),
        since=since.since if since is not None else (),
        **done_of(visit),
    )


def _said(trace: Trace, parse: Parse, stands: list[Any], intent: str) -> dict[str, str]:
    """What the form begins with: the label that stands, or else what the words say under the chosen intent."""
    if stands and stands[-1].body.get("intent") == intent:
        return dict(stands[-1].body["slots"])
    return dict(parse.slots) if parse.intent == intent else reading_as(trace, intent)


def _then(item: Item, parse: Parse) -> str:
    """How it was read when it was asked last; empty when it is read alike now."""
    if item.record is None:
        return ""
    then = item.record.key if item.record.intent is not None else item.record.abstain
    now = str(parse.key) if parse.intent is not None else parse.abstain
    return then if then is not None and then != now else ""


def _candidates(parse: Parse, item: Item, known: Any) -> list[tuple[str, float]]:
    recorded = item.record.candidates if item.record is not None else ()
    merged = {intent: score for intent, score in (*recorded, *parse.candidates) if intent in known}
    return sorted(merged.items(), key=lambda one: -one[1])[:_CANDIDATES]


def _pair(visit: Visit, item: Item, other: str) -> bool | None:
    """What people said about two questions; None for nothing."""
    stands = standing(visit.desk.labels.acts(pair_id(readable(item.text), other)))
    return bool(stands[-1].body["same"]) if stands else None
