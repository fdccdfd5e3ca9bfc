"""All edits of a template: what a side may make of the base, each with a name that says where.

What one side alone would write is named after the side; the rest is the same on both, so that two
sides may add one thing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from worlds.template_files import File, assign, block, comment, doc, entry, keyed, output, plain
from worlds.template_model import Node, changed, walk

FIXED = ("raw", "shift", "arm")  # never deleted, wrapped or stood behind


@dataclass(frozen=True)
class Edit:
    """What was done where, and what came of it."""

    what: str
    at: str  # who it was done to, or `who:number` of the gap
    tree: Node

    @property
    def name(self) -> str:
        """Both in one."""
        return f"{self.what} @{self.at}"


def edits(file: File, side: str, *, core: bool = False) -> Iterator[Edit]:
    """Every edit of a template; only the commoner ones, if so wanted."""
    root = file.root
    for holder, kind in _holders(file):
        if holder.kind != "block":
            yield from _insertions(root, holder, kind, side, core)
        for at, child in enumerate(holder.children):
            yield from _changes(root, holder, at, child, kind, side)


def _holders(file: File) -> Iterator[tuple[Node, str]]:
    """Every node that holds others, and what stands in it."""
    found = {file.root.who: file.holds}
    own = {"doc": "map", "entry": "map", "item": "map", "scalar": "lines", "flow": "flow"}
    for node in walk(file.root):
        kind = found.get(node.who, "")
        if node.kind == "list":
            kind = "plain" if any(n.kind == "item" and not n.value for n in walk(node)) else "keyed"
        kind = own.get(node.kind, kind)
        if node.name.startswith("define"):
            kind = "lines"
        for child in node.children:
            found[child.who] = kind
        if kind and (node.children or (node.value == "keyed" and node.kind == "item")):
            yield node, kind


# -- what comes new


def _insertions(root: Node, holder: Node, kind: str, side: str, core: bool) -> Iterator[Edit]:
    fixed = ("comment", "assign") if holder is root and kind == "docs" else ("raw", "shift")
    for at in range(len(holder.children) + 1):
        if any(each.kind in fixed for each in holder.children[at : at + 1]):
            continue
        for number, (what, new) in enumerate(_news(kind, side)):
            if core and number >= 4:
                break
            known = _known(new, f"{side} {what} {holder.who}:{at}")
            children = (*holder.children[:at], known, *holder.children[at:])
            made = replace(holder, children=children)
            tree = made if holder is root else changed(root, holder.who, lambda _, m=made: (m,))
            yield Edit(f"add {what}", f"{holder.who}:{at}", tree)


def _known(node: Node, who: str) -> Node:
    inside = (_known(child, f"{who}.{at}") for at, child in enumerate(node.children))
    return replace(node, who=who, children=tuple(inside))


def _news(kind: str, side: str) -> list[tuple[str, Node]]:
    """What may come into a holder of this kind: the commoner things first."""
    ours, common = f"new-{side}", f'include "app.{side}" . | nindent N'
    shared, new = 'include "app.common" . | nindent N', f"if .Values.{side}"
    makers = {
        "map": entry,
        "keyed": lambda name, value: keyed(name, entry("value", value)),
        "plain": lambda name, value: plain(f"--{name}={value}"),
        "docs": lambda name, value: doc("ConfigMap", name, entry("data", "", entry("x", value))),
        "defines": lambda name, value: block(f'define "{name}"', Node("", "line", f"is: {value}")),
        "lines": lambda name, value: Node("", "line", f"{name} is {value}"),
        "flow": lambda name, value: Node("", "line", f'"{name}-{value}",'),
    }
    make = makers[kind]
    if kind == "defines":
        return [
            ("own", make(ours, side)),
            ("shared", make("shared", "true")),
            ("differing", make("shared", side)),
            ("a comment", comment(f"of {side}", "action")),
        ]
    found = [
        ("own", make(ours, side)),
        ("shared", make("shared", "true")),
        ("a block with shared", block("if .Values.new", make("shared", "true"))),
        ("differing", make("shared", side)),
        ("a block with own", block(new, make(ours, side))),
        ("a common block with own", block("if .Values.new", make(ours, side))),
    ]
    found += [("a comment", comment(f"of {side}"))] if kind not in ("lines", "flow", "docs") else []
    if kind in ("map", "keyed", "plain"):
        found[3:3] = [("a shared output", output(shared))]
        found += [
            ("an own output", output(common)),
            ("a block with the shared output", block("if .Values.new", output(shared))),
            ("an assignment", assign("$namespace", f'"{side}"')),
            ("a shared assignment", assign("$namespace", '"x"')),
            ("a comment action", comment(f"of {side}", "action")),
        ]
    if kind == "map":
        found += [
            ("a templated key", entry("{{ .Values.key }}", "x")),
            ("a container of own", entry("shared", "", output(common))),
            ("a list of own", Node("", "list", "shared", children=(plain(side),))),
        ]
    return found


# -- what is done to what is there


def _changes(root: Node, holder: Node, at: int, node: Node, kind: str, side: str) -> Iterator[Edit]:
    """Edits of one node."""

    def made(what: str, *nodes: Node) -> Edit:
        return Edit(what, node.who, changed(root, node.who, lambda _: nodes))

    if node.kind in ("raw", "shift") or (node.kind == "doc" and not node.value):
        return
    yield from (made(what, new) for what, new in _said_anew(node, side))
    if node.kind == "arm":
        if at:
            yield made("delete")
        return
    yield made("delete")
    if node.name.startswith("define") or node.kind == "comment":
        return
    for what, header in (("wrap", "if .Values.new"), ("wrap as own", f"if .Values.{side}")):
        who = f"{side} {what} {node.who}"
        yield made(what, _wrapped(who, header, node))
        if what == "wrap" and node is not holder.children[-1]:
            after = holder.children[at + 1]
            if after.kind not in FIXED and not (after.kind == "doc" and not after.value):
                tree = changed(root, after.who, lambda _: ())
                wrap = _wrapped(f"{who}+", header, node, after)
                yield Edit(
                    "wrap two", node.who, changed(tree, node.who, lambda _, new=wrap: (new,))
                )
    if node.kind == "block":
        yield from _changes_of_a_block(root, node, side)
    if node.kind in ("doc", "item") and node.children:
        old = Node(f"{side} taken {node.who}", node.kind, node.name, node.value)
        inner = _known(entry("type", "Other"), f"{side} taken {node.who}.0")
        taken = replace(old, children=(inner,))
        yield made("rename, and take the name", replace(node, name=f"was-{node.who}"), taken)


def _wrapped(who: str, header: str, *nodes: Node) -> Node:
    return Node(who, "block", "if", children=(Node(f"{who}.0", "arm", header, children=nodes),))


def _said_anew(node: Node, side: str) -> Iterator[tuple[str, Node]]:
    """The node with another text."""
    key = f"{side}-{node.who}"
    if node.kind == "arm":
        word = node.name.rpartition(" ")[0]
        if word and not word.startswith("define"):
            yield "another header", replace(node, name=f"{word} .Values.{side}")
            yield "one more condition", replace(node, name=f"{word} and{node.name[len(word) :]} .x")
        elif word:
            yield "another header", replace(node, name=f'define "app.{side}"')
        yield "trim", replace(node, trim="")
    elif node.kind == "block":
        yield "trim the end", replace(node, trim="")
    elif node.kind == "output":
        yield "another output", replace(node, name=f'include "app.{side}" . | nindent N')
        if node.value != "indent":
            yield "trim", replace(node, trim="")
    elif node.kind == "assign":
        yield "another value", replace(node, value=f'"{side}"')
    elif node.kind == "line" and node.name.endswith('",'):
        yield "another line", replace(node, name=f'"{side}",')
    elif node.kind in ("comment", "line"):
        yield "another line", replace(node, name=f"{node.name} of {side}")
    else:
        yield "rename", replace(node, name=key)
    if node.kind == "entry":
        if node.value and node.children:
            yield "another value", replace(node, value=node.value.replace("data", side))
        elif node.value:
            yield "another value", replace(node, value=side)
            yield "another action", replace(node, value=f"{{{{ .Values.{side} }}}}")
        for what in (side, "common"):
            text = f'include "app.{what}" . | nindent N'
            yield f"{'own' if what == side else what} output for it", Node(node.who, "output", text)


def _changes_of_a_block(root: Node, node: Node, side: str) -> Iterator[Edit]:
    if node.name != "if":
        return
    first, last = node.children[0], node.children[-1]
    tree = changed(root, node.who, lambda _: first.children)
    yield Edit("unwrap", node.who, tree)
    if last.name != "else" and first.children:
        inner = replace(_first_said(first, side), who=f"{side} else {node.who}.0.0")
        new = Node(f"{side} else {node.who}.0", "arm", "else", children=(inner,))
        more = replace(node, children=(*node.children, new))
        yield Edit("add an else", node.who, changed(root, node.who, lambda _: (more,)))


def _first_said(arm: Node, side: str) -> Node:
    """What may stand in another arm for what stands in this one: the same, said otherwise."""
    first = next((each for each in arm.children if each.kind != "block"), arm.children[0])
    if first.kind == "entry":
        return replace(first, value=side, children=())
    if first.kind in ("line", "item"):
        return replace(first, name=f"--else={side}" if not first.value else first.name, children=())
    return replace(first, children=())
