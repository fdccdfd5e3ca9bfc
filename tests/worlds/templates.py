"""Every pair of edits of small templates: the merges, and what each of them is beside the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

from worlds.lines import git_lines
from worlds.template_edits import Edit, edits
from worlds.template_files import FILES
from worlds.template_model import STYLES, Node, Style, changed, walk, written
from worlds.template_readings import broken
from worlds.template_truth import Truth, truth

from kmerge_git import Outcome, merge_files

Lines = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]
WRONG = ("wrong", "displaced", "unequal", "changed")  # verdicts that must not be
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


def cases(name: str, style: Style) -> Iterator[Case]:
    """Each pair of edits of a template once."""
    file, core = FILES[name], style.name != FULL
    mine = list(edits(file, "o", core=core))
    yours = list(edits(file, "t", core=core))
    for one, other in combinations_with_replacement(range(len(mine)), 2):
        yield Case(name, style, file.root, mine[one], yours[other])


def merged(case: Case, lines: Lines | None = git_lines, *, swapped: bool = False) -> Outcome:
    """The merge; `lines` is git's own if there is none."""
    base, ours, theirs = case.trio
    sides = (theirs, ours) if swapped else (ours, theirs)
    return merge_files(base, *sides, path=case.path, line_merge=lines)


def judged(case: Case, lines: Lines | None = git_lines) -> str:
    """What the merge is: `right`, `missed` (a needless conflict), `git's`, or one of WRONG."""
    outcome, other = merged(case, lines), merged(case, lines, swapped=True)
    if outcome.clean != other.clean or (outcome.clean and bag(outcome.text) != bag(other.text)):
        return "unequal"
    if not outcome.clean:
        if not case.truth.trees:
            return "right"
        return "allowed" if case.truth.may_clash else "missed"
    verdict = beside(case, outcome.text)
    if verdict in WRONG and (outcome.text, True) == git_lines(*case.trio) and not damage(case, outcome.text):
        return "git's"
    return verdict


def of_git(case: Case) -> str:
    """The same of git's line merge."""
    text, clean = git_lines(*case.trio)
    if clean:
        return beside(case, text)
    if not case.truth.trees:
        return "right"
    return "allowed" if case.truth.may_clash else "missed"


def beside(case: Case, text: bytes) -> str:
    """A clean result: `right` or one of WRONG."""
    if normal(text) in case.texts():
        blanks = {data.count(b"\n" + case.style.end.encode()) for data in (*case.trio, text)}
        return "right" if len(blanks) == 1 else "changed"
    return "displaced" if normal(text) in displaced(case) else "wrong"


def damage(case: Case, text: bytes) -> set[str]:
    """What a reading of the result breaks, and none of a side."""
    result, *sides = (broken(data.decode(), case.path) for data in (text, *case.trio))
    return result - set().union(*sides)


def displaced(case: Case) -> set[str]:
    """The texts in which one thing that is new stands elsewhere in its map, or among documents."""
    found = set()
    for tree in case.truth.trees:
        for holder in walk(tree):
            for node in holder.children:
                if node.who in {each.who for each in walk(case.base)} or node.kind == "arm":
                    continue
                rest = tuple(each for each in holder.children if each is not node)
                for at in range(len(rest) + 1):
                    made = replace(holder, children=(*rest[:at], node, *rest[at:]))
                    whole = made if holder is tree else changed(tree, holder.who, lambda _, m=made: (m,))
                    found.add(normal(written(whole, case.style)))
    return found


def normal(data: bytes) -> str:
    """A text without blank lines, and with one word for what is empty."""
    lines = data.decode().replace("\r\n", "\n").split("\n")
    bare = (line.removesuffix(" {}").removesuffix(" []") for line in lines)
    return "\n".join(line for line in bare if line)


def bag(data: bytes) -> list[bytes]:
    """The lines of a text in no order."""
    return sorted(data.splitlines())


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest merge of the same two edits that still fails."""
    while True:
        for node in list(walk(case.base))[1:]:
            smaller = _without(case, node)
            if smaller is not None and fails(smaller):
                case = smaller
                break
        else:
            return case


def _without(case: Case, node: Node) -> Case | None:
    """The same without a node that all three have."""
    trees = [case.base, case.ours.tree, case.theirs.tree]
    gone = {each.who for each in walk(node)}
    held = [[e.who for e in walk(each) if e.who not in {x.who for x in walk(case.base)}] for tree in trees for each in walk(tree) if each.who == node.who]
    if node.kind == "raw" or len(held) != 3 or any(held):
        return None
    if any(each.says != n.says for n in walk(node) for tree in trees for each in walk(tree) if each.who == n.who):
        return None
    if any({e.who for e in walk(tree)} & gone != gone for tree in trees):
        return None
    base, ours, theirs = (changed(tree, node.who, lambda _: ()) for tree in trees)
    if any(each.kind not in ("doc", "raw") and not each.children and len(each_was.children) for tree, was in ((base, case.base),) for each in walk(tree) for each_was in walk(was) if each_was.who == each.who):
        return None
    return Case(case.file, case.style, base, replace(case.ours, tree=ours), replace(case.theirs, tree=theirs))
