"""Tests ask the package the public way: they import, read and patch no private name of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "kmerge_git"
FILES = sorted(TESTS.rglob("*.py"))
OWN = {"self", "cls"}
# Private names of others that the package uses as well.
FOREIGN = {"os._exit", "argparse._SubParsersAction", "parser._actions"}
# `a.b._c` in the text of a program, or `import _c`
IN_CODE = re.compile(r"\b([A-Za-z]\w*)\.(_[A-Za-z]\w*)|\bimport (?:[\w, ]+, )?(_[A-Za-z]\w*)")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


@cache
def private_names() -> frozenset[str]:
    """Every private name that a module of the package uses."""
    names: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name):
                    names.add(name)
                case ast.Attribute(attr=name):
                    names.add(name)
    return frozenset(filter(is_private, names))


def private_ways(source: str) -> list[str]:
    """The places of a test that reach into the package, each with its line."""
    return [f"{line}: {what}" for line, what in sorted(set(_found(ast.parse(source))))]


def _found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    nodes = list(ast.walk(tree))
    parts_of_strings = {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        match node:
            case ast.Constant() if id(node) in parts_of_strings:
                continue
            case ast.Import(names=names):
                found = [alias.name for alias in names if _is_inside(alias.name)]
            case ast.ImportFrom(module=str(module), names=names):
                dotted = [f"{module}.{alias.name}" for alias in names]
                found = [name for name in dotted if _is_inside(name)]
            case ast.Attribute(attr=name) if name in private_names():
                text = ast.unparse(node)
                found = [] if text in FOREIGN or ast.unparse(node.value) in OWN else [text]
            case ast.Constant(value=str(text)):
                found = [text] if text in private_names() or _is_inside(text) else []
                found += _in_code(text)
            case ast.JoinedStr(values=parts):
                texts = (p.value if isinstance(p, ast.Constant) else "0" for p in parts)
                found = _in_code("".join(map(str, texts)))
            case _:
                continue
        for what in found:
            yield node.lineno, what


def _is_inside(dotted: str) -> bool:
    """Whether it is the full name of something private in the package."""
    top, *below = dotted.split(".")
    return top == "kmerge_git" and any(map(is_private, below))


def _in_code(text: str) -> list[str]:
    """What is private in the text of a program that another interpreter runs."""
    if "kmerge_git" not in text:
        return []
    found = []
    for known in IN_CODE.finditer(text):
        of, name, imported = known.groups()
        is_ours = name in private_names() and of not in OWN and f"{of}.{name}" not in FOREIGN
        if imported or is_ours:
            found.append(imported or f"{of}.{name}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_reaches_into_the_package(path: Path) -> None:
    assert private_ways(path.read_text()) == []


# Here `~` stands for `_`: else this file would break its own law.
@pytest.mark.parametrize(
    "source",
    [
        "from kmerge_git.text.diff3 import diff, ~myers",
        "from kmerge_git import ~private",
        "import kmerge_git.~private",
        "from kmerge_git.~private import public",
        "from kmerge_git.text import diff3\ndiff3.~myers(1)",
        "import kmerge_git.text.diff3 as module\nmodule.~MANY = 1",
        "import kmerge_git\nkmerge_git.text.diff3.~myers",
        "from kmerge_git.template.masking import Words\nWords().~word('C', '')",
        "monkeypatch.setattr(diff3, '~myers', None)",
        "monkeypatch.setattr('kmerge_git.text.diff3.~myers', None)",
        "for name in ('MOST', '~MANY'):\n    setattr(diff3, name, 1)",
        "getattr(diff3, '~myers')",
        "hasattr(document, '~root')",
        "run('from kmerge_git.text import diff3; diff3.~myers(1)')",
        "run('from kmerge_git.text.diff3 import ~myers')",
        "run(f'from kmerge_git.text import {name}\\ndiff3.~myers(1)')",
    ],
)
def test_each_way_into_the_package_is_seen(source: str) -> None:
    assert private_ways(source.replace("~", "_"))


@pytest.mark.parametrize(
    "source",
    [
        "from kmerge_git.text import diff3\ndiff3.diff(1, 2)\ndiff3.__name__",
        "class A:\n    def f(self):\n        return self._own",
        "os._exit(1)",
        "parser._actions",
        "threading._shutdown()",
        "sys.modules['yaml._yaml'] = None",
        "from elsewhere import _own",
        "@pytest.mark.usefixtures('_own_fixture')\ndef test(): pass",
        "run('from kmerge_git import bundle; import os; os._exit(0)')",
        "for _ in range(2): pass",
        "monkeypatch.setenv(f'GIT_{who}_NAME', 'A')",
    ],
)
def test_other_names_are_let_through(source: str) -> None:
    assert not private_ways(source)


def test_the_private_names_were_found() -> None:
    assert len(private_names()) > 1000
