"""A small library's desk that is retrained: its domain, examples in many openers, a tiny encoder and a first model."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slotcache.domain.loader import load_domain
from slotcache.evaluation.pairs import Pair
from slotcache.learning.base import Base, split
from slotcache.learning.examples import OUT_OF_SCOPE, Example
from slotcache.learning.gate import Bounds
from slotcache.learning.heads import Settings
from slotcache.learning.retrain import Ended, Hooks, Job, run
from slotcache.model_files import EncoderShape
from slotcache.parsing.ngrams import Ngrams
from slotcache.stores.base import Store
from slotcache.stores.memory import MemoryStore
from slotcache.stores.sqlite import SqliteStore
from tests.conftest import write_tiny_encoder
from tests.servers import server
from tests.stores.redis_stores import open_at, prefix

__all__ = ["open_at", "prefix", "server"]

LIBRARY = load_domain(Path(__file__).parent.parent / "domains" / "library.yaml")
OPENERS = ("", "hello ", "hey ", "hi ", "thanks ")
MEANINGS: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[str, ...]] = {
    ("renew_loan", (("aspect", "eligibility"), ("medium", "book"), ("timing", "before_due"))): (
        "can i renew a book before it is due",
        "can i extend a novel before the due date",
    ),
    ("renew_loan", (("aspect", "eligibility"), ("medium", "book"), ("timing", "after_due"))): (
        "can i renew a book after it is due",
        "can i extend a novel after the due date",
    ),
    ("renew_loan", (("aspect", "how"), ("medium", "dvd"))): ("how do i renew my dvd", "renew dvd"),
    ("fines", (("aspect", "cost"), ("medium", "book"))): (
        "how much is the fine for a late book",
        "what is the penalty for an overdue book",
    ),
    ("borrow_item", (("aspect", "eligibility"), ("medium", "dvd"))): ("can i borrow a dvd", "can i take out a film"),
    ("borrow_item", (("aspect", "eligibility"), ("medium", "book"))): ("can i borrow a book", "can i take out a novel"),
}
OUTSIDE = ("what is the weather", "play some music", "who won the match", "tell me a joke")
SETTINGS = Settings(ngrams=Ngrams(256))
GATE = (
    Pair("can i renew a book before it is due", "can i renew a book after it is due", same=False),
    Pair("can i borrow a dvd", "can i borrow a book", same=False),
    Pair("how do i renew my dvd", "can i renew a dvd after it is due", same=False),
    Pair("can i borrow a book", "am i allowed to borrow a novel", same=True),
)
PERSONAL = ("my name is kim smith and my mail is kim@example.org, can i borrow a book",)
NOW = 1_800_000_000.0


def examples() -> list[Example]:
    inside = [
        Example(opener + text, intent, dict(slots))
        for (intent, slots), texts in MEANINGS.items()
        for text, opener in itertools.product(texts, OPENERS)
    ]
    return inside + [Example(o + t, f"{OUT_OF_SCOPE}/far_oos") for t in OUTSIDE for o in OPENERS]


def rows(*given: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"labels.jsonl:{at}", row) for at, row in enumerate(given, 1)]


def label(text: str, intent: str, **slots: str) -> dict[str, Any]:
    return {"text": text, "intent": intent, "slots": slots, "labeller": "kim"}


def hooks(**changes: Any) -> Hooks:
    return replace(Hooks(clock=lambda: NOW, timer=lambda: 0.0), **changes)


def encoder_folder(root: Path, texts: Iterable[str]) -> tuple[Path, EncoderShape]:
    return root / "encoder", write_tiny_encoder(root / "encoder", texts)


@pytest.fixture(params=["memory", "sqlite", "valkey"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Each kind of store in turn; Valkey is a server of its own."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "answers.db")
    made: Store = request.getfixturevalue("open_at")(request.getfixturevalue("server").url)
    return made


@pytest.fixture(scope="session")
def base() -> Base:
    fit, calibration, test = split(examples(), seed=1)
    return Base(fit, calibration, test, GATE, PERSONAL)


@pytest.fixture(scope="session")
def first_version(tmp_path_factory: pytest.TempPathFactory, base: Base) -> Path:
    """A folder of versions with the library's first promoted model, trained once; copy it before changing it."""
    from slotcache.learning.heads import fit
    from slotcache.learning.model_writer import assemble
    from slotcache.parsing.encoder import Encoder

    root = tmp_path_factory.mktemp("library")
    folder, shape = encoder_folder(root, [example.text for example in examples()])
    heads = fit(base.fit, base.calibration, Encoder(folder, shape).many, settings=SETTINGS)
    assemble(folder, root / "seed", shape, heads, version="seed", domain="library", provenance={})
    job = Job(LIBRARY, base, root / "seed", None, root / "versions", settings=SETTINGS)
    assert run(job, hooks=hooks()).ended is Ended.PROMOTED
    return root / "versions"


@pytest.fixture
def versions(first_version: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first_version, tmp_path / "versions"))


@pytest.fixture
def champion(versions: Path) -> Path:
    (manifest,) = versions.glob("[!.]*/manifest.json")
    return manifest.parent


@pytest.fixture
def make_job(base: Base, versions: Path, champion: Path) -> Callable[..., Job]:
    def make(**changes: Any) -> Job:
        job = Job(LIBRARY, base, champion, champion, versions, settings=SETTINGS, bounds=Bounds())
        return replace(job, **changes)

    return make
