"""Holds the labels of the meaning groups against the domain and the reader: `python -m training.check_labels`.

A label is the key that a group's meaning has. With `--write`, labels that the domain can no longer express, or that
the reader's own keys for the group contradict by a clear majority, are replaced by that majority, and groups without a
label get one where the reader is of one mind. What is left unlabelled takes no part in training the heads.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

from slotcache.domain.loader import load_domain
from slotcache.domain.schema import Domain
from slotcache.errors import KeyFormatError
from slotcache.key import Key
from slotcache.parsing.parser import Parser

GROUPS = Path(__file__).parent / "groups"
CLEAR = 0.6
"""Share of a group's keyed wordings that a majority needs."""


def expressible(key: Key, domain: Domain) -> bool:
    """Whether the domain has the intent and every closed value of a key."""
    if key.intent not in domain.intents:
        return False
    for name, value in key.slots:
        slot = domain.slots.get(name)
        if slot is None or (slot.type == "closed" and value not in slot.values):
            return False
    return True


def majorities(parser: Parser) -> dict[str, tuple[str, float, int]]:
    """Group -> the key most of its wordings read as, its share of the keyed ones, and how many are keyed."""
    read: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(GROUPS.glob("*.jsonl")):
        if path.stem.startswith("labels_") or path.stem == "out_of_scope":
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            parse = parser.parse(row["text"])
            read[row["group"]][str(parse.key) if parse.intent else ""] += 1
    found = {}
    for group, keys in read.items():
        keyed = sum(count for key, count in keys.items() if key)
        best = max((key for key in keys if key), key=lambda key: (keys[key], key), default="")
        found[group] = (best, keys[best] / keyed if keyed else 0.0, keyed)
    return found


def main() -> None:
    """Print what does not fit; with --write, mend the files."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true")
    write = arguments.parse_args().write
    domain = load_domain()
    found = majorities(Parser(domain))
    labelled: set[str] = set()
    changed = dropped = 0
    for path in sorted(GROUPS.glob("labels_*.jsonl")):
        rows = []
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            best, share, keyed = found.get(row["group"], ("", 0.0, 0))
            try:
                fits = expressible(Key.parse(row["key"]), domain)
            except KeyFormatError:
                fits = False
            clear = keyed >= 2 and share >= CLEAR
            if clear and best != row["key"]:
                print(f"{path.name}: {row['group']}: {row['key']} -> {best} ({share:.0%} of {keyed})")
                changed += 1
                row["key"] = best
            elif not fits:
                print(f"{path.name}: {row['group']}: {row['key']} is not of this domain; left out")
                dropped += 1
                continue
            labelled.add(row["group"])
            rows.append(json.dumps(row))
        if write:
            path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    added = [
        {"group": group, "key": best}
        for group, (best, share, keyed) in sorted(found.items())
        if group not in labelled and keyed >= 2 and share >= CLEAR
    ]
    if write and added:
        path = GROUPS / "labels_read.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in added), encoding="utf-8")
    bare = len(found) - len(labelled) - len(added)
    print(f"changed {changed}, left out {dropped}, added {len(added)}, without a label {bare}")


if __name__ == "__main__":
    main()
