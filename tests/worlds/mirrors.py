"""Every merge with its sides exchanged: what differs between the two results, though nothing may.

`WORLDS` names the worlds; a new world is one line there, a function that yields the three versions of
each merge. Only the order of what both sides added may differ.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from pathlib import Path

import comment_world
import yaml
from worlds import clashes, copies, forms, identity, indents, keys, policies, sequences
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.merge.verify.torn_comments import APART
from kmerge_git.outcome import Outcome
from kmerge_git.text.markers import resolve

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Merge = tuple[str, bytes, bytes, bytes]  # the path, base, ours and theirs
CASES = Path(__file__).parents[1] / "cases"


def _cases() -> Iterator[Merge]:
    for folder in sorted(path.parent for path in CASES.glob("*/*/case.toml")):
        if (folder / "theirs.yaml").exists():
            case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
            versions = (
                (folder / f"{side}.yaml").read_bytes() for side in ("base", "ours", "theirs")
            )
            yield (case.get("path", ""), *versions)


def _sequences() -> Iterator[Merge]:
    pairs = list(combinations(sequences.ARRANGEMENTS, 2))
    for form in sequences.FORMS.values():
        for ours, theirs in pairs[:: 4 if form.ordered else 20]:
            yield ("", *map(form.write, (sequences.BASE, ours, theirs)))


def _identities() -> Iterator[Merge]:
    base = tuple(map(identity.element, ("left", "x", "right")))
    for form in forms.FORMS.values():
        for one, other in list(combinations(identity.MORE.values(), 2))[::2]:
            yield ("", *map(form.write, (base, one(base, "x"), other(base, "x"))))


def _keys() -> Iterator[Merge]:
    for made in keys.LISTS.values():
        base, new = made.base(), list(made.known)[-1]
        edits = [keys.reversed_order, keys.with_first(new, made.element(new))]
        edits += [edit for step in base for edit in (keys.changed(step, "new"), keys.without(step))]
        edits += [keys.changed(step, "newer") for step in base]
        for one, other in combinations(edits, 2):
            yield ("", *map(made.text, (base, one(base), other(base))))


def _clashes() -> Iterator[Merge]:
    for name, clash in clashes.CLASHES.items():
        for ours, theirs in list(combinations(clash.words(), 2))[:: clashes.SHARES[name]]:
            yield ("", *map(clash.write, (clashes.BASES[name], ours, theirs)))


def _comments() -> Iterator[Merge]:
    for number, (_, form, trio) in enumerate(comment_world.worlds()):
        if number % 73 == 0:  # of 50,625
            yield (form.path, *trio)


def _copies() -> Iterator[Merge]:
    for name in ("containers", "values", "documents by name", "items"):
        form = forms.FORMS[name]
        for sides in list(copies.worlds())[::4]:
            yield ("", *map(form.write, (sides.base, sides.copying, sides.other)))
    for _, *versions in copies.two_routes():
        yield ("", *(text.encode() for text in versions))


def _versions() -> Iterator[Merge]:
    words = [edit(policies.BASE) for edit in policies.EDITS.values()]
    for made in policies.LISTS.values():
        for ours, theirs in combinations(words, 2):
            yield ("", *map(made.write, (policies.BASE, ours, theirs)))


def _indents() -> Iterator[Merge]:
    for _, base, ours, theirs, _ in indents.worlds():
        yield ("", base, ours, theirs)


WORLDS: dict[str, Callable[[], Iterable[Merge]]] = {
    "cases": _cases,
    "sequences": _sequences,
    "identities": _identities,
    "keys": _keys,
    "clashes": _clashes,
    "comments": _comments,
    "copies": _copies,
    "versions": _versions,
    "indents": _indents,
}


# -- the comparison


def unequal(merge: Merge) -> str:
    """Return what differs if the sides are exchanged, or ''."""
    path, base, ours, theirs = merge
    here = merge_files(base, ours, theirs, path=path, line_merge=git_lines)
    there = merge_files(base, theirs, ours, path=path, line_merge=git_lines)
    if here.clean != there.clean:
        if all(APART in why for outcome in (here, there) for _, why in _causes(outcome)):
            return ""  # a comment comes to another place: in one direction it would be torn
        shown = [outcome.reason or str(_causes(outcome)) for outcome in (here, there)]
        return f"a conflict one way only: {shown}"
    mirrored = sorted((place, _words(why, mirrored=True)) for place, why in _causes(there))
    if sorted((place, _words(why)) for place, why in _causes(here)) != mirrored:
        return f"other places or causes: {_causes(here)}, {_causes(there)}"
    if here.method == "kept" or any(
        c.why == "both sides changed the same lines" for c in here.conflicts
    ):
        return ""  # a sealed file keeps our version, and git's own conflicts are no others
    for side, other in (("ours", "theirs"), ("theirs", "ours")):
        one, two = (_read(*pair) for pair in ((here, side), (there, other)))
        if one is None or two is None:
            if here.text != there.text and (one is None) != (two is None):
                return f"{side}: only one of the texts is YAML"
        elif _loosely(one) != _loosely(two):
            return f"{side}: other values"
        else:
            known = _elements(_parsed(base))
            if _strictly(one, known) != _strictly(two, known):
                return f"{side}: another order"
    return ""


def _causes(outcome: Outcome) -> list[tuple[str, str]]:
    return [(conflict.place, conflict.told) for conflict in outcome.conflicts]


def _words(cause: str, *, mirrored: bool = False) -> list[str]:
    """Return the parts of a cause in any order, because the part of ours comes first."""
    names = {"ours": "theirs", "theirs": "ours"} if mirrored else {}
    named = re.findall(r"(`[^`]*`|none) in (ours|theirs)", cause)
    rest = re.sub(r"(`[^`]*`|none) in (ours|theirs)", "", cause).replace(":", ",").split(", ")
    words = [" ".join(names.get(word, word) for word in part.split()) for part in rest]
    return sorted(filter(None, words)) + sorted(f"{x} {names.get(side, side)}" for x, side in named)


def _read(outcome: Outcome, side: str) -> object:
    text = outcome.text.decode(errors="surrogateescape")
    return _parsed(
        (text if outcome.clean else resolve(text, side)).encode(errors="surrogateescape")
    )


def _parsed(data: bytes) -> object:
    try:
        return [value for value in yaml.load_all(data, LOADER) if value is not None]
    except (yaml.YAMLError, ValueError, UnicodeDecodeError):
        return None


def _loosely(value: object) -> Hashable:
    """Return a value that is the same whatever the order."""
    if isinstance(value, dict):
        return "map", frozenset((repr(key), _loosely(part)) for key, part in value.items())
    if isinstance(value, list):
        return "list", frozenset(Counter(map(_loosely, value)).items())
    return repr(value)


def _strictly(value: object, known: set[Hashable]) -> Hashable:
    """Return a value with its order, but without the elements that a side added."""
    if isinstance(value, dict):
        return frozenset((repr(key), _strictly(part, known)) for key, part in value.items())
    if isinstance(value, list):
        return tuple(_strictly(part, known) for part in value if _loosely(part) in known)
    return repr(value)


def _elements(value: object) -> set[Hashable]:
    """Return the elements of all lists of a value."""
    if isinstance(value, dict):
        return {each for part in value.values() for each in _elements(part)}
    if not isinstance(value, list):
        return set()
    return {_loosely(part) for part in value} | {x for part in value for x in _elements(part)}
