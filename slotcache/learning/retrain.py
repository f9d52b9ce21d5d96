"""The retraining job: new labels in, a challenger trained, calibrated and judged, then promoted or refused.

Every stage leaves its result in a work folder named after a digest of all inputs, so that a run that was stopped, by
whatever means, goes on where it was, and a run on the same inputs gives the same model.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from slotcache.domain.loader import domain_hash
from slotcache.domain.patches import OVERLAY, Patch, as_json, overlaid, patch_from, patched
from slotcache.domain.schema import Domain
from slotcache.errors import DomainError, LabelsError, SlotcacheError
from slotcache.learning.additions import turning
from slotcache.learning.base import Base, digest_of
from slotcache.learning.calibrate import Risks, calibrate
from slotcache.learning.examples import Example
from slotcache.learning.gate import Bounds, Measured, Questions, Refusal, Verdict, compare, disputes, measure
from slotcache.learning.heads import Floats, Settings, fit, well_said
from slotcache.learning.labels import Labels, accept, read_labels
from slotcache.learning.model_writer import amend, assemble
from slotcache.learning.pace import undisturbed
from slotcache.learning.promotion import PARENT, WORK, install, keep, switch
from slotcache.model_files import MANIFEST, check_labels, read_manifest, verify
from slotcache.parsing.encoder import Encoder
from slotcache.parsing.learned import Model
from slotcache.parsing.parser import Parser

LABELS: Final = "labels.jsonl"
"""In a version: everything that was ever labelled and accepted, beside the base examples."""

_CHALLENGER: Final = "challenger"
_INPUTS: Final = "inputs.json"
_GATE: Final = "gate.json"
_CHUNK: Final = 256
_HELD: Final = 5
"""One new label in so many is kept for calibration."""


class Ended(StrEnum):
    """How a run ended."""

    PROMOTED = "promoted"
    PASSED = "passed"
    REFUSED = "refused"
    NOTHING_NEW = "nothing_new"


@dataclass(frozen=True, slots=True)
class Job:
    """What to retrain.

    Attributes:
        domain: The domain as its files say.
        base: What it stands on.
        encoder: Model folder whose encoder is kept.
        champion: Model folder in use; None when there is none yet.
        root: Folder of versions to promote into.
        settings: Dials of the fit; the slots are chosen from the domain.
        bounds: What the challenger may do worse.
        risks: How often the learned reader may be wrong.
        seed: Part of what a run is named after.
    """

    domain: Domain
    base: Base
    encoder: Path
    champion: Path | None
    root: Path
    settings: Settings = field(default_factory=Settings)
    bounds: Bounds = field(default_factory=Bounds)
    risks: Risks = field(default_factory=Risks)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a run tells, and what it takes from outside.

    Attributes:
        report: Told of each stage.
        total: Told how many steps the stage has.
        step: Told of each step.
        clock: Seconds since the epoch.
        timer: Seconds of a clock that is never set.
        before_switch: Called with the challenger's parser once it passed, before it is the one in use (re-keying
            builds the next generation of stored answers here).
        after_switch: Called with the same once it is.
    """

    report: Callable[[str, int], object] = lambda _what, _total: None
    step: Callable[[object], object] = lambda _: None
    clock: Callable[[], float] = time.time
    timer: Callable[[], float] = time.perf_counter
    before_switch: Callable[[Parser], object] = lambda _: None
    after_switch: Callable[[Parser], object] = lambda _: None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a run.

    Attributes:
        ended: How it ended.
        version: The challenger's version; empty when none was made.
        folder: Where the challenger is; None when none was made.
        labels: What was accepted of the labels.
        verdict: The gate's verdict as plain data.
    """

    ended: Ended
    version: str
    folder: Path | None
    labels: Labels
    verdict: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ended": self.ended.value,
            "version": self.version,
            "folder": str(self.folder) if self.folder else None,
            "new_examples": len(self.labels.examples),
            "pairs": len(self.labels.pairs),
            "repeated": self.labels.repeated,
            "contradictions": list(self.labels.contradictions),
            "taken_out": list(self.labels.taken_out),
            **self.verdict,
        }


def run(
    job: Job,
    rows: Sequence[tuple[str, Mapping[str, Any]]] = (),
    *,
    patches: Sequence[Patch] = (),
    dry_run: bool = False,
    hooks: Hooks | None = None,
) -> Result:
    """Retrain, judge and, unless it is a dry run, promote or refuse.

    Args:
        job: What to retrain.
        rows: New labelled rows with their places (see `read_labels`).
        patches: Accepted additions to the domain, from files of their own.
        dry_run: Stop before anything changes for readers.
        hooks: Progress, clocks, and what happens around the switch.

    Raises:
        LabelsError: rows cannot be used.
        DomainError: patches do not fit the domain.
        ModelError: the encoder is damaged.
    """
    hooks = hooks if hooks is not None else Hooks()
    labels, domain = accepted(job, rows, patches)
    digest = _digest(job, labels)
    if job.champion is not None and read_manifest(job.champion).provenance.get("inputs") == digest:
        return Result(Ended.NOTHING_NEW, read_manifest(job.champion).version, job.champion, labels, {})
    stages = _Stages(job, labels, domain, digest, hooks)
    folder = stages.challenger()
    stages.calibrated(folder)
    verdict = stages.verdict(folder)
    version = read_manifest(folder).version
    if not verdict["passed"]:
        return Result(Ended.REFUSED, version, folder, labels, verdict)
    if dry_run:
        return Result(Ended.PASSED, version, folder, labels, verdict)
    place = promote(job.root, folder, domain, champion=job.champion, hooks=hooks)
    shutil.rmtree(stages.work, ignore_errors=True)
    return Result(Ended.PROMOTED, version, place, labels, verdict)


def accepted(
    job: Job, rows: Sequence[tuple[str, Mapping[str, Any]]], patches: Sequence[Patch] = ()
) -> tuple[Labels, Domain]:
    """Everything that is labelled, of this run and those before, and the domain with what was accepted into it.

    Raises:
        LabelsError: rows cannot be used.
        DomainError: patches do not fit the domain.
    """
    carried = read_labels(job.champion / LABELS) if job.champion and (job.champion / LABELS).is_file() else []
    labels = accept(
        [*carried, *rows], lambda patch: patched(job.domain, patch), base=job.base.examples, patches=patches
    )
    domain = patched(job.domain, labels.patch)
    turned = turning((*labels.patch.fillers, *labels.patch.courtesies), job.domain)
    if turned:
        raise LabelsError(
            f"labels cannot be used\npatch: {turned!r} can turn an answer, so no phrase with it may be passed over; "
            "leave it out of 'fillers' and 'courtesies'"
        )
    if not labels.patch.empty:
        _prove(domain, job.domain, [*carried, *rows])
    return labels, domain


def parts(base: Base, labels: Labels) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """What heads are fitted on and what they are calibrated on: new labels go to both, told apart by their text."""
    held = {e.text for e in labels.examples if _bucket(e.text) == 0}
    fitted = (*base.fit, *(e for e in labels.examples if e.text not in held))
    return fitted, (*base.calibration, *(e for e in labels.examples if e.text in held))


def _prove(domain: Domain, plain: Domain, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Read with an extended domain once, before minutes are spent on it; what cannot be read with names its row."""
    try:
        Parser(domain)
    except DomainError as error:
        problems = []
        for where, row in ((where, row) for where, row in rows if "patch" in row and "retract" not in row):
            try:
                Parser(patched(plain, patch_from(row["patch"], where=where)))
            except DomainError as found:
                problems.append(f"{where}: patch: {found}")
        raise LabelsError("\n".join(["labels cannot be used", *(problems or [f"patch: {error}"])])) from None


def promote(root: Path, folder: Path, domain: Domain, *, champion: Path | None, hooks: Hooks) -> Path:
    """Make a judged model the one in use. Safe to repeat after it was stopped anywhere.

    Args:
        root: Folder of versions.
        folder: The model, elsewhere or already in the root.
        domain: The domain it was judged with.
        champion: What is in use, kept to go back to.
        hooks: What happens around the switch.
    """
    parser = Parser(domain, Model.load(folder, domain=domain.name))
    hooks.before_switch(parser)
    if champion is not None:
        keep(champion, root)
    place = install(folder, root) if folder.parent != root else folder
    hooks.report("switching", 1)
    switch(root, read_manifest(place).version)
    hooks.after_switch(parser)
    return place


class _Stages:
    """The stages of one run, each done once."""

    def __init__(self, job: Job, labels: Labels, domain: Domain, digest: str, hooks: Hooks) -> None:
        self.job, self.labels, self.domain, self.digest, self.hooks = job, labels, domain, digest, hooks
        self.work = job.root / WORK / digest[:12]
        self.work.mkdir(parents=True, exist_ok=True)
        self.fitted, self.kept = parts(job.base, labels)

    def challenger(self) -> Path:
        """Fit the heads on the frozen encoder."""
        inputs = self._once(_INPUTS, self._inputs)
        version = str(inputs["version"])
        installed = self.job.root / version
        if (installed / MANIFEST).is_file():
            # It was stopped between moving the model into its place and switching to it.
            return installed
        folder = self.work / _CHALLENGER
        if (folder / MANIFEST).is_file():
            return folder
        shape = verify(self.job.encoder).encoder
        closed = [n for n, s in self.domain.slots.items() if s.type == "closed" and not s.everywhere]
        slots = well_said(self.fitted, closed)
        self.hooks.report("reading examples", len(self.fitted) + len(self.kept))
        encode = _Remembered(Encoder(self.job.encoder, shape), self.work, self._encoder_digest(), self.hooks).many
        settings = Settings(**{**_fields(self.job.settings), "slots": slots})
        told: set[str] = set()

        def fitting(name: str) -> None:
            what, _, slot = name.partition(" ")
            if what not in told and what != "vectors":
                told.add(what)
                self.hooks.report("fitting the slots" if slot else f"fitting the {what}", len(slots) if slot else 0)
            if slot:
                self.hooks.step(slot)

        # On one thread sums have one order, so that the same inputs give the same weights; and bots beside it breathe.
        with threadpool_limits(limits=1):
            heads = fit(self.fitted, self.kept, encode, settings=settings, report=fitting)
        assemble(
            self.job.encoder,
            folder,
            shape,
            heads,
            version=version,
            domain=self.domain.name,
            provenance=inputs["provenance"],
        )
        return folder

    def calibrated(self, folder: Path) -> None:
        """Set the bars, and put the accepted labels and additions to the domain beside the model."""
        if read_manifest(folder).bars:
            return
        self.hooks.report("calibrating", len(self.kept))
        former = read_manifest(self.job.champion).bars if self.job.champion else {}
        bars = calibrate(folder, self.domain, self.kept, risks=self.job.risks, former=former, step=self.hooks.step)
        files = {LABELS: "".join(json.dumps(row, sort_keys=True) + "\n" for row in self.labels.rows())}
        if not self.labels.patch.empty:
            files[OVERLAY] = as_json(self.labels.patch)
        amend(folder, files=files, bars=asdict(bars))

    def verdict(self, folder: Path) -> dict[str, Any]:
        """Judge it beside the champion."""
        champion = read_manifest(self.job.champion).version if self.job.champion else ""
        known = self._read(_GATE)
        if known is not None and known["against"] == champion:
            return dict(known["verdict"])
        found = self._judge(folder).as_dict()
        if found["passed"]:
            amend(folder, metrics={"gate": found["challenger"], "champion": found["champion"]})
        if all(refusal["ground"] != "latency" for refusal in found["refusals"]):
            # Time depends on the hour as well: the same model is timed again when it is asked for again.
            _write(self.work / _GATE, {"against": champion, "verdict": found})
        return found

    def _judge(self, folder: Path) -> Verdict:
        questions = Questions(
            pairs=self.job.base.pairs + self.labels.pairs,
            personal=self.job.base.personal + self.labels.personal,
            labelled=self.job.base.test,
            reviewed=self.labels.examples,
        )
        try:
            model = Model.load(folder, domain=self.domain.name)
            check_labels(model.manifest, domain=self.domain.name, intents=self.domain.intents, slots=self.domain.slots)
            challenger = Parser(self.domain, model)
        except SlotcacheError as error:
            return Verdict((Refusal("load", str(error)),))
        champion, note = self._champion()
        before = self._measure("the model in use", champion, questions)
        after = self._measure("the new model", challenger, questions)
        if after.latency > self.job.bounds.latency:
            self.hooks.report("timing the new model undisturbed", 0)
            after = replace(after, latency=undisturbed(challenger.parse, questions.texts(), timer=self.hooks.timer))
        disputed = disputes(Parser(self.domain).parse, self.domain, self.labels.examples)
        verdict = compare(before, after, disputed, self.job.bounds)
        return Verdict(verdict.refusals, before, after, (*note, *_thin(questions), *verdict.notes))

    def _champion(self) -> tuple[Parser, tuple[str, ...]]:
        if self.job.champion is None:
            return Parser(self.job.domain), ("no model was in use; the gate compares with reading by code alone",)
        try:
            domain = overlaid(self.job.domain, self.job.champion)
            model = Model.load(self.job.champion, domain=domain.name)
            check_labels(model.manifest, domain=domain.name, intents=domain.intents, slots=domain.slots)
        except SlotcacheError as error:
            return Parser(self.job.domain), (f"the model in use cannot be loaded: {error}",)
        return Parser(domain, model), ()

    def _measure(self, what: str, parser: Parser, questions: Questions) -> Measured:
        self.hooks.report(f"judging {what}", len(questions))
        return measure(parser.parse, questions, step=self.hooks.step, timer=self.hooks.timer)

    def _inputs(self) -> dict[str, Any]:
        day = time.strftime("%Y%m%d", time.gmtime(self.hooks.clock()))
        counts = {"fit": len(self.fitted), "calibration": len(self.kept), "test": len(self.job.base.test)}
        return {
            "version": f"{day}-{self.digest[:8]}",
            "provenance": {
                "inputs": self.digest,
                "base": self.job.base.digest,
                "labels": digest_of(self.labels.rows()),
                "new_examples": len(self.labels.examples),
                "examples": counts,
                "domain_hash": domain_hash(self.domain),
                "encoder": self._encoder_digest(),
                "encoder_from": read_manifest(self.job.encoder).version,
                PARENT: read_manifest(self.job.champion).version if self.job.champion else "",
                "seed": self.job.seed,
            },
        }

    def _encoder_digest(self) -> str:
        manifest = read_manifest(self.job.encoder)
        return manifest.files[manifest.encoder.graph]

    def _once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        found = self._read(name)
        if found is None:
            found = make()
            _write(self.work / name, found)
        return found

    def _read(self, name: str) -> dict[str, Any] | None:
        path = self.work / name
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def _thin(questions: Questions) -> list[str]:
    """What the gate could not look at."""
    thin = []
    if not questions.labelled:
        thin.append(
            "no labelled question was left to test on, since one in five of an intent is held out: give each at least 5"
        )
    if all(pair.same for pair in questions.pairs):
        thin.append("no pair that must not share an answer was asked: write some, they are what shows a false hit")
    return thin


class _Remembered:
    """An encoder whose vectors outlive the run, in chunks."""

    def __init__(self, encoder: Encoder, folder: Path, encoder_digest: str, hooks: Hooks) -> None:
        self._encoder, self._folder, self._digest, self._hooks = encoder, folder, encoder_digest, hooks

    def many(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of texts, shape (texts, width)."""
        chunks = [self._chunk(texts[at : at + _CHUNK]) for at in range(0, len(texts), _CHUNK)]
        return np.concatenate(chunks) if chunks else self._encoder.many([])

    def _chunk(self, texts: Sequence[str]) -> Floats:
        name = hashlib.sha256(json.dumps([self._digest, *texts]).encode()).hexdigest()[:24]
        path = self._folder / f"vectors-{name}.npy"
        if path.is_file():
            vectors: Floats = np.load(path, allow_pickle=False)
            for text in texts:
                self._hooks.step(text)
            return vectors
        rows = []
        for text in texts:
            rows.append(self._encoder(text)[0])
            self._hooks.step(text)
        vectors = np.concatenate(rows)
        beside = path.with_name(f".{path.name}.{os.getpid()}.npy")
        np.save(beside, vectors, allow_pickle=False)
        beside.replace(path)
        return vectors


def _digest(job: Job, labels: Labels) -> str:
    """Digest of everything that decides the model."""
    encoder = read_manifest(job.encoder)
    return digest_of(
        {
            "base": job.base.digest,
            "labels": sorted(json.dumps(row, sort_keys=True) for row in labels.rows()),
            "domain": domain_hash(job.domain),
            "encoder": [encoder.files.get(encoder.encoder.graph), encoder.files.get(encoder.encoder.tokenizer)],
            "settings": _dials(job.settings),
            "risks": asdict(job.risks),
            "bounds": asdict(job.bounds),
            "seed": job.seed,
        }
    )


def _fields(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


def _dials(settings: Settings) -> dict[str, Any]:
    """The settings as plain data; the slots are chosen from the domain."""
    ngrams = settings.ngrams
    shape = (ngrams.buckets, ngrams.words, ngrams.shortest, ngrams.longest)
    return {**_fields(settings), "ngrams": shape, "slots": None}


def _bucket(text: str) -> int:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[0] % _HELD


def _write(path: Path, content: object) -> None:
    beside = path.with_suffix(f".{os.getpid()}.new")
    beside.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(path)
