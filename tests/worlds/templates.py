"""Every pair of edits of small templates: the merges, and what each of them is beside the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import cached_property
from itertools import combinations_with_replacement

from worlds.lines import git_lines
from worlds.template_edits import Edit, edits
from worlds.template_files import FILES
from worlds.template_model import Node, Style, changed, walk, written
from worlds.template_readings import broken
from worlds.template_truth import Truth, truth

from kmerge_git import Outcome, merge_files
from kmerge_git.text.markers import resolve

Lines = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]
# verdicts that must not be: a clean lie, git's own that breaks a reading, another answer with the
# sides swapped. "displaced" is a new thing elsewhere in its map, "spaced" one with more blank lines
WRONG = ("wrong", "damaged", "unequal")
FULL = "trimmed"  # the style in which all edits are paired


@dataclass(frozen=True)
class Case:
    """A merge of two edits."""

    file: str
    style: Style
    base: Node
    ours: Edit
    theirs: Edit

    @property
    def name(self) -> str:
        return f"{self.file}, {self.style.name}: {self.ours.name} / {self.theirs.name}"

    @property
    def path(self) -> str:
        return FILES[self.file].path

    @cached_property
    def trio(self) -> tuple[bytes, bytes, bytes]:
        """The three versions."""
        trees = (self.base, self.ours.tree, self.theirs.tree)
        base, ours, theirs = (written(tree, self.style) for tree in trees)
        return base, ours, theirs

    @cached_property
    def truth(self) -> Truth:
        """What it has to come to."""
        if self.trio[1] == self.trio[2]:
            return Truth((self.ours.tree,))
        return truth(self.base, self.ours.tree, self.theirs.tree)

    def texts(self) -> set[str]:
        """All texts that are right, without their blank lines."""
        return {normal(written(tree, self.style)) for tree in self.truth.trees}


def cases(name: str, style: Style, *, core: bool = False) -> Iterator[Case]:
    """Each pair of edits of a template once; `core`: of the commoner ones."""
    file = FILES[name]
    mine = list(edits(file, "o", core=core))
    yours = list(edits(file, "t", core=core))
    for one, other in combinations_with_replacement(range(len(mine)), 2):
        yield Case(name, style, file.root, mine[one], yours[other])


def merged(case: Case, lines: Lines = git_lines, *, swapped: bool = False) -> Outcome:
    """The merge; `lines` is what merges lines."""
    base, ours, theirs = case.trio
    sides = (theirs, ours) if swapped else (ours, theirs)
    return merge_files(base, *sides, path=case.path, line_merge=lines)


def judged(case: Case, lines: Lines = git_lines) -> str:
    """What the merge is: `right`, `missed` (a needless conflict), `git's`, or one of WRONG."""
    outcome, other = merged(case, lines), merged(case, lines, swapped=True)
    if outcome.clean != other.clean or (outcome.clean and bag(outcome.text) != bag(other.text)):
        return "unequal"
    if not outcome.clean:
        if not case.truth.trees:
            return "right"
        return "allowed" if case.truth.may_clash else "missed"
    verdict = beside(case, outcome.text)
    if verdict != "right" and (outcome.text, True) == lines(*case.trio):
        return "damaged" if damage(case, outcome.text) else "git's"
    return verdict


def of_git(case: Case, lines: Lines = git_lines) -> str:
    """The same of git's line merge."""
    text, clean = lines(*case.trio)
    if clean:
        verdict = beside(case, text)
        return "damaged" if verdict in WRONG and damage(case, text) else verdict
    if not case.truth.trees:
        return "right"
    return "allowed" if case.truth.may_clash else "missed"


def is_work(case: Case, lines: Lines = git_lines) -> bool:
    """Whether git's lines are not just right: what is right by them may only become a conflict."""
    text, clean = lines(*case.trio)
    return not clean or bool(damage(case, text))


def beside(case: Case, text: bytes) -> str:
    """A clean result: `right`, `spaced`, `displaced` or `wrong`."""
    if normal(text) in case.texts():
        blanks = [sum(not line for line in data.splitlines()) for data in (*case.trio, text)]
        return "right" if min(blanks[:3]) <= blanks[3] <= max(blanks[:3]) else "spaced"
    return "displaced" if normal(text) in displaced(case) else "wrong"


def laws_broken(case: Case, lines: Lines = git_lines) -> list[str]:
    """What is wrong with a conflict, if it is not git's own."""
    outcome = merged(case, lines)
    text = outcome.text.decode()
    if outcome.clean or outcome.text == lines(*case.trio)[0]:
        return []
    found = []
    for side in ("ours", "theirs"):
        taken = resolve(text, side).encode()
        found += [f"{side} taken: {fault}" for fault in damage(case, taken)]
        base, *sides, there = (Counter(data.splitlines()) for data in (*case.trio, taken))
        least = base & sides[0] & sides[1]
        most = sides[0] | sides[1] | base
        found += [f"{side} taken: {line!r} is gone" for line in least - there]
        found += [f"{side} taken: {line!r} is new" for line in there if line not in most]
    shown = Counter(outcome.text.splitlines())
    base, *sides = (Counter(data.splitlines()) for data in case.trio)
    found += [f"{line!r} is lost" for new in sides for line in new - base if not shown[line]]
    return found


def damage(case: Case, text: bytes) -> set[str]:
    """What a reading of the result breaks, and none of a side."""
    result, *sides = (broken(data.decode(), case.path) for data in (text, *case.trio))
    return result - set().union(*sides)


def displaced(case: Case) -> set[str]:
    """The texts in which one thing that is new stands elsewhere in its map, or among documents."""
    old = {each.who for each in walk(case.base)}
    return {
        normal(written(_put(tree, replace(holder, children=children)), case.style))
        for tree in case.truth.trees
        for holder in walk(tree)
        for node in holder.children
        if node.who not in old
        for children in _elsewhere(holder, node)
    }


def _elsewhere(holder: Node, node: Node) -> Iterator[tuple[Node, ...]]:
    """The children with one at other places; an assignment may only pass a comment."""
    rest = tuple(each for each in holder.children if each is not node)
    was = holder.children.index(node)
    for at in range(len(rest) + 1):
        passed = {each.kind for each in rest[min(at, was) : max(at, was)]}
        if node.kind in ("entry", "list", "doc", "block", "output") or passed <= {"comment"}:
            yield (*rest[:at], node, *rest[at:])


def _put(tree: Node, node: Node) -> Node:
    return node if node.who == tree.who else changed(tree, node.who, lambda _: (node,))


def normal(data: bytes) -> str:
    """A text without blank lines and a `---` of no use, and with one word for what is empty."""
    lines = data.decode().replace("\r\n", "\n").split("\n")
    bare = [line.removesuffix(" {}").removesuffix(" []") for line in lines if line]
    for at in range(len(bare) - 1, 0, -1):
        if bare[at] == "---" and bare[at - 1].startswith(("{{- if", "{{ if")):
            bare[at - 1 : at + 1] = bare[at - 1 : at + 1][::-1]  # it may stand before the `if`
    first = next((at for at, line in enumerate(bare) if line[:2] != "{{"), 0)
    return "\n".join(line for at, line in enumerate(bare) if (at, line) != (first, "---"))


def bag(data: bytes) -> list[bytes]:
    """The lines of a text in no order, without blank ones."""
    return sorted(filter(None, data.splitlines()))


# -- a smaller one


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest merge of the same two edits that still fails, and still has an action."""
    for node in list(walk(case.base))[1:]:
        smaller = _without(case, node)
        if smaller is not None and b"{{" in smaller.trio[0] and fails(smaller):
            return shrunk(smaller, fails)
    return case


def _without(case: Case, node: Node) -> Case | None:
    """The same without a node that all three have, if nothing is empty then."""
    trees = (case.base, case.ours.tree, case.theirs.tree)
    same = [any(each == node for each in walk(tree)) for tree in trees]
    if node.kind in ("raw", "arm") or not all(same):
        return None
    base, ours, theirs = (changed(tree, node.who, lambda _: ()) for tree in trees)
    for before, after in zip(trees, (base, ours, theirs), strict=True):
        held = {each.who for each in walk(before) if each.children}
        if any(each.who in held and not each.children for each in walk(after)):
            return None
    edits = (replace(case.ours, tree=ours), replace(case.theirs, tree=theirs))
    return Case(case.file, case.style, base, *edits)


def told(case: Case, result: bytes = b"") -> str:
    """A merge for people: what git shows of its sides, the result, and what is right."""
    base, ours, theirs = (data.decode().replace("\r", "").splitlines() for data in case.trio)
    right = sorted(case.texts())
    parts = [
        f"{case.name} ({case.path})",
        "-- base",
        *base,
        "-- ours changes",
        *_difference(base, ours),
        "-- theirs changes",
        *_difference(base, theirs),
        *(["-- result", *result.decode().splitlines()] if result else []),
        "-- right: " + ("one of" if len(right) > 1 else "only" if right else "a conflict"),
        *"\n..\n".join(right).splitlines(),
    ]
    return "\n".join(parts)


def _difference(old: list[str], new: list[str]) -> list[str]:
    return [
        line for line in unified_diff(old, new, n=1, lineterm="") if line[:3] not in ("---", "+++")
    ]
