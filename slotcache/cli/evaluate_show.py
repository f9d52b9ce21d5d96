"""Tables and JSON that the commands of `slotcache eval` share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from slotcache.evaluation.analysis import PairAnalysis
    from slotcache.evaluation.baselines import Separation
    from slotcache.evaluation.blame import Tally
    from slotcache.evaluation.composition import Composition
    from slotcache.evaluation.keys import KeySpread
    from slotcache.evaluation.pairs import Pair
    from slotcache.evaluation.sight import Sight
    from slotcache.evaluation.vetoes import Veto
    from slotcache.parsing.parser import Parser

ENCODER = "same encoder"
WORDS = "bag of words"
_AT = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99)
"""Thresholds of the baselines shown on a terminal; JSON has every hundredth."""

_BARS = 12
"""Points of a curve shown on a terminal."""


def read_all(parser: Parser, texts: Iterable[str], *, quiet: bool, what: str = "reading questions") -> dict[str, Sight]:
    """Read texts, equal ones once, under a progress bar."""
    from slotcache.cli.output import progress
    from slotcache.evaluation.sight import look_at

    distinct = list(dict.fromkeys(texts))
    with progress(what, len(distinct), quiet=quiet) as step:
        return look_at(parser, distinct, step)


def cosines(parser: Parser, pairs: Sequence[Pair], *, quiet: bool) -> list[float] | None:
    """The cosine of each pair by the model's encoder, each text encoded once; None without a model."""
    from slotcache.cli.encoders import open_encoder
    from slotcache.cli.output import progress
    from slotcache.evaluation.analysis import texts_of

    encode = parser.model.encoder if parser.model is not None else open_encoder(parser.domain.name)
    if encode is None:
        return None
    texts = texts_of(pairs)
    with progress("encoding questions", len(texts), quiet=quiet) as step:
        vectors = {text: encode(step(text))[0][0] for text in texts}
    return [float(vectors[pair.a] @ vectors[pair.b]) for pair in pairs]


def baselines(pairs: Sequence[Pair], by_encoder: Sequence[float] | None) -> dict[str, Separation]:
    """How well cosines of the encoder, where there is one, and of bags of words tell the pairs apart."""
    from slotcache.evaluation.baselines import separation, word_cosine

    found = {} if by_encoder is None else {ENCODER: separation(pairs, by_encoder)}
    return {**found, WORDS: separation(pairs, [word_cosine(pair.a, pair.b) for pair in pairs])}


def curve_json(readings: Sequence[tuple[float, bool]], *, total: int) -> dict[str, Any]:
    """The coverage-risk curve with its areas, for JSON."""
    from slotcache.reporting.curves import coverage_risk, discrimination, risk_area

    return {
        "points": [asdict(point) for point in coverage_risk(readings, total=total)],
        "risk_area": risk_area(readings),
        "auc": discrimination(readings),
    }


def curve_table(readings: Sequence[tuple[float, bool]], *, total: int, of: str) -> Table:
    """The coverage-risk curve, from the highest bar down.

    Args:
        readings: (confidence, whether right) of what is accepted at the lowest bar.
        total: What coverage is a share of.
        of: What that is, in words.
    """
    from slotcache.cli.output import table
    from slotcache.reporting.curves import coverage_risk, discrimination, risk_area

    points = coverage_risk(readings, total=total)
    auc = discrimination(readings)
    told = "no wrong one to tell from" if auc is None else f"AUC {auc:.2f}"
    area = risk_area(readings)
    shown = "-" if area is None else f"{area:.4f}"
    made = table(
        "bar", f"accepted of {of}", "", "wrong", "at most wrong",
        title=f"coverage and risk as the bar on the confidence falls (area {shown}, {told})",
    )  # fmt: skip
    step = max(1, -(-len(points) // _BARS))
    last = len(points) - 1
    for point in (p for at, p in enumerate(points) if (last - at) % step == 0):
        made.add_row(
            f"{point.bar:.3f}",
            f"{point.accepted} = {point.coverage:.1%}",
            "█" * round(point.coverage * 30),
            str(point.wrong),
            f"{point.high:.2%}",
        )
    return made


def causes_table(causes: Sequence[Tally], *, title: str) -> Table:
    """Errors by stage and cause."""
    from slotcache.cli.output import table

    made = table("stage", "cause", "errors", "this alone", "most often", title=title)
    for found in causes:
        words = ", ".join(f"{word} {count}" if count > 1 else word for word, count in found.words)
        made.add_row(found.stage.value, found.cause, str(found.count), str(found.alone), words)
    return made


def vetoes_table(vetoes: Sequence[Veto]) -> Table:
    """What each class of the guard costs and keeps apart."""
    from slotcache.cli.output import table

    made = table(
        "class", "paraphrases blocked", "by it alone", "different pairs kept apart",
        title="the guard: what each class costs on true paraphrases",
    )  # fmt: skip
    for veto in vetoes:
        made.add_row(veto.name, str(veto.blocked), str(veto.alone), str(veto.kept_apart.count))
    return made


def baselines_table(found: Mapping[str, Separation]) -> Table:
    """A cache that compares vectors, at several thresholds, one column a baseline."""
    from slotcache.cli.output import table

    names = list(found)
    made = table("threshold", *(f"{name}: false hits / hits" for name in names), title="cosine caches on these pairs")
    shown = {name: {round(t.at, 2): t for t in found[name].thresholds} for name in names}
    for at in _AT:
        cells = [shown[name][at] for name in names]
        made.add_row(f">= {at:.2f}", *(f"{t.false_hits} / {t.hits} = {t.wrong:.1%} / {t.right:.1%}" for t in cells))
    made.add_section()
    made.add_row("no false hit", *(f"0 / {found[name].without_wrong:.1%} of the hits" for name in names))
    made.add_row("AUC", *(f"{found[name].auc:.3f}" for name in names))
    return made


def spread_rows(spread: KeySpread) -> list[tuple[str, str]]:
    """Rows on how questions spread over keys."""
    return [("distinct keys", str(spread)), ("keys seen in one utterance only", str(spread.seen_once))]


def composition_json(found: Composition) -> dict[str, object]:
    """What a set of pairs is made of, with what it should be, for JSON."""
    from slotcache.evaluation.composition import LEAST_TELLING, MOST_PAIRS

    return {**found.as_dict(), "most_pairs_a_frame": MOST_PAIRS, "least_telling": LEAST_TELLING}


def composition_table(found: Composition) -> Table:
    """What a set of pairs is made of."""
    from slotcache.cli.output import table
    from slotcache.evaluation.composition import LEAST_TELLING, MOST_PAIRS

    made = table("", "", title="what the pairs are made of")
    made.add_row("unlike in words and different, or alike and same", f"{found.telling} (at least {LEAST_TELLING:.0%})")
    made.add_row(f"hold a sentence frame that more than {MOST_PAIRS} pairs share", str(found.framed))
    for frame, count in found.frames[:5]:
        made.add_row("", f"{count}: {frame}")
    if len(found.frames) > 5:
        made.add_row("", f"... {len(found.frames)} such frames")
    return made


def analysis_json(analysis: PairAnalysis) -> dict[str, Any]:
    """Everything that pairs show, for JSON."""
    result = analysis.report
    sides = {"same_customer": result.same_customer, "shared": result.shared}
    return {
        **{
            name: {"false_hits": side.false_hits.as_dict(), "hits": side.hits.as_dict()} for name, side in sides.items()
        },
        "learned": result.learned.as_dict(),
        "false_hits": [error.as_dict() for error in analysis.false_hits],
        "missed": [error.as_dict() for error in analysis.missed],
        "missed_by_reason": dict(result.missed_by_reason),
        "missed_by_cause": [found.as_dict() for found in analysis.causes],
        "residue": dict(analysis.residue),
        "guard": [veto.as_dict() for veto in analysis.vetoes],
        "keys": analysis.spread.as_dict(),
        "coverage_risk": curve_json(analysis.confident, total=result.same_customer.hits.total),
    }


def show_analysis(analysis: PairAnalysis, *, shown: int) -> None:
    """Print everything that pairs show, below their counts."""
    from slotcache.cli.output import show, table

    may = analysis.report.same_customer.hits.total
    show(curve_table(analysis.confident, total=may, of="the pairs that may meet"))
    if analysis.false_hits:
        wrong = table("a", "b", "key", "shared", "stage and cause", title=f"false hits ({len(analysis.false_hits)})")
        for error in analysis.false_hits:
            o = error.outcome
            wrong.add_row(o.pair.a, o.pair.b, str(o.a.key), "yes" if o.shared else "no", *map(str, error.causes))
        show(wrong)
    if analysis.missed:
        show(causes_table(analysis.causes, title="missed pairs by stage and cause"))
    if analysis.residue:
        words = table("word", "questions", title="words left over in missed pairs")
        for word, count in analysis.residue[:15]:
            words.add_row(word, str(count))
        show(words)
    show(vetoes_table(analysis.vetoes))
    if analysis.missed and shown:
        _show_missed(analysis, shown)


def _show_missed(analysis: PairAnalysis, shown: int) -> None:
    from slotcache.cli.output import show, table

    title = f"missed pairs ({min(shown, len(analysis.missed))} of {len(analysis.missed)})"
    missed = table("a", "b", "read a as", "read b as", "stage and cause", title=title)
    for error in analysis.missed[:shown]:
        o = error.outcome
        readings = (str(p.abstain.value if p.abstain else p.key) for p in (o.a, o.b))
        missed.add_row(o.pair.a, o.pair.b, *readings, "\n".join(map(str, error.causes)))
    show(missed)
