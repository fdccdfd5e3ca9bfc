"""Templates as trees, and how they are written.

A node is known by who it is, which no text says. `file`, `doc`, `entry`, `list`, `item`, `flow`,
`scalar` and `arm` hold others, a `block` holds its arms; A `shift` moves what it holds to the
right. `output`, `assign`, `comment`, `line` and `raw` are lines. In an output line `N` stands for the column that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Node:
    """Who it is, what it says, and what stands in it."""

    who: str
    kind: str
    name: str = ""  # a key, a variable, a header, a whole line
    value: str = ""
    trim: str = "-"  # the trim mark of its own action
    children: tuple[Node, ...] = ()

    @property
    def says(self) -> tuple[str, str, str, str]:
        """What it says itself."""
        return self.kind, self.name, self.value, self.trim


@dataclass(frozen=True)
class Style:
    """How a template is written."""

    name: str
    opens: str = "{{-"  # how an action starts that has a trim mark
    at_content: bool = True  # actions stand at the column of what is around them, or at the margin
    compact: bool = False  # elements of a list stand at the column of its key
    before: bool = False  # `---` stands before an `if` around a document
    end: str = "\n"


STYLES = {
    style.name: style
    for style in (
        Style("trimmed"),
        Style("margin", at_content=False, compact=True),
        Style("untrimmed", opens="{{", at_content=False, before=True),
        Style("crlf", compact=True, before=True, end="\r\n"),
    )
}


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def changed(node: Node, who: str, change: Callable[[Node], tuple[Node, ...]]) -> Node:
    """The tree with other nodes in the place of one."""
    children: list[Node] = []
    for child in node.children:
        children += change(child) if child.who == who else [changed(child, who, change)]
    return node if (new := tuple(children)) == node.children else replace(node, children=new)


# -- the text


def written(root: Node, style: Style) -> bytes:
    """The file."""
    first = next((node.who for node in walk(root) if node.kind == "doc"), "")
    lines = _Writer(style, first).inside(root, 0)
    return "".join(line + style.end for line in lines).encode()


class _Writer:
    def __init__(self, style: Style, first: str) -> None:
        self.style = style
        self.opened = {first}  # documents that need no `---`

    def inside(self, node: Node, column: int) -> list[str]:
        return [line for child in node.children for line in self.lines(child, column)]

    def lines(self, node: Node, column: int) -> list[str]:
        write = getattr(self, f"_{node.kind}", None)
        if write is not None:
            return write(node, column)
        return [" " * column + node.name if node.name else ""]

    def _doc(self, node: Node, column: int) -> list[str]:
        start = [] if node.who in self.opened else ["---"]
        head = ["apiVersion: v1", f"kind: {node.value}", "metadata:", f"  name: {node.name}"]
        return start + (head if node.value else []) + self.inside(node, 0)

    def _entry(self, node: Node, column: int) -> list[str]:
        key = f"{' ' * column}{node.name}: {node.value}".rstrip()
        return [key, *self.inside(node, column + 2)]

    def _list(self, node: Node, column: int) -> list[str]:
        inner = self.inside(node, column if self.style.compact else column + 2)
        return [f"{' ' * column}{node.name}:", *inner]

    def _scalar(self, node: Node, column: int) -> list[str]:
        return [f"{' ' * column}{node.name}: |", *self.inside(node, column + 2)]

    def _flow(self, node: Node, column: int) -> list[str]:
        pad = " " * column
        return [f"{pad}{node.name}: [", *self.inside(node, column + 2), f"{pad}]"]

    def _item(self, node: Node, column: int) -> list[str]:
        word = "name: " if node.value == "keyed" else ""
        return [f"{' ' * column}- {word}{node.name}", *self.inside(node, column + 2)]

    def _shift(self, node: Node, column: int) -> list[str]:
        return self.inside(node, column + int(node.value))

    def _comment(self, node: Node, column: int) -> list[str]:
        if node.value == "action":
            line = self._action(node, column, f"/* {node.name} */")
            return [line.replace("{{ /*", "{{/*").replace("*/ }}", "*/}}")]
        return [f"{' ' * column}# {node.name}"]

    def _output(self, node: Node, column: int) -> list[str]:
        if node.value == "indent":
            return ["{{ " + node.name.replace("nindent N", f"indent {column}") + " }}"]
        return [self._action(node, column, node.name.replace("N", str(column)))]

    def _assign(self, node: Node, column: int) -> list[str]:
        return [self._action(node, column, f"{node.name} := {node.value}")]

    def _block(self, node: Node, column: int) -> list[str]:
        lines, start = [], []
        firsts = [arm.children[0] for arm in node.children if arm.children]
        if self.style.before and firsts and all(each.kind == "doc" for each in firsts):
            start = [] if self.opened & {each.who for each in firsts} else ["---"]
            self.opened |= {each.who for each in firsts}
        for arm in node.children:
            lines += [self._action(arm, column, arm.name), *self.inside(arm, column)]
        return [*start, *lines, self._action(node, column, "end")]

    def _action(self, node: Node, column: int, text: str) -> str:
        pad = " " * column if self.style.at_content else ""
        opens = self.style.opens if node.trim else "{{" if self.style.opens == "{{-" else "{{-"
        return f"{pad}{opens} {text} }}}}"
