"""Every pair of edits of elements that a place knows by their keys: the merge is that of the edits.

Decision and referee ask the same functions for keys, paths and places (`kube.listkeys`): if one of
these is wrong, they agree all the same. Here the world knows who is who.
"""

from __future__ import annotations

from itertools import product

import pytest
import yaml
from worlds.keys import (
    LISTS,
    SETS,
    Edit,
    List,
    changed,
    reversed_order,
    truth,
    with_first,
    without,
)
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.kube.differing import found_at
from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.listkeys import ListKeys, start
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split


def edits(made: List) -> dict[str, Edit]:
    """The edits of a list by their names."""
    steps, new = list(made.known)[:-1], list(made.known)[-1]
    return {
        **{f"change {step}": changed(step, "new") for step in steps},
        **{f"drop {step}": without(step) for step in steps},
        f"add {new}": with_first(new, made.element(new)),
        **({} if made.is_ordered else {"turn": reversed_order}),
    }


def without_order(elements: list[object]) -> list[str]:
    return sorted(yaml.safe_dump(element) for element in elements)


def merged(made: List, ours: Edit, theirs: Edit) -> str:
    """What is wrong with a merge of two edits, or nothing."""
    base = made.base()
    versions = base, ours(base), theirs(base)
    outcome = merge_files(*map(made.text, versions), line_merge=git_lines)
    wanted = truth(*versions)
    if wanted is None:
        return "it is no conflict" if outcome.clean else ""
    if not outcome.clean:
        return f"it is a conflict: {[c.place for c in outcome.conflicts]}"
    found = made.read(outcome.text)
    right = without_order(found) == without_order([*wanted.values()])
    return "" if right else f"it is {found}"


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.costly
def test_the_merge_of_two_edits_has_both(name: str) -> None:
    made = LISTS[name]
    pairs = product(edits(made).items(), repeat=2)
    wrong = {
        (one, other): why
        for (one, ours), (other, theirs) in pairs
        if (why := merged(made, ours, theirs))
    }
    assert not wrong


@pytest.mark.parametrize("name", LISTS)
def test_a_conflict_is_shown_where_the_edits_are(name: str) -> None:
    made = LISTS[name]
    base = made.base()
    new = list(made.known)[-1]
    turned = (lambda version: version) if made.is_ordered else reversed_order
    for step in base:
        mine, yours = changed(step, "mine")(turned(base)), changed(step, "yours")(base)
        versions = base, mine, with_first(new, made.element(new))(yours)
        outcome = merge_files(*map(made.text, versions), line_merge=git_lines)
        assert [c.field for c in outcome.conflicts] == [f"{made.path}{step}.{made.field}"]


@pytest.mark.parametrize("name", SETS)
def test_members_of_a_set_come_and_go(name: str) -> None:
    head, at = SETS[name]
    made = List(head, at, "", {})
    base = ["b.io/x", "B.io/x", "1", "c.io/x"]
    for gone in base:
        ours = [*(member for member in base if member != gone), "c.io/y"]
        theirs = [*base, "c.io/z"]
        versions = [{member: member for member in version} for version in (base, ours, theirs)]
        outcome = merge_files(*map(made.text, versions), line_merge=git_lines)
        assert outcome.clean
        assert sorted(made.read(outcome.text)) == sorted([*ours, "c.io/z"])


@pytest.mark.parametrize("name", LISTS)
def test_a_path_leads_to_its_element(name: str) -> None:
    made = LISTS[name]
    whole = {step: made.element(step) for step in made.known}
    root = split(Source(made.text(whole))).documents[0].root
    where, node, way = start(root), root, []
    for step in made.at:
        if isinstance(step, int):
            node, where = node.entries[step].value, where.items()
            way.append((("name", "app"),))
        else:
            where = where.at(node).child(step)
            node = node.get(step)
            way.append(step)
    keys = ListKeys(where.list_rule(), [node.entries])
    has_defaults = len({len(element) for element in whole.values()}) > 1
    for entry, name_of_step in zip(node.entries, whole, strict=True):
        step = keys.step(keys.of(entry.value))
        assert show((step,)) == name_of_step
        found = found_at(root, (*way, step))
        if found is not None or not has_defaults:  # a field that is not there may be anything
            assert found is entry.value
