"""Files with entries that are commented out, and what each of two edits does to them.

A file is a row of blocks: active entries, commented entries, and prose. An edit changes blocks by
their names, so what is right is known from the two edits: an entry that one side took away and the
other changed inside is a conflict, or has both edits; everything else has both edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

ACTIVE, ENTRY, PROSE = "active", "commented entry", "prose"
TAKES = ("uncomment", "uncomment and change", "drop", "move", "drop run")


@dataclass(frozen=True)
class Block:
    """Some lines without their indentation, and what they are."""

    name: str
    kind: str
    lines: tuple[str, ...]


Blocks = tuple[Block, ...]

MAP = {
    "A": Block("A", ACTIVE, ("alpha:", "  one: 1", "  two: 2")),
    "B": Block("B", ACTIVE, ("beta: 1",)),
    "C": Block("C", ACTIVE, ("gamma:", "  far: 1", "  near: 2")),
    "N": Block("N", ACTIVE, ("omega:", "  new: 1")),
    "P": Block("P", PROSE, ("What a pod may use, and why", "it may not use more, see the", "wiki.")),
    "E": Block("E", ENTRY, ("resources:", "  limits:", "    cpu: 100m", "    memory: 1Gi", "  class: gold")),
    "F": Block("F", ENTRY, ("affinity:", "  zone: a", "  rack: b")),
    "G": Block("G", ENTRY, ("replicas: 3",)),
    "H": Block("H", ENTRY, ("revisions: 7",)),
}  # fmt: skip
LIST = {
    "A": Block("A", ACTIVE, ("- name: alpha", "  image: a:1")),
    "B": Block("B", ACTIVE, ("- name: beta", "  image: b:1")),
    "C": Block("C", ACTIVE, ("- name: gamma", "  image: c:1", "  tty: true")),
    "N": Block("N", ACTIVE, ("- name: omega", "  image: o:1")),
    "P": MAP["P"],
    "E": Block("E", ENTRY, ("- name: proxy", "  image: p:1", "  args:", "  - --level=1", "  - --quiet")),
    "F": Block("F", ENTRY, ("- name: probe", "  image: q:1", "  tty: false")),
}  # fmt: skip
TIGHT = {
    **LIST,
    "E": Block("E", ENTRY, ("- name: PROXY", "  value: p1", "  # of all", "  more: 1")),
}
# a list at the column of its key, a text, a key in quotes, an element of an element
ODD = {
    **MAP,
    "E": Block("E", ENTRY, ("volumes:", "- name: a", "  path: /a", "- name: b", "  path: /b")),
    "F": Block("F", ENTRY, ("script: |", "  set -e", "  run --all")),
    "G": Block("G", ENTRY, ('"example.org/count": 3',)),
}
SCALARS = {
    "A": Block("A", ACTIVE, ("- alpha", "- one")),
    "B": Block("B", ACTIVE, ("- beta",)),
    "C": Block("C", ACTIVE, ("- gamma", "- two")),
    "N": Block("N", ACTIVE, ("- omega", "- three")),
    "P": MAP["P"],
    "E": Block("E", ENTRY, ("- - delta", "  - epsilon", "  - zeta", "  - eta")),
    "G": Block("G", ENTRY, ("- theta",)),
    "H": Block("H", ENTRY, ("- iota",)),
}


@dataclass(frozen=True)
class Form:
    """How blocks are written: what is around them, their column, and how lines are commented."""

    path: str
    above: str
    below: str
    column: int
    blocks: dict[str, Block]
    mark: str = "# "
    at: str = "entry"  # the column of the `#`: of the entry, of the line, or 0
    blank: bool = False  # between the blocks

    def write(self, blocks: Blocks) -> bytes:
        """Return the file."""
        parts = ["".join(self.line(block, line) for line in block.lines) for block in blocks]
        return (self.above + ("\n" if self.blank else "").join(parts) + self.below).encode()

    def line(self, block: Block, line: str) -> str:
        """Return one line of a block as it stands in the file."""
        indent = " " * self.column
        if block.kind == ACTIVE:
            return f"{indent}{line}\n"
        if self.at == "0":
            return f"{self.mark.rstrip()}{indent}{line}\n"
        if self.at == "line":
            bare = line.lstrip()
            return f"{indent}{line[: len(line) - len(bare)]}{self.mark}{bare}\n"
        return f"{indent}{self.mark}{line}\n"


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n"
DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  template:\n    spec:\n"
)
FORMS = {
    "values": Form("values.yaml", "", "", 0, MAP),
    "values, tight": Form("values.yaml", "first: 1\n", "last: 1\n", 0, MAP, "#"),
    "values, blank lines": Form("values.yaml", "first: 1\n\n", "\nlast: 1\n", 0, MAP, blank=True),
    "nested": Form("values.yaml", "server:\n", "last: 1\n", 2, MAP),
    "nested, tight": Form("values.yaml", "server:\n", "", 2, MAP, "#"),
    "nested, toggled at 0": Form("values.yaml", "server:\n", "last: 1\n", 2, MAP, "#", "0"),
    "nested, toggled by lines": Form("values.yaml", "server:\n", "last: 1\n", 2, MAP, "# ", "line"),
    "annotations": Form("x.yaml", POD.replace("spec:\n", "  annotations:\n"), "spec:\n  a: 1\n", 4, MAP),
    "containers": Form("x.yaml", DEPLOYMENT + "      containers:\n", "      hostname: x\n", 6, LIST),
    "containers, indented": Form("x.yaml", POD + "  containers:\n", "", 4, LIST, "#"),
    "env": Form("x.yaml", POD + "  containers:\n  - name: x\n    env:\n", "    image: x:1\n", 4, TIGHT),
    "odd values": Form("values.yaml", "first: 1\n", "", 0, ODD),
    "odd, tight, nested": Form("values.yaml", "server:\n", "last: 1\n", 4, ODD, "#"),
    "second document": Form("x.yaml", POD + "  a: 1\n---\n" + POD.replace("x", "y"), "---\nkind: X\n", 2, MAP),
    "items": Form("x.yaml", "kind: List\nitems:\n- kind: X\n  metadata:\n    name: y\n- kind: Y\n  metadata:\n    name: y\n", "- kind: Z\n  metadata:\n    name: y\n", 2, MAP),
    "scalars": Form("x.yaml", "kind: X\nargs:\n", "last: 1\n", 0, SCALARS),
    "elements": Form("x.yaml", "kind: X\nrules:\n", "last: 1\n", 2, LIST),
}  # fmt: skip
RUNS = {
    "prose and entries": "PEF",
    "entries": "EGFH",
    "one entry": "E",
    "prose": "P",
    "prose between": "FPE",
}
PLACES = ("head", "middle", "end")


def base(form: Form, run: str, place: str) -> Blocks:
    """Return the blocks of the base, with the run of comments at one place."""
    around = {"head": ("", "ABC"), "middle": ("AB", "C"), "end": ("ABC", "")}[place]
    names = around[0] + run + around[1]
    return tuple(form.blocks[name] for name in names if name in form.blocks)


@dataclass(frozen=True)
class Edit:
    """What a side did: the kind of the edit, the block, the line in it, and the new blocks."""

    kind: str
    name: str
    line: int
    make: Callable[[Blocks], Blocks]


def _with(blocks: Blocks, name: str, change: Callable[[Block], Block | None]) -> Blocks:
    made = ((change(each) if each.name == name else each) for each in blocks)
    return tuple(each for each in made if each is not None)


def _changed(line: str, side: str) -> str:
    return f"{line}{side}"


def _replaced(block: Block, at: int, *lines: str) -> Block:
    return replace(block, lines=(*block.lines[:at], *lines, *block.lines[at + 1 :]))


def _line(block: Block, at: int) -> str:
    """Return a line of a block, or nothing if the other edit took it away."""
    return block.lines[at] if at < len(block.lines) else ""


def _inside(block: Block) -> range:
    """Return the lines of the first entry of several lines that is within an entry."""
    for n in range(1, len(block.lines)):
        indent = " " * (len(block.lines[n]) - len(block.lines[n].lstrip()))
        deeper = [indent + " ", indent + "-"] if block.lines[n][-1] == ":" else [indent + " "]
        size = 1
        while n + size < len(block.lines) and block.lines[n + size].startswith(tuple(deeper)):
            size += 1
        if size > 1:
            return range(n, n + size)
    return range(0)


def _moved(blocks: Blocks, name: str, below: str) -> Blocks:
    block = next((each for each in blocks if each.name == name), None)
    if block is None:
        return blocks
    rest = [each for each in blocks if each.name != name]
    at = next(n for n, each in enumerate(rest) if each.name == below) + 1
    return (*rest[:at], block, *rest[at:])


def _inserted(blocks: Blocks, new: Block, below: str) -> Blocks:
    """Add a block below the named block, or below the nearest one above that is still there."""
    at = next((n for n, each in enumerate(blocks) if each.name == below), len(blocks) - 1) + 1
    return (*blocks[:at], new, *blocks[at:])


def edits(of: Blocks, new: Block, side: str) -> Iterator[Edit]:
    """Return what a side may do.

    `new` is a block that it may add; `side` is a digit that its changed lines end with.
    """
    names = {block.name: block for block in of}
    yield Edit("nothing", "", 0, lambda blocks: blocks)
    for name in "EFG":
        if name not in names:
            continue
        last = len(names[name].lines) - 1

        def within(
            change: Callable[[Block], Block | None], name: str = name
        ) -> Callable[[Blocks], Blocks]:
            return lambda blocks: _with(blocks, name, change)

        yield Edit("uncomment", name, 0, within(lambda b: replace(b, kind=ACTIVE)))
        yield Edit("drop", name, 0, within(lambda b: None))
        inner = (last - 1, last) if last > 2 else (last,)
        for at in inner:
            yield Edit(
                "edit",
                name,
                at,
                within(lambda b, at=at: _replaced(b, at, _changed(_line(b, at), side))),
            )
        yield Edit(
            "uncomment and change",
            name,
            last,
            within(
                lambda b, at=last: replace(
                    _replaced(b, at, _changed(_line(b, at), side)), kind=ACTIVE
                )
            ),
        )
        if last:
            yield Edit(
                "add",
                name,
                last,
                within(lambda b, at=last: _replaced(b, at, _line(b, at), f"  more{side}: 1")),
            )
            yield Edit("cut", name, last, within(lambda b, at=last: _replaced(b, at)))
        inside = _inside(names[name])
        if inside:
            yield Edit(
                "drop part",
                name,
                inside[0],
                within(
                    lambda b, part=[names[name].lines[n] for n in inside]: replace(
                        b, lines=tuple(line for line in b.lines if line not in part)
                    )
                ),
            )
        for below in "AC":
            if _moved(of, name, below) != of and not _stays(of, name, below):
                yield Edit(
                    "move",
                    name,
                    0,
                    lambda blocks, name=name, below=below: _moved(blocks, name, below),
                )
    if "P" in names:
        for at in (0, 1):
            yield Edit(
                "edit",
                "P",
                at,
                lambda blocks, at=at: _with(
                    blocks, "P", lambda b: _replaced(b, at, _changed(_line(b, at), side))
                ),
            )
        yield Edit("cut", "P", 2, lambda blocks: _with(blocks, "P", lambda b: _replaced(b, 2)))
        yield Edit("drop", "P", 0, lambda blocks: _with(blocks, "P", lambda b: None))
    own = replace(new, lines=tuple(line.replace("omega", f"omega{side}") for line in new.lines))
    for name, block in names.items():
        if block.kind != ACTIVE:
            for kind in (ACTIVE, ENTRY):
                made = replace(own, kind=kind)
                yield Edit(
                    f"insert {kind}",
                    name,
                    0,
                    lambda blocks, name=name, made=made: _inserted(blocks, made, name),
                )
    if len([each for each in of if each.kind != ACTIVE]) > 1:
        yield Edit("drop run", "", 0, lambda blocks: tuple(b for b in blocks if b.kind == ACTIVE))
    yield Edit(
        "edit",
        "A",
        1,
        lambda blocks: _with(blocks, "A", lambda b: _replaced(b, 1, _changed(b.lines[1], side))),
    )
    yield Edit(
        "comment out", "C", 0, lambda blocks: _with(blocks, "C", lambda b: replace(b, kind=ENTRY))
    )
    yield Edit(
        "edit",
        "C",
        1,
        lambda blocks: _with(blocks, "C", lambda b: _replaced(b, 1, _changed(b.lines[1], side))),
    )
    yield Edit("drop", "B", 0, lambda blocks: _with(blocks, "B", lambda b: None))


def _stays(of: Blocks, name: str, below: str) -> bool:
    """Return whether a block moves only past other comments."""
    active = [each.name for each in of if each.kind == ACTIVE or each.name == name]
    at = active.index(name)
    return active[at - 1 : at] == [below]


# -- what is right

CONFLICT, CLEAN, EITHER = "conflict", "clean", "either"


def truth(of: Blocks, one: Edit, other: Edit) -> str:
    """Return what two edits must come to."""
    kinds = (one.kind, other.kind)
    if "nothing" in kinds:
        return CLEAN
    if any(kind.startswith("insert") for kind in kinds):
        is_either = _both_add_in_one_gap(of, one, other) or _are_in_one_place(one, other)
        return EITHER if is_either else CLEAN
    if "drop run" in kinds:
        return _of_a_dropped_run(of, one, other)
    if one.name != other.name:
        return EITHER if _both_add_in_one_gap(of, one, other) else CLEAN
    block = next(each for each in of if each.name == one.name)
    if "comment out" in kinds:
        return CLEAN if kinds[0] == kinds[1] else CONFLICT
    if kinds == ("drop", "drop") or kinds == ("uncomment", "uncomment"):
        return CLEAN
    if (
        block.lines[1:] == ()
        and block.lines[0].startswith("- ")
        and "uncomment and change" in kinds
    ):
        return EITHER  # a new element, and nothing tells that it was this one
    taken = [kind in TAKES for kind in kinds]
    if all(taken):
        if any(kind.startswith("uncomment") for kind in kinds):
            # the same entry comes twice, or one side has it and the other took it away
            both = all(kind.startswith("uncomment") for kind in kinds)
            return (EITHER if kinds[0] != kinds[1] else CONFLICT) if both else CONFLICT
        return EITHER
    if any(taken):
        if block.kind == PROSE and "cut" in kinds:
            return EITHER
        return CONFLICT
    if "drop part" in kinds:
        return _of_a_dropped_part(block, one, other)
    if "cut" in kinds and kinds[0] == kinds[1]:
        return CLEAN
    if "add" in kinds:  # what one side adds below a line that the other changed
        return EITHER
    return CLEAN if one.line != other.line else EITHER if "cut" in kinds else CONFLICT


def _of_a_dropped_part(block: Block, one: Edit, other: Edit) -> str:
    rest = other if one.kind == "drop part" else one
    part = _inside(block)
    if rest.kind == "drop part":
        return CLEAN
    if rest.line in part:
        return CONFLICT if rest.kind == "edit" else EITHER
    return CLEAN


def _is_scalar(block: Block) -> bool:
    """Return whether a block is an element of one line: changed, nothing tells that it was this."""
    return len(block.lines) == 1 and block.lines[0].startswith("- ")


def _both_add_in_one_gap(of: Blocks, one: Edit, other: Edit) -> bool:
    """Return whether two edits make new elements of a list without keys between two others.

    Only comments are between the new elements, so nothing tells their order.
    """
    is_keyless = any(block.lines[0] == "- alpha" for block in of)
    return is_keyless and all(
        edit.kind.startswith(("insert active", "uncomment")) for edit in (one, other)
    )


def _are_in_one_place(one: Edit, other: Edit) -> bool:
    """Return whether an insertion is beside another one, or a comment above a deleted entry."""
    if {one.kind, other.kind} == {"comment out", f"insert {ENTRY}"}:
        return True
    return one.kind[:6] == other.kind[:6] and one.name == other.name


def _of_a_dropped_run(of: Blocks, one: Edit, other: Edit) -> str:
    rest = other if one.kind == "drop run" else one
    name = rest.name
    kind = next((each.kind for each in of if each.name == name), ACTIVE)
    if kind == ACTIVE:
        return CLEAN
    if rest.kind == "drop" or (rest.kind == "cut" and kind == PROSE):
        return CLEAN
    block = next(each for each in of if each.name == name)
    is_free = rest.kind == "move" or (rest.kind == "uncomment and change" and _is_scalar(block))
    return EITHER if is_free else CONFLICT


def wanted(of: Blocks, one: Edit, other: Edit) -> list[Blocks]:
    """Return the blocks with both edits, in both orders."""
    rows = [one.make(other.make(of)), other.make(one.make(of))]
    return rows[:1] if rows[0] == rows[1] else rows


def is_right(form: Form, result: bytes, rows: list[Blocks]) -> bool:
    """Return whether a result has all lines, and the lines of each block beside each other."""
    lines = [line for line in result.decode().split("\n") if line]
    return any(_has(form, lines, row) for row in rows)


def _has(form: Form, lines: list[str], row: Blocks) -> bool:
    written = [line for line in form.write(row).decode().split("\n") if line]
    if Counter(lines) != Counter(written):
        return False
    text = "\n" + "\n".join(lines) + "\n"
    return all(
        "\n" + "".join(form.line(block, line) for line in block.lines) in text for block in row
    )


Trio = tuple[bytes, bytes, bytes]
Pair = tuple[str, Trio, Blocks, Edit, Edit]


def worlds(form: str) -> Iterator[Pair]:
    """Return all merges of a form: the name, the versions, and the two edits of what they are of."""
    written = FORMS[form]
    known = set()
    for run, whole in RUNS.items():
        names = "".join(name for name in whole if name in written.blocks)
        for place in PLACES:
            of = base(written, names, place)
            new = written.blocks["N"]
            start = written.write(of)
            mine, yours = (
                [(edit, written.write(edit.make(of))) for edit in edits(of, new, side)]
                for side in "12"
            )
            for (one, ours), (other, theirs) in product(mine, yours):
                trio = start, ours, theirs
                if trio not in known:
                    known.add(trio)
                    name = f"{form}: {run} at the {place}: {_named(one)} / {_named(other)}"
                    yield name, trio, of, one, other


def _named(edit: Edit) -> str:
    return f"{edit.kind} {edit.name}{edit.line}"
