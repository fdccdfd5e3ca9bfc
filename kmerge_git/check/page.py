"""A page: one text to check, and where it comes from.

A patch written inside another file (a block scalar of a kustomization) is a page of its own;
its positions are those of the outer file.
"""

from __future__ import annotations

from kmerge_git.check.plain import SOMEWHERE, Text, path_at
from kmerge_git.finding import Finding
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.plain import Value
    from kmerge_git.check.registry import Check, Found, Function
    from kmerge_git.kube.fieldpath import Path


class Page:
    """A text; `origin` is the scalar that holds it inside the page `outer`."""

    __slots__ = ("indent", "origin", "outer", "path", "source")

    def __init__(self, source: Source, outer: Page | None = None, origin: Text | None = None):
        self.source = source
        self.path = source.path  # as the user named it
        self.outer = outer
        self.origin = origin
        self.indent = 0
        if outer is not None and origin is not None:
            self.indent = _indent(outer.source.text, origin)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column in the file, from 1."""
        line, column = self.source.position(min(offset, len(self.source.text)))
        if self.outer is None or self.origin is None:
            return line, column
        start_line, start_column = self.outer.position(self.origin.at)
        if self.origin.style != "|":
            return start_line, start_column
        return start_line + line, column + self.indent

    def excerpt(self, offset: int) -> str:
        """The line of the file that holds the offset."""
        if self.outer is None or self.origin is None:
            return self.source.line_at(min(offset, len(self.source.text)))
        return self.outer.line(self.position(offset)[0])

    def line(self, number: int) -> str:
        """A line of this page's own file, from 1."""
        if self.outer is not None:
            return self.outer.line(number)
        lines = self.source.text.split("\n", number)
        return lines[number - 1][:200] if number <= len(lines) else ""

    def finding(self, check: Check, found: Found, *, path: Path = (), rule: str = "") -> Finding:
        """What a check found, as the reports want it; `rule` is what made the text a patch."""
        line, column = self.position(found.at)
        return Finding(
            check.id,
            found.severity or check.severity,
            self.path,
            line,
            column,
            found.message,
            path=shown(found.path or path),
            mend=check.mend,
            rule=rule,
            excerpt=self.excerpt(found.at),
            fix=found.fix,
        )

    def findings(
        self,
        checks: list[tuple[Check, Function]],
        *site: object,
        path: Path = (),
        root: Value | None = None,
        rule: str = "",
    ) -> list[Finding]:
        """What checks find at a place; `path` is the place's, or that of each finding in `root`."""
        return [
            (one.page or self).finding(check, one, path=path or path_at(root, one.at), rule=rule)
            for check, function in checks
            for one in function(*site)
        ]


def shown(path: Path) -> str:
    """A path as findings have it: `spec.containers[name="web"]`."""
    from kmerge_git.kube.fieldpath import show

    if path[:1] == (SOMEWHERE,):
        return f"....{show(path[1:], quoted=True)}"
    return show(path, quoted=True)


def embedded(outer: Page, origin: Text) -> Page:
    """The page of a text that stands in a scalar of another page."""
    return Page(Source(origin.text.encode(), outer.path), outer, origin)


def _indent(text: str, origin: Text) -> int:
    """How far the content of a literal block scalar is indented."""
    if origin.style != "|":
        return 0
    first = next((x for x in origin.text.split("\n") if x.strip()), "")
    position = text.find("\n", origin.at)
    while position >= 0:
        end = text.find("\n", position + 1)
        line = text[position + 1 : end if end >= 0 else len(text)]
        position = end
        if line.strip():
            return len(line) - len(line.lstrip(" ")) - (len(first) - len(first.lstrip(" ")))
    return 0
