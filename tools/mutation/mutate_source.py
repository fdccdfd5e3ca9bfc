"""Finds what may be mutated in a source file, for `tools/mutate.py`.

The syntax tree says where; a mutant is an edit of the file's bytes, so that the rest is unchanged.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

COMPARISONS = {
    ast.Lt: (r"<", "<="), ast.LtE: (r"<=", "<"), ast.Gt: (r">", ">="), ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="), ast.NotEq: (r"!=", "=="),
    ast.Is: (r"\bis\b", "is not"), ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"), ast.NotIn: (r"\bnot\s+in\b", "in"),
}  # fmt: skip
OTHER_SIDE = {"ours": "theirs", "theirs": "ours", "our": "their", "their": "our"}
DROPPED = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete, ast.Return, ast.Raise,
    ast.Continue, ast.Break,
)  # fmt: skip
# An assertion is for type checkers, and a name that is not imported breaks everything. Inside an
# f-string is a message, and Python 3.11 does not know the positions there.
LEFT_ALONE = ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Global | ast.Nonlocal
Edit = tuple[str, int, int, str]  # kind, start, end, new text


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit; positions are those of bytes, as in a syntax tree."""

    file: str
    line: int
    last: int  # line of what is edited
    statement: int  # first line of the statement around it
    kind: str
    start: int
    end: int
    old: str
    new: str


def chosen(mutants: list[Mutant], count: int, random: Random) -> list[Mutant]:
    """Some of the mutants: the kinds in turn, and at most one for each line."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in random.sample(mutants, len(mutants)):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    some: dict[tuple[str, int], Mutant] = {}
    for turn in itertools.zip_longest(*(by_kind[kind] for kind in sorted(by_kind))):
        for mutant in filter(None, turn):
            some.setdefault((mutant.file, mutant.line), mutant)
    return list(some.values())[:count]


def mutated(source: bytes, mutant: Mutant) -> bytes:
    """The file with the mutant's edit."""
    return source[: mutant.start] + mutant.new.encode() + source[mutant.end :]


def mutants(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file that compile."""
    tree = ast.parse(source)
    text = Text(source, tree)
    found = [
        Mutant(file, node.lineno, node.end_lineno or node.lineno, statement, kind, start, end,
               source[start:end].decode(), new)
        for node, statement in inside_functions(tree)
        for kind, start, end, new in edits(node, text)
    ]  # fmt: skip
    return [mutant for mutant in dict.fromkeys(found) if compiles(mutated(source, mutant))]


class Text:
    """A source with the places of its nodes."""

    def __init__(self, source: bytes, tree: ast.AST) -> None:
        self.source = source
        self.lines = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
        self.names = {
            getattr(node, field, "") for node in ast.walk(tree) for field in ("id", "attr", "arg")
        }

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.source[self.start(node) : self.end(node)].decode()


def inside_functions(
    node: ast.AST, statement: int = 0
) -> Iterator[tuple[ast.expr | ast.stmt, int]]:
    """The nodes of all function bodies without types and messages, and where their statement is."""
    if isinstance(node, LEFT_ALONE) or is_docstring(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        below: Iterator[ast.AST] = iter(node.body)
        statement = node.lineno
    elif isinstance(node, ast.AnnAssign):
        below = iter([node.value] if node.value else [])
    else:
        below = ast.iter_child_nodes(node)
    if statement and isinstance(node, ast.stmt):
        statement = node.lineno
    if statement and isinstance(node, ast.expr | ast.stmt):
        yield node, statement
    for child in below:
        yield from inside_functions(child, statement)


def is_docstring(node: ast.AST) -> bool:
    """Whether a statement is only a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def edits(node: ast.expr | ast.stmt, text: Text) -> Iterator[Edit]:
    """What can be done to a node."""
    start, end = text.start(node), text.end(node)
    if isinstance(node, DROPPED) and not (isinstance(node, ast.AnnAssign) and not node.value):
        yield "statement", start, end, "pass"
    match node:
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = itertools.pairwise([left, *others])
            for operator, (one, other) in zip(operators, sides, strict=True):
                pattern, new = COMPARISONS[type(operator)]
                yield from between("comparison", pattern, new, one, other, text)
        case ast.BoolOp(op=operator, values=values):
            word, new, same = (
                ("and", "or", "True") if isinstance(operator, ast.And) else ("or", "and", "False")
            )
            for one, other in itertools.pairwise(values):
                yield from between("boolean", rf"\b{word}\b", new, one, other, text)
            for value in values:
                yield "condition", text.start(value), text.end(value), same
        case ast.UnaryOp(op=ast.Not()):
            yield "boolean", start, start + len("not"), ""
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            yield "boolean", text.start(test), text.end(test), f"not ({text.of(test)})"
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield "off by one", start, end, str(number + 1)
            if number:
                yield "off by one", start, end, str(number - 1)
        case ast.Constant(value="ours" | "theirs" as word):
            yield "side", start, end, text.of(node).replace(word, OTHER_SIDE[word])
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            other = other_side(name)
            if other != name and other in text.names:
                yield "side", end - len(name.encode()), end, other


def between(
    kind: str, pattern: str, new: str, one: ast.expr, other: ast.expr, text: Text
) -> Iterator[Edit]:
    """The edit of an operator between two expressions, if nothing else there looks like it."""
    start = text.end(one)
    matches = list(re.finditer(pattern.encode(), text.source[start : text.start(other)]))
    if len(matches) == 1:
        yield kind, start + matches[0].start(), start + matches[0].end(), new


def other_side(name: str) -> str:
    """The name with ours for theirs, and the reverse."""
    return "_".join(OTHER_SIDE.get(word, word) for word in name.split("_"))


def compiles(source: bytes) -> bool:
    """Whether Python takes a source, and warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "mutant", "exec")
        except (SyntaxError, ValueError, Warning):
            return False
    return True
