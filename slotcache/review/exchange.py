"""Takes labels in from files, and speaks the JSON of Label Studio.

JSON lines are the rows that `exported_rows` gives and `slotcache retrain` reads. Taking a file in twice adds nothing.
A label that contradicts one that stands is reported and left out: which of the two is right is for people to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slotcache.errors import LabelsError
from slotcache.learning.examples import OUT_OF_SCOPE
from slotcache.review.acts import SETTLES, Act, Kind, pair_id, patch_id, question_id, read, standing
from slotcache.review.labels import RETRACT, LabelStore, Written, retracts
from slotcache.review.proposals import accepted_id

_INTENT, _SLOTS, _TEXT, _PAIR = "intent", "slots", "text", "pair"
_PERSONAL: Final = "personal"
_SAME: Final = {True: "may share", False: "must not share"}

CONFIG: Final = """<View>
  <Text name="text" value="$text"/>
  <Choices name="intent" toName="text" choice="single" showInline="true">
    <Choice value="out_of_scope"/>
    <Choice value="personal"/>
    {intents}
  </Choices>
  <TextArea name="slots" toName="text" placeholder="slot=value, one a line" rows="4"/>
  <Choices name="pair" toName="text" choice="single" showInline="true">
    <Choice value="may share"/>
    <Choice value="must not share"/>
  </Choices>
</View>
"""
"""The labelling interface that these tasks are for."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What an import did.

    Attributes:
        added: Rows that say something new.
        known: Rows that were there, or say what stands already.
        contradicting: Rows that contradict a label that stands, in words; they were left out.
    """

    added: int
    known: int
    contradicting: tuple[str, ...]


def take_in(store: LabelStore, rows: Iterable[tuple[str, Mapping[str, Any]]], *, author: str, now: float) -> TakenIn:
    """Add labels from rows with their places.

    Args:
        store: Where to.
        rows: Rows as `exported_rows` gives them.
        author: Who said what rows without `labeller` say.
        now: Time of rows without `time`, in seconds since the epoch.

    Raises:
        LabelsError: rows have the wrong form; each is named, and nothing was added.
    """
    acts: list[tuple[str, Act]] = []
    problems = []
    for where, row in rows:
        made = _acts(row, author, now)
        if isinstance(made, str):
            problems.append(f"{where}: {made}")
        else:
            acts += [(where, act) for act in made]
    if problems:
        raise LabelsError("\n".join(["nothing was imported", *problems[:20]]))
    added = known = 0
    contradicting = []
    for where, act in acts:
        held = store.acts(act.subject)
        stands = [one for one in standing(held) if one.kind in (*SETTLES, Kind.PAIR)]
        if _known(act, held):
            known += 1
        elif act.kind in (*SETTLES, Kind.PAIR) and stands:
            last = stands[-1]
            contradicting.append(f"{where}: {last.author} said otherwise about {act.text or act.body['a']!r}")
        else:
            # Between the look and the act somebody may have spoken; then it is left out as well.
            result = store.add(act, seen=held[-1].number if held else 0)
            added += isinstance(result, Written)
            if not isinstance(result, Written):
                contradicting.append(f"{where}: {result.since[-1].author} said something about it just now")
    return TakenIn(added, known, tuple(contradicting))


def _known(act: Act, held: Sequence[Act]) -> bool:
    """Whether an act was handed in before, or says what stands already."""
    if any(one.id == act.id for one in held) or any(one.says_the_same_as(act) for one in standing(held)):
        return True
    about = next((one for one in held if one.id == retracts(act.id)), None)
    if act.kind is not Kind.UNDO or about is None:
        return False
    # What it forgets was taken back here, or somebody has said something else since: that is not to be forgotten.
    return about.kind is Kind.UNDO or any(one.number > about.number for one in standing(held))


def _acts(row: Mapping[str, Any], author: str, now: float) -> list[Act] | str:
    """The acts that a row stands for, or what is wrong with it."""
    who = row.get("labeller") or author
    try:
        at = read(row["time"]) if row.get("time") else now
    except (ValueError, TypeError):
        return f"'time' is {row['time']!r}; write a date such as 2026-01-31T09:30:00+00:00"
    if not isinstance(who, str):
        return "'labeller' must be a text"
    more = {"model": str(row["model"])} if row.get("model") else {}

    def act(kind: Kind, subject: str, body: Mapping[str, Any], *, suffix: str = "") -> Act:
        named = row.get("id")
        id = f"{named}{suffix}" if isinstance(named, str) and named else f"{subject}.{kind.value}.{at}.{who}{suffix}"
        return Act(id, at, who, kind, subject, {**body, **more})

    if isinstance(row.get("patch"), Mapping):
        subject = patch_id(row["patch"])
        if row.get("retract") is True:
            return [act(Kind.UNDO, subject, {"patch": dict(row["patch"])}, suffix=RETRACT)]
        proposal = act(Kind.PROPOSE, subject, {"patch": dict(row["patch"]), "text": ""})
        return [proposal, Act(accepted_id(proposal.id), at, who, Kind.ACCEPT, subject, {})]
    if _texts(row, "a", "b") and row.get("retract") is True:
        body = {"a": row["a"], "b": row["b"]}
        return [act(Kind.UNDO, pair_id(row["a"], row["b"]), body, suffix=RETRACT)]
    if _texts(row, "a", "b") and isinstance(row.get("same"), bool):
        return [act(Kind.PAIR, pair_id(row["a"], row["b"]), {"a": row["a"], "b": row["b"], "same": row["same"]})]
    if not _texts(row, "text"):
        return "needs 'text', or 'a', 'b' and 'same', or 'patch'"
    subject, text = question_id(row["text"]), {"text": row["text"]}
    if row.get("retract") is True:
        return [act(Kind.UNDO, subject, text, suffix=RETRACT)]
    if row.get("personal") is True:
        return [act(Kind.PERSONAL, subject, text)]
    slots = row.get("slots") or {}
    if isinstance(row.get("intent"), str) and isinstance(slots, Mapping):
        return [act(Kind.LABEL, subject, {**text, "intent": row["intent"].partition("/")[0], "slots": dict(slots)})]
    return "needs 'intent' (with 'slots'), 'personal' or 'retract' beside 'text'"


def _texts(row: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(row.get(name), str) and row[name].strip() for name in names)


def to_label_studio(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows as Label Studio tasks with annotations; proposals and retractions are no labels and stay out."""
    return [_task(row) for row in rows if "patch" not in row and "retract" not in row]


def _task(row: Mapping[str, Any]) -> dict[str, Any]:
    results = []
    if "same" in row:
        text = f"{row['a']}\n{row['b']}"
        data = {"text": text, "a": row["a"], "b": row["b"]}
        results.append(_result(_PAIR, "choices", {"choices": [_SAME[row["same"]]]}))
    else:
        data = {"text": row["text"]}
        results.append(_result(_INTENT, "choices", {"choices": [_PERSONAL if row.get("personal") else row["intent"]]}))
        slots = [f"{name}={value}" for name, value in sorted((row.get("slots") or {}).items())]
        if slots:
            results.append(_result(_SLOTS, "textarea", {"text": slots}))
    about = {name: row[name] for name in ("id", "labeller", "time", "model") if row.get(name)}
    # With what was said, so that a label that somebody changes there is told from one that merely comes back.
    about["said"] = _meaning(results)
    return {
        "data": {**data, "slotcache": about},
        "annotations": [{"result": results, "ground_truth": True, "was_cancelled": False}],
    }


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": _TEXT, "type": kind, "value": value}


def from_label_studio(tasks: Any, *, name: str) -> list[tuple[str, dict[str, Any]]]:
    """Rows of a Label Studio export (JSON), each with its place; of several annotations the last counts.

    Raises:
        LabelsError: the data is no such export; the tasks at fault are named.
    """
    if not isinstance(tasks, list):
        raise LabelsError(f"{name}: expected the list of tasks that Label Studio exports as JSON")
    rows, problems = [], []
    for number, task in enumerate(tasks, 1):
        where = f"{name}: task {number}"
        try:
            row = _row(task)
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            problems.append(f"{where}: not an annotated task of the labelling interface that `labels export` prints")
            continue
        if row is not None:
            rows.append((where, row))
    if problems:
        raise LabelsError("\n".join(problems[:20]))
    return rows


def _row(task: Mapping[str, Any]) -> dict[str, Any] | None:
    """The row of a task; None when nobody annotated it."""
    kept = [one for one in task.get("annotations", ()) if not one.get("was_cancelled") and one["result"]]
    if not kept:
        return None
    said = {result["from_name"]: result["value"] for result in kept[-1]["result"]}
    data = task["data"]
    about = dict(data.get("slotcache") or {})
    if about.pop("said", None) != _meaning(kept[-1]["result"]):
        # Labelled there, or changed: it is another label than the one that was exported.
        about = {"labeller": _annotator(kept[-1]), "time": kept[-1].get("updated_at") or kept[-1].get("created_at")}
    if _PAIR in said:
        same = {told: value for value, told in _SAME.items()}[said[_PAIR]["choices"][0]]
        return {**about, "a": data["a"], "b": data["b"], "same": same}
    intent = said[_INTENT]["choices"][0]
    if intent == _PERSONAL:
        return {**about, "text": data["text"], "personal": True}
    slots = dict(line.split("=", 1) for line in _lines(said.get(_SLOTS, {})))
    return {**about, "text": data["text"], "intent": intent, "slots": {} if intent == OUT_OF_SCOPE else slots}


def _lines(value: Mapping[str, Any]) -> list[str]:
    """The lines of a text area, which holds one text or several."""
    texts = value.get("text", [])
    return [
        line.strip()
        for text in ([texts] if isinstance(texts, str) else texts)
        for line in text.split("\n")
        if line.strip()
    ]


def _meaning(results: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What an annotation says, whatever ids and marks Label Studio adds to it."""
    said = {result["from_name"]: result["value"] for result in results}
    return {name: sorted(value.get("choices") or _lines(value)) for name, value in sorted(said.items())}


def _annotator(annotation: Mapping[str, Any]) -> str:
    """Who annotated: exports name them by e-mail address or by number."""
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    return str(who) if isinstance(who, str) else f"label-studio:{who}" if who is not None else ""


def labelling_interface(intents: Iterable[str]) -> str:
    """The XML for Label Studio's settings, with the intents of a domain."""
    return CONFIG.format(intents="\n    ".join(f'<Choice value="{intent}"/>' for intent in sorted(intents)))


def dumped(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)
