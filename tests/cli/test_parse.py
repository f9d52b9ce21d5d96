from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from slotcache.cli.parse import Line, lines, run
from slotcache.errors import Abstain
from slotcache.key import Key
from slotcache.parsing.types import Owner, Parse


def _read(text: str) -> Parse:
    return Parse(text, key=Key.of("cancel_order"), intent="cancel_order", owner=Owner.SHARED, confidence=1.0)


def _printed(source: bytes, read=_read) -> tuple[list[dict], str, int]:
    out, err = io.StringIO(), io.StringIO()
    failures = run(read, io.BytesIO(source), out, err)
    return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue(), failures


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(b"hello\n", [Line("hello")], id="plain"),
        pytest.param(b"hello", [Line("hello")], id="no newline at the end"),
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"\n\n", [Line(""), Line("")], id="empty lines"),
        pytest.param(b"a\rb\x0bc\xe2\x80\xa8d\n", [Line("a\rb\x0bc\u2028d")], id="lines end at newline only"),
        pytest.param(b'{"text": "hello"}\n', [Line("hello")], id="JSON"),
        pytest.param(b' {"text": "hello"}\n', [Line(' {"text": "hello"}')], id="a space before the brace"),
        pytest.param(b'{"text": "\\ud800"}\n', [Line("\ud800")], id="lone surrogate"),
        pytest.param(b'{"text": 3}\n', [Line('{"text": 3}', broken=True)], id="text is a number"),
        pytest.param(b'{"utterance": "x"}\n', [Line('{"utterance": "x"}', broken=True)], id="no text"),
        pytest.param(b"{oops\n", [Line("{oops", broken=True)], id="not JSON"),
        pytest.param(b"\xff\xfe\n", [Line("\ufffd\ufffd", broken=True)], id="not UTF-8"),
        pytest.param(b'{"text": "\xff"}\n', [Line('{"text": "\ufffd"}', broken=True)], id="JSON that is not UTF-8"),
    ],
)
def test_parse_lines(source: bytes, expected: list[Line]) -> None:
    assert list(lines(io.BytesIO(source))) == expected


@pytest.mark.parametrize("source", [b"{" + b'"a":[' * 100_000, b'{"text": ' + b"1" * 5000 + b"}"], ids=["deep", "big"])
def test_parse_hostile_json_is_unreadable(source: bytes) -> None:
    printed, _, failures = _printed(source + b"\nnext\n")
    assert ([row["abstain"] for row in printed], failures) == (["unreadable", None], 0)


def test_parse_prints_the_contract() -> None:
    printed, _, _ = _printed(b"cancel?\n")
    assert printed == [
        {
            "text": "cancel?",
            "key": "cancel_order()",
            "intent": "cancel_order",
            "slots": {},
            "owner": "shared",
            "abstain": None,
            "confidence": 1.0,
            "candidates": [],
            "residue": [],
            "protected": {},
        }
    ]


def test_parse_keeps_the_order_of_lines() -> None:
    printed, _, _ = _printed(b'one\n{"text": "two"}\n{three\n\nfive\n')
    assert [row["text"] for row in printed] == ["one", "two", "{three", "", "five"]


def test_parse_lone_surrogate_is_printed_as_ascii() -> None:
    out = io.StringIO()
    run(_read, io.BytesIO(b'{"text": "\\ud800"}\n'), out, io.StringIO())
    assert out.getvalue().isascii()


def test_parse_failing_parser_costs_one_line() -> None:
    def read(text: str) -> Parse:
        if text == "bad":
            raise RuntimeError("broken")
        return Parse(text, abstain=Abstain.OUT_OF_SCOPE)

    printed, err, failures = _printed(b"good\nbad\ngood\n", read)
    assert [row["abstain"] for row in printed] == ["out_of_scope", "unreadable", "out_of_scope"]
    assert failures == 1
    assert "RuntimeError('broken')" in err


def test_parse_flushes_every_line() -> None:
    class Out(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    out = Out()
    run(_read, io.BytesIO(b"one\ntwo\n"), out, io.StringIO())
    assert out.flushed == 2


def test_parse_command(slotcache, library: Path) -> None:
    done = slotcache("parse", "--domain", str(library), stdin=b"how do i renew a book\n\xff\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [(row["intent"], row["abstain"]) for row in rows] == [("renew_loan", None), (None, "unreadable")]


@pytest.mark.parametrize("owner", ["customer", "shared"])
def test_parse_command_verbatim_owner(slotcache, library: Path, owner: str) -> None:
    done = slotcache("parse", "--domain", str(library), "--verbatim-owner", owner, stdin=b"what is the wifi name\n")
    row = json.loads(done.stdout)
    assert (row["owner"], row["intent"], row["abstain"] is None) == (owner, None, False)
