"""The commands that train, promote, go back and re-key, as a scheduler starts them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from slotcache.domain.schema import Domain
from slotcache.learning.starter import files
from tests.conftest import write_tiny_encoder
from tests.servers import until

Invoke = Callable[..., Result]
SETTLED = ("--settle", "0")
LABEL = {"text": "price of renting an ebike", "intent": "hire_price", "slots": {"aspect": "cost", "kind": "electric"}}
GOOD = json.dumps(LABEL) + "\n"
MERGING = '{"patch": {"rewrites": {"after": "before"}}}\n'


@pytest.fixture(scope="session")
def trained_master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bike hire, trained once: `shop` beside `versions`."""
    from typer.testing import CliRunner

    from slotcache.cli.app import app
    from slotcache.learning.examples import Example
    from slotcache.learning.heads import Settings, fit
    from slotcache.learning.model_writer import assemble
    from slotcache.parsing.encoder import Encoder
    from slotcache.parsing.ngrams import Ngrams

    root = tmp_path_factory.mktemp("bikes")
    assert CliRunner().invoke(app, ["init", str(root / "shop"), "--name", "bikes"]).exit_code == 0
    texts = [json.loads(line)["text"] for line in (root / "shop" / "examples.jsonl").read_text().splitlines()]
    shape = write_tiny_encoder(root / "encoder", texts)
    seed = [Example(text, f"intent_{at % 2}") for at, text in enumerate(texts)]
    heads = fit(seed, seed, Encoder(root / "encoder", shape).many, settings=Settings(ngrams=Ngrams(64)))
    assemble(root / "encoder", root / "seed", shape, heads, version="seed", domain="elsewhere", provenance={})
    arguments = ["train", root / "shop", "--out", root / "versions", "--encoder-from", root / "seed"]
    trained = CliRunner().invoke(app, list(map(str, arguments)))
    assert trained.exit_code == 0, trained.output
    return root


@pytest.fixture
def bikes(trained_master: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where the commands look by themselves."""
    root = Path(shutil.copytree(trained_master, tmp_path / "bikes"))
    monkeypatch.setenv("SLOTCACHE_MODELS", str(root / "versions"))
    return root


def in_use(root: Path) -> str:
    return str(json.loads((root / "versions" / "current.json").read_text())["bikes"])


def retrain(invoke: Invoke, root: Path, rows: str, *more: str) -> Result:
    (root / "labels.jsonl").write_text(rows)
    return invoke("retrain", "--domain", root / "shop", "--labels", root / "labels.jsonl", *more)


def test_init_writes_a_domain_that_nothing_is_wrong_with(invoke: Invoke, tmp_path: Path) -> None:
    invoke("init", tmp_path / "my-shop")
    shown = invoke("check", tmp_path / "my-shop", "--examples", tmp_path / "my-shop" / "examples.jsonl", "--strict")
    assert (shown.exit_code, shown.stdout.partition(":")[0]) == (0, "my_shop")


def test_init_touches_nothing_that_is_there(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert invoke("init", tmp_path).exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["Shop", "1st", "a-b"])
def test_init_refuses_a_name_that_no_domain_has(invoke: Invoke, tmp_path: Path, name: str) -> None:
    assert invoke("init", tmp_path / "x", "--name", name).exit_code == 2


def test_init_files_are_there() -> None:
    assert [path.is_file() for path in files()] == [True] * 3


def test_train_makes_the_first_version_current(bikes: Path) -> None:
    assert (bikes / "versions" / in_use(bikes) / "manifest.json").is_file()


def test_train_has_nothing_to_do_twice(invoke: Invoke, bikes: Path) -> None:
    again = invoke("train", bikes / "shop", "--encoder-from", bikes / "seed")
    assert (again.exit_code, "nothing new" in again.stdout) == (0, True)


def test_retrain_promotes(invoke: Invoke, bikes: Path) -> None:
    before = in_use(bikes)
    told = json.loads(retrain(invoke, bikes, GOOD, "--json").stdout)
    assert (told["ended"], told["version"]) == ("promoted", in_use(bikes))
    assert in_use(bikes) != before


def test_retrain_dry_run_promotes_nothing(invoke: Invoke, bikes: Path) -> None:
    before = in_use(bikes)
    assert retrain(invoke, bikes, GOOD, "--dry-run").exit_code == 0
    assert in_use(bikes) == before


def test_retrain_refuses_with_the_pairs_that_decided(invoke: Invoke, bikes: Path) -> None:
    before = in_use(bikes)
    refused = retrain(invoke, bikes, MERGING)
    assert (refused.exit_code, in_use(bikes)) == (3, before)
    assert (
        "'can i cancel my booking before i pick it up' / 'can i cancel my booking after i pick it up'" in refused.stdout
    )


def test_retrain_names_bad_labels(invoke: Invoke, bikes: Path) -> None:
    bad = retrain(invoke, bikes, '{"text": "x", "intent": "hire_prices"}\n')
    assert bad.exit_code == 4
    assert "labels.jsonl:1: the domain has no intent 'hire_prices'; did you mean 'hire_price'?" in bad.stderr.replace(
        "\n", ""
    )


def test_retrain_one_at_a_time(invoke: Invoke, bikes: Path) -> None:
    from filelock import FileLock

    (bikes / "versions" / ".work").mkdir(exist_ok=True)
    with FileLock(bikes / "versions" / ".work" / "lock"):
        assert retrain(invoke, bikes, GOOD).exit_code == 6


def test_models_list_says_which_is_in_use(invoke: Invoke, bikes: Path) -> None:
    told = json.loads(invoke("models", "list", "--json").stdout)
    assert [(v["version"], v["in_use"]) for v in told["versions"]] == [(in_use(bikes), True)]


def test_models_show_prints_the_manifest(invoke: Invoke, bikes: Path) -> None:
    assert json.loads(invoke("models", "show", in_use(bikes)).stdout)["domain"] == "bikes"


def test_models_show_knows_the_versions_there_are(invoke: Invoke, bikes: Path) -> None:
    shown = invoke("models", "show", "nonsense")
    assert (shown.exit_code, in_use(bikes) in shown.stderr) == (2, True)


def test_models_compare(invoke: Invoke, bikes: Path) -> None:
    first = in_use(bikes)
    retrain(invoke, bikes, GOOD)
    told = json.loads(invoke("models", "compare", first, in_use(bikes), "--json").stdout)
    assert ["false_hits", "0", "0"] in told["figures"]


def test_models_rollback(invoke: Invoke, bikes: Path) -> None:
    first = in_use(bikes)
    retrain(invoke, bikes, GOOD)
    assert invoke("models", "rollback", "--domain", bikes / "shop").exit_code == 0
    assert in_use(bikes) == first


def test_rekey_carries_answers_over_to_a_changed_domain(invoke: Invoke, bikes: Path) -> None:
    shop, store = bikes / "shop", bikes / "answers.db"
    invoke("ask", "how much is the deposit", "--domain", shop, "--store", store)
    text = (shop / "domain.yaml").read_text()
    (shop / "domain.yaml").write_text(text.replace("deposit: [deposit~]", "deposit: [deposit~, security]"))
    told = json.loads(invoke("rekey", "--domain", shop, "--store", store, *SETTLED, "--json").stdout)
    asked = json.loads(invoke("ask", "how much is the security", "--domain", shop, "--store", store, "--json").stdout)
    assert (told["counts"]["unchanged"], asked["decision"]) == (1, "hit")


def test_rekey_dry_run_lists_what_would_move(invoke: Invoke, bikes: Path) -> None:
    shop, store = bikes / "shop", bikes / "answers.db"
    invoke("ask", "how much is the deposit", "--domain", shop, "--store", store)
    text = (shop / "domain.yaml").read_text()
    (shop / "domain.yaml").write_text(
        text.replace("    about: The deposit\n", "    about: The deposit\n    owner: customer\n")
    )
    shown = invoke("rekey", "--domain", shop, "--store", store, "--dry-run").stdout
    assert "deposit(aspect=cost)  ->  owner_narrowed    'how much is the deposit'" in shown


def test_retrain_with_a_store_keeps_its_hits(invoke: Invoke, bikes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotcache.cli.rekey.time.sleep", lambda _: None)
    shop, store = bikes / "shop", bikes / "answers.db"
    invoke("ask", "how much is the deposit", "--domain", shop, "--store", store)
    assert retrain(invoke, bikes, GOOD, "--store", str(store)).exit_code == 0
    asked = invoke("ask", "what is the deposit", "--domain", shop, "--store", store, "--json")
    assert json.loads(asked.stdout)["decision"] == "hit"


def test_rekey_has_running_bots_fill_both_generations(
    invoke: Invoke, bikes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that runs keeps an answer while the next generation is built: it is a hit at once after the change-over."""
    from slotcache.cache import SlotCache
    from slotcache.learning.rekey import Rekeying
    from slotcache.parsing import watch
    from slotcache.stores.sqlite import SqliteStore

    shop, store = bikes / "shop", bikes / "answers.db"
    monkeypatch.setattr(watch, "SECONDS", 0.0)
    bot = SlotCache(watch.watching(shop), SqliteStore(store))
    seen: list[str | None] = []
    withdraw = Rekeying.withdraw

    def fill_meanwhile(job: Rekeying) -> None:
        until(lambda: bot.core.next_parser is not None, "the bot knows of the next generation")
        seen.append(bot.get_or_call("how much is the deposit", lambda _: "Fifty.").answer)
        withdraw(job)
        seen.append(SlotCache(job._parser, SqliteStore(store)).get("what is the deposit").answer)

    monkeypatch.setattr(Rekeying, "withdraw", fill_meanwhile)
    text = (shop / "domain.yaml").read_text()
    (shop / "domain.yaml").write_text(text.replace("deposit: [deposit~]", "deposit: [deposit~, security]"))
    assert invoke("rekey", "--domain", shop, "--store", store, *SETTLED).exit_code == 0
    assert seen == ["Fifty.", "Fifty."]
    assert json.loads((bikes / "versions" / "next.json").read_text()) == {}


def test_retrain_encoder_says_what_it_needs(invoke: Invoke, bikes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotcache.learning.new_encoder.find_spec", lambda name: None if name == "torch" else object())
    refused = retrain(invoke, bikes, GOOD, "--encoder")
    assert (refused.exit_code, "needs torch installed" in " ".join(refused.stderr.split())) == (2, True)


def test_retrain_encoder_keeps_the_heads_of_the_job_on_the_new_one(
    invoke: Invoke, bikes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe itself takes torch and minutes; here it gives a seed that was made before, from what it is handed."""
    handed: dict[str, int] = {}

    def train(root: Path, domain: Domain, **given: Any) -> Path:
        handed.update({name: len(found) for name, found in given.items() if name != "seed"})
        return bikes / "seed"

    monkeypatch.setattr("slotcache.learning.new_encoder.recipe", lambda: None)
    monkeypatch.setattr("slotcache.learning.new_encoder.new_encoder", train)
    told = json.loads(retrain(invoke, bikes, GOOD, "--encoder", "--json").stdout)
    shown = json.loads(invoke("models", "show", told["version"]).stdout)
    assert (told["ended"], shown["provenance"]["encoder_from"]) == ("promoted", "seed")
    assert handed["fit"] + handed["calibration"] == sum(
        shown["provenance"]["examples"][part] for part in ("fit", "calibration")
    )


def test_report_compares_with_an_earlier_model(invoke: Invoke, bikes: Path) -> None:
    """What was accepted into the domain with the later version moves keys, cells and a stored answer."""
    first, store, question = in_use(bikes), bikes / "answers.db", "how much is the sponduli"
    named = {"text": question, "intent": "deposit", "slots": {"aspect": "cost"}}
    invoke("ask", question, "--customer", "kim", "--domain", bikes / "shop", "--store", store)
    assert retrain(invoke, bikes, '{"patch": {"concepts": {"deposit": ["sponduli"]}}}\n').exit_code == 0
    (bikes / "asked.jsonl").write_text(json.dumps({**named, "slots": {"aspect": "what_if"}}) + "\n")
    told = json.loads(
        invoke(
            *("report", "--labels", bikes / "asked.jsonl", "--domain", bikes / "shop", "--store", store, "--json"),
            *("--before-model", bikes / "versions" / first),
        ).stdout
    )["diff"]
    assert (told["kinds"], told["before"].split()[-1]) == ([["gained", 1]], first)
    assert [(cell["before"], cell["after"]) for cell in told["cells"]] == [(0, 1)]
    assert [entry["question"] for entry in told["touched"]] == [question]
