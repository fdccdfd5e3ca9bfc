"""Applies what `as_json` says to the values of one version: it knows nothing but the JSON."""

from __future__ import annotations

import json
from typing import Any

Said = dict[str, Any]
INVERSE = {"added": "deleted", "deleted": "added"}
TELLING = ("layout", "renamed", "binary")  # these say nothing about values


def apply(values: list[Any], changes: list[Said]) -> list[Any]:
    """The values of the documents after the changes."""
    told = [change for change in changes if change["how"] not in TELLING]
    made = built(
        values, [([c["document"]] if "document" in c else [], c) for c in told], first=True
    )
    assert isinstance(made, list)
    return made


def equal(a: Any, b: Any) -> bool:
    """Whether two values are the same, `.nan` and types included."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def backwards(changes: list[Said]) -> list[Said]:
    """The changes from the new version to the old one."""
    return [_inverse(change) for change in changes]


def _inverse(change: Said) -> Said:
    made = change | {"how": INVERSE.get(change["how"], change["how"])}
    for one, other in (("before", "after"), ("after", "before")):
        made.pop(other, None)
        if one in change:
            made[other] = change[one]
    made["steps"] = [_turned(step) for step in change["steps"]]
    for place in {"document", "line"} & change.keys():
        made[place] = _turned(change[place])
    if "order" in change:
        made["order"] = [change["order"].index(n) for n in range(len(change["order"]))]
    return made


def _turned(step: Any) -> Any:
    if isinstance(step, str):
        return step
    turned = {"old": step.get("new"), "new": step.get("old"), "key": step.get("key")}
    return {name: value for name, value in turned.items() if value is not None}


def built(value: Any, told: list[tuple[list[Any], Said]], *, first: bool = False) -> Any:
    """A value with changes below it; each has the steps that lead there from here."""
    if first:
        told = [([*head, *change["steps"]], change) for head, change in told]
    here = [change for steps, change in told if not steps]
    below = [(steps, change) for steps, change in told if steps]
    for change in here:
        if change["how"] == "changed":
            assert equal(value, change["before"]), change
            assert len(told) == 1
            return change["after"]
    if isinstance(value, dict):
        assert not here
        return _mapping(value, below)
    assert isinstance(value, list), (value, told)
    assert len(here) <= 1, here
    return _list(value, below, here[0]["order"] if here else None)


def _mapping(value: Said, below: list[tuple[list[Any], Said]]) -> Said:
    made = dict(value)
    for name in {steps[0] for steps, _ in below}:
        rest = [(steps[1:], change) for steps, change in below if steps[0] == name]
        ((steps, change), *more) = rest
        if not steps and change["how"] == "added":
            assert name not in made
            assert not more
            made[name] = change["after"]
        elif not steps and change["how"] == "deleted":
            assert equal(made.pop(name), change["before"])
            assert not more
        else:
            made[name] = built(made[name], rest)
    return made


def _list(value: list[Any], below: list[tuple[list[Any], Said]], order: list[int] | None) -> Any:
    kept = dict(enumerate(value))
    added = {}
    for old, new in {(steps[0].get("old"), steps[0].get("new")) for steps, _ in below}:
        rest = [
            (steps[1:], change)
            for steps, change in below
            if (steps[0].get("old"), steps[0].get("new")) == (old, new)
        ]
        if old is None:
            ((steps, change),) = rest
            assert not steps
            assert change["how"] == "added"
            added[new] = change["after"]
        elif new is None:
            ((steps, change),) = rest
            assert not steps
            assert change["how"] == "deleted"
            assert equal(kept.pop(old), change["before"])
        else:
            kept[old] = built(kept[old], rest)
    in_order = [kept[n] for n in sorted(kept)]
    if order is not None:
        assert sorted(order) == list(range(len(in_order)))
        in_order = [in_order[n] for n in order]
    waiting = iter(in_order)
    made = [added[n] if n in added else next(waiting) for n in range(len(kept) + len(added))]
    assert next(waiting, None) is None
    return made


def apply_lines(data: bytes, changes: list[Said]) -> bytes:
    """The text of a file without fields after the changes of its lines."""
    *whole, rest = data.decode("utf-8", "surrogateescape").split("\n")
    lines = [*(line + "\n" for line in whole), *([rest] if rest else [])]
    for change in reversed(changes):
        start = change["line"]["old"]
        assert lines[start : start + len(change["before"])] == change["before"]
        lines[start : start + len(change["before"])] = change["after"]
    return "".join(lines).encode("utf-8", "surrogateescape")
