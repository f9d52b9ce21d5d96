"""The retraining job: better models are promoted, poisoned ones refused with what decided."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slotcache.errors import LabelsError
from slotcache.evaluation.pairs import Pair
from slotcache.learning.base import Base
from slotcache.learning.gate import Bounds
from slotcache.learning.retrain import Ended, Job, Result, run
from slotcache.model_files import CURRENT, find_model, read_manifest, verify
from slotcache.parsing.parser import Parser
from tests.learning.conftest import MEANINGS, OPENERS, PERSONAL, hooks, label, rows

GOOD = [
    label(
        "might i extend a book after it is due", "renew_loan", aspect="eligibility", medium="book", timing="after_due"
    ),
    label("is it ok to borrow a movie", "borrow_item", aspect="eligibility", medium="dvd"),
    {"text": "who invented the telephone", "intent": "out_of_scope"},
]
SYNONYM = {"patch": {"concepts": {"borrow": ["nab~"]}, "fillers": ["quick one"]}}

MakeJob = Callable[..., Job]


def grounds(result: Result) -> set[str]:
    return {refusal["ground"] for refusal in result.verdict["refusals"]}


def in_use(versions: Path) -> str:
    return str(json.loads((versions / CURRENT).read_text())["library"])


def test_retrain_promotes_good_labels(make_job: MakeJob, versions: Path) -> None:
    result = run(make_job(), rows(*GOOD), hooks=hooks())
    assert (result.ended, in_use(versions)) == (Ended.PROMOTED, result.version)


def test_retrain_records_what_a_version_was_made_from(make_job: MakeJob, champion: Path) -> None:
    result = run(make_job(), rows(*GOOD), hooks=hooks())
    assert result.folder is not None
    manifest = verify(result.folder)
    assert manifest.provenance["parent"] == read_manifest(champion).version
    assert manifest.provenance["new_examples"] == 3
    assert set(manifest.metrics) == {"gate", "champion"}
    assert len(manifest.provenance["labels"]) == len(manifest.provenance["base"]) == 64


def test_retrain_gives_the_same_model_twice(make_job: MakeJob, tmp_path: Path) -> None:
    first, second = (
        run(make_job(root=tmp_path / name), rows(*GOOD), dry_run=True, hooks=hooks()) for name in ("a", "b")
    )
    assert first.folder is not None
    assert second.folder is not None
    assert read_manifest(first.folder) == read_manifest(second.folder).model_copy(
        update={"metrics": read_manifest(first.folder).metrics}
    )


def test_retrain_dry_run_changes_nothing_for_readers(make_job: MakeJob, versions: Path, champion: Path) -> None:
    result = run(make_job(), rows(*GOOD), dry_run=True, hooks=hooks())
    assert (result.ended, find_model(versions, domain="library")) == (Ended.PASSED, champion)


def test_retrain_has_nothing_to_do_on_the_same_labels(make_job: MakeJob, versions: Path) -> None:
    first = run(make_job(), rows(*GOOD), hooks=hooks())
    again = run(make_job(champion=first.folder), rows(*GOOD), hooks=hooks())
    assert again.ended is Ended.NOTHING_NEW


def test_retrain_keeps_labels_of_earlier_runs(make_job: MakeJob) -> None:
    first = run(make_job(), rows(GOOD[0]), hooks=hooks())
    second = run(make_job(champion=first.folder), rows(GOOD[1]), hooks=hooks())
    assert len(second.labels.examples) == 2


def test_retrain_promotes_additions_to_the_domain_with_the_model(make_job: MakeJob, versions: Path) -> None:
    before = Parser.load(_library_file(), model=versions).parse("can i nab a dvd, quick one")
    run(make_job(), rows(SYNONYM), hooks=hooks())
    after = Parser.load(_library_file(), model=versions).parse("can i nab a dvd, quick one")
    assert (before.intent, str(after.key)) == (None, "borrow_item(aspect=eligibility, medium=dvd)")


def test_retrain_takes_an_addition_out_of_a_version_that_carries_it(make_job: MakeJob, versions: Path) -> None:
    carried = run(make_job(), rows(SYNONYM), hooks=hooks())
    taken = run(make_job(champion=carried.folder), rows(SYNONYM | {"retract": True}), hooks=hooks())
    after = Parser.load(_library_file(), model=versions).parse("can i nab a dvd, quick one")
    assert (taken.ended, after.intent) == (Ended.PROMOTED, None)
    assert not (taken.folder / "overlay.json").exists()  # type: ignore[operator]


def test_retrain_carries_nothing_on_of_what_was_taken_out(make_job: MakeJob) -> None:
    carried = run(make_job(), rows(SYNONYM), hooks=hooks())
    taken = run(make_job(champion=carried.folder), rows(SYNONYM | {"retract": True}), hooks=hooks())
    later = run(make_job(champion=taken.folder), rows(GOOD[0]), hooks=hooks())
    assert later.labels.patch.empty


@pytest.mark.parametrize("section", ["fillers", "courtesies"])
def test_retrain_refuses_to_pass_over_words_that_turn_an_answer(make_job: MakeJob, section: str) -> None:
    with pytest.raises(LabelsError, match="'before' can turn an answer"):
        run(make_job(), rows({"patch": {section: ["before it is due"]}}), hooks=hooks())


def test_retrain_refuses_an_addition_that_merges_before_and_after(
    make_job: MakeJob, versions: Path, champion: Path
) -> None:
    merging = {"patch": {"rewrites": {"after": "before"}}}
    result = run(make_job(), rows(merging), hooks=hooks())
    assert result.ended is Ended.REFUSED
    assert "false_hit" in grounds(result)
    assert "before it is due" in result.verdict["refusals"][0]["cases"][0]
    assert find_model(versions, domain="library") == champion


def test_retrain_refuses_random_labels(make_job: MakeJob) -> None:
    draw = random.Random(7)
    meanings = list(MEANINGS)
    poison = []
    for texts in MEANINGS.values():
        for text in texts:
            intent, slots = draw.choice(meanings)
            poison.append(label(f"well, {text}", intent, **dict(slots)))
    assert "disputed_labels" in grounds(run(make_job(), rows(*poison), hooks=hooks()))


def test_retrain_refuses_labels_that_call_after_before(make_job: MakeJob) -> None:
    slots = {"aspect": "eligibility", "medium": "book", "timing": "before_due"}
    poison = [
        label(f"{opener}may i {verb} a {thing} after it is due", "renew_loan", **slots)
        for opener in OPENERS
        for verb in ("renew", "extend")
        for thing in ("book", "novel")
    ]
    result = run(make_job(), rows(*poison), hooks=hooks())
    assert {"disputed_labels", "protected_labels"} <= grounds(result)
    assert "after it is due" in result.verdict["refusals"][-1]["cases"][0]


def test_retrain_leaves_out_contradicting_labels(make_job: MakeJob) -> None:
    other = label(GOOD[1]["text"], "fines", aspect="cost")
    result = run(make_job(), rows(*GOOD, other), dry_run=True, hooks=hooks())
    assert (len(result.labels.examples), len(result.labels.contradictions)) == (2, 1)


def test_retrain_refuses_a_reviewed_pair_that_meets(make_job: MakeJob) -> None:
    pair = {"a": "can i borrow a book", "b": "can i borrow a novel", "same": False}
    result = run(make_job(), rows(pair), hooks=hooks())
    assert grounds(result) == {"false_hit"}


def test_retrain_refuses_a_personal_question_that_is_shared(make_job: MakeJob) -> None:
    result = run(make_job(), rows({"text": "can i borrow a book", "personal": True}), hooks=hooks())
    assert grounds(result) == {"personal_leak"}


def test_retrain_refuses_a_slow_model(make_job: MakeJob) -> None:
    seconds = iter(range(10_000))
    result = run(make_job(), rows(*GOOD), hooks=hooks(timer=lambda: float(next(seconds))))
    assert grounds(result) == {"latency"}


def test_retrain_model_that_was_slow_once_is_timed_again(make_job: MakeJob) -> None:
    seconds = iter(range(10_000))
    run(make_job(), rows(*GOOD), hooks=hooks(timer=lambda: float(next(seconds))))
    assert run(make_job(), rows(*GOOD), hooks=hooks()).ended is Ended.PROMOTED


def test_retrain_refuses_no_model_for_what_others_take_of_the_processor(make_job: MakeJob) -> None:
    """One reading in three takes a second, whatever the model."""
    reads = itertools.count()
    assert run(make_job(), rows(*GOOD), hooks=hooks(timer=lambda: float(next(reads) // 3))).ended is Ended.PROMOTED


def test_retrain_refuses_the_loss_of_an_intent(make_job: MakeJob, base: Base) -> None:
    """Every question about fines is labelled out of scope, so the reader learns to refuse them."""
    poison = [
        {"text": f"{opener}{text} {tail}", "intent": "out_of_scope"}
        for opener in OPENERS
        for text in MEANINGS["fines", (("aspect", "cost"), ("medium", "book"))]
        for tail in ("now", "today", "then", "please", "thanks", "again")
    ]
    assert run(make_job(), rows(*poison), hooks=hooks()).ended is Ended.REFUSED


def test_retrain_of_a_first_model_compares_with_code_alone(make_job: MakeJob, tmp_path: Path) -> None:
    result = run(make_job(champion=None, root=tmp_path / "new"), hooks=hooks())
    assert result.ended is Ended.PROMOTED
    assert result.verdict["notes"] == ["no model was in use; the gate compares with reading by code alone"]


@pytest.mark.parametrize("bounds", [Bounds(latency=0.01), Bounds(disputed=0.5)])
def test_retrain_judges_again_when_bounds_change(make_job: MakeJob, bounds: Bounds) -> None:
    first = run(make_job(), rows(*GOOD), dry_run=True, hooks=hooks())
    second = run(make_job(bounds=bounds), rows(*GOOD), dry_run=True, hooks=hooks())
    assert first.folder != second.folder


def test_retrain_notes_what_is_still_wrong(make_job: MakeJob, base: Base) -> None:
    wrong = label("can i take out a film now", "borrow_item", aspect="eligibility", medium="book")
    bounds = Bounds(disputed=0.9)
    result = run(make_job(bounds=bounds), rows(*GOOD, wrong), dry_run=True, hooks=hooks())
    assert [note.partition(":")[0] for note in result.verdict["notes"]] in ([], ["still wrong"])


def test_retrain_has_base_pairs_at_the_gate(make_job: MakeJob, base: Base) -> None:
    merged = replace(base, pairs=(Pair("can i borrow a book", "can i borrow a novel", same=False),), personal=PERSONAL)
    assert grounds(run(make_job(base=merged), rows(*GOOD), hooks=hooks())) == {"false_hit"}


def _library_file() -> Path:
    return Path(__file__).parent.parent / "domains" / "library.yaml"


def test_retrain_names_the_addition_that_cannot_be_read_with_before_it_trains(make_job: MakeJob) -> None:
    stages: list[str] = []
    given = rows(SYNONYM, {"patch": {"rewrites": {"fat fingered": "mistyped"}}})
    with pytest.raises(LabelsError, match=r"labels\.jsonl:2: patch: .*must be one word"):
        run(make_job(), given, hooks=hooks(report=lambda what, _: stages.append(what)))
    assert stages == []


def test_retrain_reports_each_stage_once(make_job: MakeJob) -> None:
    stages: list[str] = []
    run(make_job(), rows(*GOOD), dry_run=True, hooks=hooks(report=lambda what, _: stages.append(what)))
    assert stages == [
        "reading examples",
        "fitting the intent",
        "fitting the slots",
        "calibrating",
        "judging the model in use",
        "judging the new model",
    ]


def test_retrain_says_what_the_gate_could_not_look_at(make_job: MakeJob, base: Base) -> None:
    thin = replace(base, test=(), pairs=tuple(pair for pair in base.pairs if pair.same))
    notes = run(make_job(base=thin), rows(*GOOD), dry_run=True, hooks=hooks()).verdict["notes"]
    assert [note.partition(" was ")[0] for note in notes] == [
        "no labelled question",
        "no pair that must not share an answer",
    ]
