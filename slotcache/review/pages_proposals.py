"""Additions to the domain: proposing one from a question, its diff, accepting it."""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from slotcache.records.redact import readable
from slotcache.review.acts import Kind, patch_id
from slotcache.review.labels import Stale
from slotcache.review.pages_queue import path_of
from slotcache.review.proposals import Effect, as_yaml, effect, filler, problem_of, synonym, targets
from slotcache.review.web import Visit
from slotcache.serving.logs import say


def teach(visit: Visit) -> Response:
    """The forms to propose a filler, a synonym or a new slot value."""
    return _form(visit)


def propose(visit: Visit) -> Response:
    """Keep a proposal; what cannot be used is said in the form."""
    desk, form = visit.desk, visit.form
    item = desk.queue.item(visit.path["id"])
    if item is None:
        return visit.go("/queue")
    what, phrase = form.get("what", ""), " ".join(form.get("phrase", "").split())
    if not phrase:
        return _form(visit, problem="Say the words first.")
    made: dict[str, Any] | str = filler(phrase)
    if what == "synonym":
        made = synonym(form.get("target", ""), phrase)
    elif what == "value":
        made = synonym(f"{form.get('slot', '').strip()}={form.get('value', '').strip()}", phrase)
    problem = made if isinstance(made, str) else problem_of(made, desk.domain(), new_value=what == "value")
    if isinstance(made, str) or problem:
        return _form(visit, problem=problem)
    subject = patch_id(made)
    known = next((one for one in desk.proposals() if one.id == subject), None)
    if known is None:
        act = desk.act(
            Kind.PROPOSE,
            subject,
            {"patch": made, "text": readable(item.text), "question": item.id},
            author=visit.name,
            id=form.get("id", ""),
        )
        desk.labels.add(act)
        say("addition proposed", person=visit.name)
    return visit.go(f"/proposals/{subject}", back=item.id)


def listed(visit: Visit) -> Response:
    """All proposals that were not taken back."""
    return visit.show("proposals.html.j2", proposals=list(reversed(visit.desk.proposals())), as_yaml=as_yaml)


def proposal(visit: Visit) -> Response:
    """One proposal: its diff, what it warns of, and how its question would be read."""
    desk = visit.desk
    found = next((one for one in desk.proposals() if one.id == visit.path["id"]), None)
    if found is None:
        return visit.show("message.html.j2", status=404, title="Not found", message="It was taken back.")
    parser = desk.parser
    shown = effect(found.patch, parser.domain, parser=parser, text=found.text)
    back = visit.query.get("back", "")
    return visit.show(
        "proposal.html.j2",
        proposal=found,
        effect=shown,
        before=_reading(shown, "before"),
        after=_reading(shown, "after"),
        yaml=as_yaml(found.patch),
        back=path_of(back) if back else "/proposals",
        acts=desk.labels.acts(found.id),
    )


def accept(visit: Visit) -> Response:
    """Let the next retraining take a proposal in."""
    desk = visit.desk
    found = next((one for one in desk.proposals() if one.id == visit.path["id"]), None)
    if found is not None and not found.accepted:
        act = desk.act(Kind.ACCEPT, found.id, {}, author=visit.name, id=visit.form.get("id", ""))
        if isinstance(desk.labels.add(act, seen=visit.seen), Stale):
            message = "Somebody did something about this proposal since you opened it."
            return visit.show("message.html.j2", status=409, title="Look again", message=message)
        say("addition accepted", person=visit.name)
    back = visit.form.get("back", "")
    return visit.go(back if back.startswith("/question/q-") else f"/proposals/{visit.path['id']}")


def file(visit: Visit) -> Response:
    """A proposal as a domain patch file."""
    found = next((one for one in visit.desk.proposals() if one.id == visit.path["id"]), None)
    if found is None:
        return PlainTextResponse("it was taken back\n", status_code=404)
    headers = {"content-disposition": f'attachment; filename="{found.id}.yaml"'}
    return PlainTextResponse(as_yaml(found.patch), headers=headers)


def _form(visit: Visit, *, problem: str = "") -> Response:
    desk = visit.desk
    item = desk.queue.item(visit.path["id"])
    if item is None:
        return visit.go("/queue")
    parse = desk.parser.parse(readable(item.text))
    domain = desk.domain()
    return visit.show(
        "teach.html.j2",
        status=422 if problem else 200,
        item=item,
        text=readable(item.text),
        parse=parse,
        what=visit.form.get("what") or visit.query.get("what", "filler"),
        phrase=visit.form.get("phrase", " ".join(parse.residue)),
        said=visit.form,
        targets=targets(domain),
        slots={name: slot for name, slot in domain.slots.items() if slot.type == "closed"},
        problem=problem,
    )


def _reading(shown: Effect, which: str) -> str:
    parse = getattr(shown, which)
    if parse is None:
        return ""
    return str(parse.key) if parse.intent is not None else f"no key: {parse.abstain}"
