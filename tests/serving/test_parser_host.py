from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from slotcache.core import ParserLike
from slotcache.errors import DomainError, ModelError
from slotcache.parsing.learned import Model
from slotcache.parsing.watch import watching
from slotcache.serving.parser_host import ParserHost
from slotcache.serving.tokens import hash_token
from slotcache.testing import ScriptedParser
from tests.cache.shells import READINGS
from tests.serving.harness import Bot, outcome

Make = Callable[..., Bot]
LIBRARY = Path(__file__).parent.parent / "domains" / "library.yaml"
TOKEN = "operators-token-0123"
ADMIN = {"admin": {"token": hash_token(TOKEN)}}


class ModelParser(ScriptedParser):
    """Reads what it is told to, but only with a model folder that is whole."""

    def __init__(self, folder: Path) -> None:
        self.model = Model.load(folder, domain="library")
        super().__init__(READINGS, version=self.model.version)


class Shelf:
    """A model folder that can be damaged and repaired, and the host of its parser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.errors: list[Exception] = []
        self._graph = folder / "heads.onnx" if (folder / "heads.onnx").exists() else next(folder.glob("*.onnx"))
        self._whole = self._graph.read_bytes()

    def load(self) -> ParserLike:
        return ModelParser(self.folder)

    def host(self) -> ParserHost:
        return ParserHost(self.load, failed=self.errors.append)

    def damage(self) -> None:
        self._graph.write_bytes(self._whole[: len(self._whole) // 2])

    def repair(self) -> None:
        self._graph.write_bytes(self._whole)


@pytest.fixture
def shelf(tiny_model: Path) -> Shelf:
    return Shelf(tiny_model)


async def test_parser_host_damaged_model_at_the_start_costs_calls_and_heals(shelf: Shelf, make_bot: Make) -> None:
    shelf.damage()
    bot = make_bot(parser=shelf.host())
    told = [outcome(await bot.ask())]
    shelf.repair()
    bot.proxy.reload()
    told += [outcome(await bot.ask()) for _ in range(2)]
    assert told == [("bypass", "parser_failed"), ("miss", "not_found"), ("hit", "learned")]
    assert [type(error) for error in shelf.errors] == [ModelError]


async def test_parser_host_damaged_model_on_reload_leaves_the_parser_in_use(shelf: Shelf, make_bot: Make) -> None:
    bot = make_bot(ADMIN, parser=shelf.host())
    await bot.ask()
    shelf.damage()
    async with bot.client() as client:
        response = await client.post("/slotcache/reload", headers={"X-Slotcache-Admin": TOKEN})
    assert (response.status_code, len(shelf.errors)) == (409, 1)
    assert outcome(await bot.ask()) == ("hit", "learned")


async def test_parser_host_reload_uses_the_new_files(shelf: Shelf, make_bot: Make) -> None:
    bot = make_bot(ADMIN, parser=shelf.host())
    async with bot.client() as client:
        response = await client.post("/slotcache/reload", headers={"X-Slotcache-Admin": TOKEN})
    assert (response.status_code, response.json()) == (200, {"version": "1"})


async def test_parser_host_says_so_in_health_and_metrics(shelf: Shelf, make_bot: Make) -> None:
    shelf.damage()
    bot = make_bot(parser=shelf.host())
    async with bot.client() as client:
        ready, metrics = await client.get("/readyz"), await client.get("/metrics")
    assert (ready.status_code, ready.json()["parser"]) == (200, "missing")
    assert "slotcache_parser_loaded 0.0" in metrics.text


async def test_parser_host_takes_a_promoted_version_while_it_serves(
    tiny_model: Path, edit_manifest: Callable[..., None], monkeypatch: pytest.MonkeyPatch, make_bot: Make
) -> None:
    root = tiny_model.parent
    shutil.copytree(tiny_model, root / "2")
    edit_manifest(root / "2", version="2")
    promote(root, "1")
    monkeypatch.setattr("slotcache.parsing.parser.check_labels", lambda *_, **__: None)
    monkeypatch.setattr("slotcache.parsing.watch.SECONDS", 0.0)
    bot = make_bot(parser=ParserHost(lambda: watching(LIBRARY, model=root), failed=pytest.fail))
    told = [outcome(await bot.ask("can i borrow a novel")) for _ in range(2)]
    promote(root, "2")
    await bot.ask("can i borrow a novel")
    while bot.proxy.cache.core.parser.version != "2":
        await asyncio.sleep(0.01)
    told += [outcome(await bot.ask("can i borrow a novel")) for _ in range(2)]
    assert [reason for _, reason in told] == ["not_found", "learned", "not_found", "learned"]


def promote(root: Path, version: str) -> None:
    beside = root / "current.new"
    beside.write_text(json.dumps({"library": version}), encoding="utf-8")
    beside.replace(root / "current.json")


def test_parser_host_domain_that_cannot_be_used_is_for_the_operator() -> None:
    def load() -> ParserLike:
        raise DomainError("domain.yaml:3: no")

    with pytest.raises(DomainError, match=r"domain.yaml:3"):
        ParserHost(load, failed=lambda error: None)


def test_parser_host_domain_that_breaks_later_leaves_the_parser_in_use() -> None:
    broken, errors = [False], []

    def load() -> ParserLike:
        if broken[0]:
            raise DomainError("no")
        return ScriptedParser(READINGS)

    host = ParserHost(load, failed=errors.append)
    broken[0] = True
    assert (host.reload(), host.loaded, len(errors)) == (False, True, 1)
