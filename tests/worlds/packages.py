"""Small worlds of packages: a few files, a few resources, edits of two sides, and their truth.

What comes of two sides' edits is said by the edits alone: which resources and texts there are,
what stands in them, and where they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import yaml

from kmerge_git.packages.package_files import File, Package

Edit = tuple[str, ...]  # what is done, to what


@dataclass(frozen=True)
class Thing:
    """A resource or a text; each side changes a line of its own."""

    upstream: int = 0
    dest: int = 0
    is_text: bool = False


@dataclass(frozen=True)
class Tree:
    """Which things there are, and the files that they stand in."""

    things: dict[str, Thing]
    files: dict[str, tuple[str, ...]]
    renames: dict[str, str] = field(default_factory=dict)  # of whole files

    def place(self, name: str) -> str:
        return next((path for path, names in self.files.items() if name in names), "")


BASE = Tree(
    {n: Thing() for n in ("a", "b", "c", "e")} | {"t": Thing(is_text=True)},
    {"x.yaml": ("a", "b"), "y.yaml": ("c",), "z.yaml": ("e",), "t.sh": ("t",)},
)
EDITS: list[Edit] = [
    *(("change", name) for name in "abct"),
    *(("delete", name) for name in "abct"),
    *(("move", name, path) for name in "abc" for path in ("z.yaml", "own.yaml", "common.yaml")),
    *(("rename", path, to) for path in ("x.yaml", "y.yaml") for to in ("own/", "common/")),
    ("rename", "t.sh", "own/"),
    ("rename", "t.sh", "common/"),
    ("split", "x.yaml"),
    ("join", "y.yaml", "x.yaml"),
    ("join", "x.yaml", "y.yaml"),
    ("join", "x.yaml", "common.yaml"),
    ("delete file", "x.yaml"),
    ("delete file", "z.yaml"),
    ("add", "x.yaml"),
    ("add", "y.yaml"),
    ("add", "own.yaml"),
    ("add", "common.yaml"),
]


def edited(tree: Tree, side: str, edits: tuple[Edit, ...]) -> Tree:
    """The tree after a side's edits; one that has nothing to work on does nothing."""
    for number, edit in enumerate(edits):
        tree = _EDITS[edit[0]](tree, side, *edit[1:], number)
    return tree


def _change(tree: Tree, side: str, name: str, number: int) -> Tree:
    if name not in tree.things:
        return tree
    changed = replace(tree.things[name], **{side: 1 + number})
    return replace(tree, things=tree.things | {name: changed})


def _delete(tree: Tree, side: str, name: str, number: int) -> Tree:
    things = {n: thing for n, thing in tree.things.items() if n != name}
    return _filed(
        tree, things, {p: tuple(n for n in names if n != name) for p, names in tree.files.items()}
    )


def _delete_file(tree: Tree, side: str, path: str, number: int) -> Tree:
    for name in tree.files.get(path, ()):
        tree = _delete(tree, side, name, number)
    return tree


def _move(tree: Tree, side: str, name: str, path: str, number: int) -> Tree:
    path = _own(path, side)
    if name not in tree.things or tree.place(name) == path:
        return tree
    files = {p: tuple(n for n in names if n != name) for p, names in tree.files.items()}
    return _filed(tree, tree.things, files | {path: (*files.get(path, ()), name)})


def _rename(tree: Tree, side: str, path: str, to: str, number: int) -> Tree:
    target = _own(to, side) + path
    if path not in tree.files or target in tree.files:
        return tree
    files = {target if p == path else p: names for p, names in tree.files.items()}
    return replace(tree, files=files, renames=tree.renames | {path: target})


def _split(tree: Tree, side: str, path: str, number: int) -> Tree:
    for name in tree.files.get(path, ()):
        tree = _move(tree, side, name, f"split/{name}.yaml", number)
    return tree


def _join(tree: Tree, side: str, path: str, to: str, number: int) -> Tree:
    for name in tree.files.get(path, ()):
        tree = _move(tree, side, name, to, number)
    return tree


def _add(tree: Tree, side: str, path: str, number: int) -> Tree:
    name, path = f"{side}{number}", _own(path, side)
    files = tree.files | {path: (*tree.files.get(path, ()), name)}
    return _filed(tree, tree.things | {name: Thing(**{side: 1})}, files)


def _own(path: str, side: str) -> str:
    return path.replace("own", side)


def _filed(tree: Tree, things: dict[str, Thing], files: dict[str, tuple[str, ...]]) -> Tree:
    return replace(tree, things=things, files={p: names for p, names in files.items() if names})


_EDITS = {
    "change": _change,
    "delete": _delete,
    "delete file": _delete_file,
    "move": _move,
    "rename": _rename,
    "split": _split,
    "join": _join,
    "add": _add,
}


def package(tree: Tree) -> Package:
    """The files of a tree."""
    return {
        path: File("---\n".join(_text(name, tree.things[name]) for name in names).encode())
        for path, names in tree.files.items()
    }


def _text(name: str, thing: Thing) -> str:
    if thing.is_text:
        lines = ["#!/bin/sh", f"upstream={thing.upstream}", *(f"step {i}" for i in range(5))]
        return "\n".join([*lines, f"dest={thing.dest}"]) + "\n"
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n"
    stable = "".join(f"  {name}{i}: '{i}'\n" for i in range(5))
    return f"{head}  upstream: '{thing.upstream}'\n{stable}  dest: '{thing.dest}'\n"


def read(files: Package) -> list[tuple[str, str, Thing]]:
    """(path, name, thing) for everything that stands in a package."""
    found = []
    for path, file in sorted(files.items()):
        text = file.data.decode()
        if path.endswith(".sh"):
            values = dict(line.split("=") for line in text.splitlines() if "=" in line)
            found.append((path, "t", Thing(int(values["upstream"]), int(values["dest"]), True)))
            continue
        for document in yaml.safe_load_all(text):
            data = document["data"]
            thing = Thing(int(data["upstream"]), int(data["dest"]))
            found.append((path, document["metadata"]["name"], thing))
    return found


@dataclass(frozen=True)
class Truth:
    """What must come of two sides' edits of one thing."""

    name: str
    thing: Thing | None  # as it must be; None: it is gone
    clash: bool  # one side deleted an entry that the other side changed
    dest: Thing | None


def truths(upstream: Tree, dest: Tree) -> list[Truth]:
    """The truth of every thing, by the edits of both sides."""
    found = []
    for name in sorted({*BASE.things, *upstream.things, *dest.things}):
        base, u, d = (tree.things.get(name) for tree in (BASE, upstream, dest))
        if base is None:
            found.append(Truth(name, u or d, False, d))
        elif u is None or d is None:
            clash = (u is None and d not in (None, base)) or (d is None and u not in (None, base))
            found.append(Truth(name, None, clash, d))
        else:
            found.append(Truth(name, replace(u, dest=d.dest), False, d))
    return found
