"""How much of the damage that people do to merges is found: seeded, of every kind.

What cannot be found is counted as well. The texts are those of the cases, as far as both sides
changed them; nothing may be found in them before they are damaged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from merges import beyond, merge_findings, said
from random_damage import KINDS, Damage, Merge, damage

CASES = Path(__file__).parents[1] / "cases"
AT_LEAST = 100  # damages of each kind
ROUNDS = 40
# the share of each kind that is found, in percent
FOUND = dict.fromkeys(KINDS, 95) | {"gone": 95}
# the form of expected results of merges by `merge3`, where git's rules come to another one
OF_GIT = {"same": "expected", "any order": "expected", "other": "expected_git"}

Texts = tuple[bytes, bytes, bytes, bytes]


def _names(folder: Path) -> tuple[str, str, str, str] | None:
    """The files of a clean case: base, ours, theirs and the result."""
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    if folder.parent.name == "merge2":
        return None
    if folder.parent.name == "merge3":
        made = OF_GIT.get(case.get("git", ""))
        return ("original", "dest", "updated", made) if made else None
    return ("base", "ours", "theirs", "expected") if case["exit"] == 0 else None


def _texts() -> Iterator[tuple[str, str, Texts]]:
    for folder in sorted(path.parent for path in CASES.glob("*/*/case.toml")):
        names = _names(folder)
        files = [sorted(folder.glob(f"{name}.*")) for name in names or ()]
        if not files or not all(files):
            continue
        base, ours, theirs, made = (file[0].read_bytes() for file in files)
        if base in (ours, theirs) or ours == theirs:
            continue  # nobody merges anything: git takes a side
        case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
        yield str(folder.relative_to(CASES)), case.get("path", "a.yaml"), (base, ours, theirs, made)


@cache
def merges() -> list[tuple[str, str, Texts, Merge]]:
    """The cases that are texts; each with its name and path."""
    found = []
    for name, path, texts in _texts():
        try:
            merge = Merge(*(text.decode("utf-8") for text in texts))
        except UnicodeDecodeError:
            continue
        found.append((name, path, texts, merge))
    return found


@pytest.mark.costly
def test_nothing_is_found_in_what_is_sound() -> None:
    assert len(merges()) >= 180
    for name, path, (base, ours, theirs, made), _ in merges():
        found = merge_findings((base, ours, theirs), made, path)
        assert (name, [f.message for f in found]) == (name, [])


def damages(kind: str) -> Iterator[tuple[str, Texts, Damage]]:
    """At least so many damages, none of them twice; every case has its turn in each round."""
    met = set()
    for number in range(ROUNDS):
        if len(met) >= AT_LEAST:
            return
        for name, path, texts, merge in merges():
            done = damage(kind, merge, Random(f"{kind} {name} {number}"))
            if isinstance(done, Damage) and (name, done.text) not in met:
                met.add((name, done.text))
                yield path, texts, done


@pytest.mark.rates
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found(kind: str) -> None:
    count = 0
    missed = []
    for path, (base, ours, theirs, made), done in damages(kind):
        count += 1
        sides = (base, ours, theirs)
        known = said(merge_findings(sides, made, path))
        if not beyond(merge_findings(sides, done.text.encode(), path), known):
            missed.append(f"{done.form}, line {done.line}:\n{done.text}")
    assert count >= AT_LEAST
    share = 100 * (count - len(missed)) / count
    assert share >= FOUND[kind], "\n\n".join(missed)
