"""What a merge decides, before a character is written.

A plan is a tree whose leaves are nodes of the inputs. Nothing is mutated, nothing is emitted:
a plan can be explained, compared with a result (`merge.proof`) and written (`merge.rewrite`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.tree.nodes import Collection, Entry, Node, Scalar


class Plan:
    """A decision about one place."""

    __slots__ = ()


# The one cause that a clean merge of lines does not settle: it would bring back what is gone.
MOVED_AND_GONE = "moved on one side, taken away on the other"


class Keep(Plan):
    """Our node stays as it is."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node


class Take(Plan):
    """A node of another text comes here, with the lines of its entry."""

    __slots__ = ("anchor", "entry", "keeps_comment", "node", "style")

    def __init__(self, node: Node, entry: Entry | None, style: str | None = None) -> None:
        self.node = node
        self.entry = entry  # where the node stands in its own text; None: the top of a document
        self.style = style  # the quotes to put it in, where they can hold it
        self.anchor = ""  # our anchor, that a scalar of theirs gets
        self.keeps_comment = False  # our comment stays on the line, where the node has none


class NewText(Plan):
    """Our block scalar with other lines; a part is a run of lines or a `TextClash`."""

    __slots__ = ("comment", "header", "ours", "parts")

    def __init__(self, ours: Scalar, header: str, parts: list[list[str] | TextClash]) -> None:
        self.ours = ours
        self.header = header
        self.parts = parts
        self.comment: str | None = None  # behind the header; None: as ours has it

    @property
    def clean(self) -> bool:
        """Whether no part is a clash."""
        return not any(isinstance(part, TextClash) for part in self.parts)

    def lines(self, side: str) -> list[str]:
        """The lines with every clash decided for one side."""
        result: list[str] = []
        for part in self.parts:
            result += part.side(side) if isinstance(part, TextClash) else part
        return result


class TextClash:
    """Lines that both sides changed."""

    __slots__ = ("base", "ours", "theirs")

    def __init__(self, base: list[str], ours: list[str], theirs: list[str]) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs

    def side(self, name: str) -> list[str]:
        """The lines of one side."""
        lines: list[str] = getattr(self, name)
        return lines


class Clash(Plan):
    """A place that needs a person: the entries (or nodes of a document) of each side."""

    __slots__ = ("base", "ours", "theirs", "why")

    def __init__(self, base: list[Entry], ours: list[Entry], theirs: list[Entry], why: str) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.why = why


class Item:
    """An entry of a collection that is built anew.

    `ours` is the entry whose text is the canvas; without it the entry of `plan` (a `Take`) is
    put here. The other fields replace a part of the canvas where they are not None.
    """

    __slots__ = ("after", "base", "key", "lead", "ours", "path", "plan", "replaces", "theirs")

    def __init__(self, plan: Plan, ours: Entry | None, theirs: Entry | None, path: Path) -> None:
        self.plan = plan
        self.base: Entry | None = None
        self.ours = ours
        self.theirs = theirs
        self.path = path
        self.replaces: Entry | None = None  # the entry of ours that all of theirs stands for
        self.key: str | None = None  # the key as text
        self.lead: list[list[str] | TextClash] | None = None  # lines above, without indentation
        self.after: str | None = None  # what follows a value on its line, and comments below


class Build(Plan):
    """Our collection with other entries; `head` and `foot` are its comment lines."""

    __slots__ = ("foot", "head", "items", "ours", "properties", "theirs")

    def __init__(self, ours: Collection, theirs: Collection, items: list[Item]) -> None:
        self.ours = ours
        self.theirs = theirs
        self.items = items
        self.head: list[list[str] | TextClash] | None = None
        self.foot: list[list[str] | TextClash] | None = None
        self.properties: str | None = None  # anchor and tag as text
