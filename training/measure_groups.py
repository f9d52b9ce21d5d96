"""Measures the reader on the meaning groups: `python -m training.measure_groups [--area ord] [--show residue]`.

Wordings of one group should share one key; wordings of two groups should not. Prints coverage, the share of wording
pairs of one group that share a key, and every key that two groups share.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

from slotcache.domain.loader import load_domain
from slotcache.parsing.parser import Parser

GROUPS = Path(__file__).parent / "groups"
AREAS = tuple(
    path.stem
    for path in sorted(GROUPS.glob("*.jsonl"))
    if not path.stem.startswith("labels_") and path.stem != "out_of_scope"
)


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--area", default="", help="prefix of the group ids, such as ord or del-01")
    parser.add_argument("--show", default="merges", choices=["residue", "splits", "merges", "groups", "abstain"])
    parser.add_argument("--domain", default="order_support", help="a domain folder or file")
    parser.add_argument("--limit", type=int, default=40)
    options = parser.parse_args()
    reader = Parser(load_domain(options.domain))
    rows = [
        json.loads(line)
        for area in AREAS
        for line in (GROUPS / f"{area}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    groups: dict[str, list[tuple[str, str | None, str, tuple[str, ...]]]] = defaultdict(list)
    meanings: dict[str, str] = {}
    for row in rows:
        meanings[row["group"]] = row["meaning"]
        parse = reader.parse(row["text"])
        key = str(parse.key) if parse.key and parse.intent else None
        groups[row["group"]].append((row["text"], key, parse.abstain or "", parse.residue))
    chosen = {name: found for name, found in groups.items() if name.startswith(options.area)}
    total = sum(len(found) for found in chosen.values())
    keyed = sum(key is not None for found in chosen.values() for _, key, _, _ in found)
    pairs = hits = 0
    for found in chosen.values():
        for (_, a, _, _), (_, b, _, _) in combinations(found, 2):
            pairs += 1
            hits += a is not None and a == b
    print(
        f"{len(chosen)} groups, {total} wordings, keyed {keyed / total:.1%}, pairs on one key {hits / pairs:.1%}"
    )
    by_key: dict[str, Counter[str]] = defaultdict(Counter)
    for name, found in groups.items():
        for _, key, _, _ in found:
            if key is not None:
                by_key[key][name] += 1
    shared = {key: names for key, names in by_key.items() if len(names) > 1 and any(n in chosen for n in names)}
    print(f"keys that two or more groups share: {len(shared)}")
    if options.show == "merges":
        for key, names in sorted(shared.items(), key=lambda item: -sum(item[1].values()))[: options.limit]:
            print(f"\n{key}")
            for name, count in names.most_common(6):
                example = next(text for text, k, _, _ in groups[name] if k == key)
                print(f"   {name} x{count}: {meanings[name]}  <- {example!r}")
    elif options.show == "residue":
        words = Counter(
            word for found in chosen.values() for _, key, _, residue in found if key is None for word in residue
        )
        for word, count in words.most_common(options.limit):
            example = next(
                text for found in chosen.values() for text, key, _, residue in found if key is None and word in residue
            )
            print(f"{count:4d} {word:24s} {example[:110]!r}")
    elif options.show == "abstain":
        reasons = Counter(reason for found in chosen.values() for _, key, reason, _ in found if key is None)
        print(reasons.most_common())
        shown: Counter[str] = Counter()
        for found in chosen.values():
            for text, key, reason, residue in found:
                if key is None and reason != "residue" and shown[reason] < options.limit:
                    shown[reason] += 1
                    print(f"{reason:18s} {text[:120]!r} {residue}")
    else:
        for name, found in list(chosen.items())[: options.limit]:
            keys = Counter(key for _, key, _, _ in found if key)
            if options.show == "splits" and len(keys) < 2:
                continue
            print(f"\n{name}: {meanings[name]}")
            for text, key, reason, residue in found:
                print(f"   {key or '- ' + reason + ' ' + ' '.join(residue)}   <- {text[:120]!r}")


if __name__ == "__main__":
    main()
