from __future__ import annotations

from slotcache.evaluation.judged import JudgedQuestions, judge_questions
from slotcache.evaluation.labelled import read_labelled

INTENTS = {"renew_loan", "fines"}
BOOK, DVD = "renew_loan(aspect=how, medium=book)", "renew_loan(aspect=how, medium=dvd)"


def _judge(seen, label: str, *pairs: tuple[str, str | None]) -> JudgedQuestions:
    rows = [{"text": text, label: value} for text, value in pairs]
    sights = {row["text"]: seen(row["text"]) for row in rows}
    return judge_questions(read_labelled(rows, lambda text: sights[text].parse), sights, intents=INTENTS)


def test_judged_by_key(seen) -> None:
    got = _judge(seen, "key", ("how do i renew a book", BOOK), ("how do i renew a novel", DVD), ("zeppelin", BOOK))
    assert (got.by_key, got.covered.count, got.wrong.count, got.wrong.total) == (True, 2, 1, 2)
    assert [(e.question.parse.text, str(e.cause)) for e in got.errors] == [
        ("how do i renew a novel", "fill wrong medium: medium: book, not dvd")
    ]


def test_judged_null_is_no_question_of_the_domain(seen) -> None:
    got = _judge(seen, "key", ("how do i renew a book", BOOK), ("how do i renew a dvd", None), ("zeppelin", None))
    assert (got.covered.count, got.covered.total, got.wrong.count) == (1, 1, 1)
    assert got.causes == ()


def test_judged_by_the_label_of_most(seen) -> None:
    got = _judge(
        seen,
        "intent",
        ("how do i renew a book", "A"),
        ("how can i renew a book", "A"),
        ("how do i renew a novel", "B"),
    )
    assert (got.by_key, got.wrong.count) == (False, 1)
    assert got.errors[0].question.label == "B"


def test_judged_silences_by_cause(seen) -> None:
    got = _judge(seen, "intent", ("how do i renew a zeppelin", "A"), ("zeppelin", "A"))
    assert [(t.cause, t.count) for t in got.causes] == [("residue", 2)]
    assert dict(got.residue) == {"zeppelin": 2}


def test_judged_confidence_says_which_is_right(seen) -> None:
    got = _judge(seen, "key", ("how do i renew a book", BOOK), ("how do i renew a novel", DVD))
    assert [right for _, right in got.confident] == [True, False]


def test_judged_keys_of_another_domain_are_labels_like_any_other(seen) -> None:
    assert not _judge(seen, "key", ("how do i renew a book", "cancel_order()")).by_key
