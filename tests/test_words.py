"""The words: phrases that never come back, how long the pages are, and where old links lead."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    Documented = ast.Module | ast.ClassDef | ast.FunctionDef

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from messages import messages  # noqa: E402
from test_docs import anchors  # noqa: E402

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))]
LINES = (ROOT / "tests" / "never_said.txt").read_text("utf-8").splitlines()
NEVER = [line for line in LINES if not line.startswith("#")]
BANNED = re.compile(rf"(?<![\w-])({'|'.join(NEVER)})(?![\w-])", re.IGNORECASE)
FOR_WHOM = re.compile(r"# .+\n\n(This page is )?[Ff]or ")


def said(text: str) -> list[str]:
    """The phrases of a text that nobody wants to read again."""
    text = re.sub(r"`\w+`", "`x`", text)  # keys of JSON are what they are
    return [found[0] for found in BANNED.finditer(" ".join(text.split()))]


def public_docstrings() -> list[tuple[str, str]]:
    """The docstrings of modules, and of their public classes, functions and methods."""
    found = []
    for path in sorted((ROOT / "kmerge_git").rglob("*.py")):
        for node in with_public_names(ast.parse(path.read_text("utf-8"))):
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
            found.append((place, ast.get_docstring(node) or ""))
    return found


def with_public_names(node: Documented) -> Iterator[Documented]:
    yield node
    for child in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
        is_definition = isinstance(child, ast.ClassDef | ast.FunctionDef)
        if is_definition and not child.name.startswith("_"):
            yield from with_public_names(child)


def test_phrases_are_seen() -> None:
    assert said("the key `a` stands twice") == ["stands twice"]
    assert said("it is no\n  directory") == ["it is no directory"]
    assert said("it is no longer there; understands") == []
    assert len(NEVER) > 20


def test_no_message_says_them() -> None:
    texts = messages()
    assert len(texts) > 2000
    assert [(each.place, said(each.text)) for each in texts if said(each.text)] == []


def test_no_docstring_says_them() -> None:
    texts = public_docstrings()
    assert len(texts) > 1000
    assert [(place, said(text)) for place, text in texts if said(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_says_them(page: Path) -> None:
    assert said(page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_a_page_says_first_for_whom_it_is(page: Path) -> None:
    assert FOR_WHOM.match(page.read_text("utf-8"))


def test_the_pages_are_short() -> None:
    words = {page.name: len(page.read_text("utf-8").split()) for page in DOCS}
    checks = words.pop("checks.md")
    print(*(f"{count:6} {name}" for name, count in words.items()), sep="\n")
    print(f"{sum(words.values()):6} words, and {checks} of the checks")
    assert sum(words.values()) <= 27_000, words
    assert checks <= 9_500
    assert len((ROOT / "docs" / "how-it-merges.md").read_text("utf-8").splitlines()) <= 60


def test_old_links_lead_somewhere() -> None:
    links = (ROOT / "tests" / "old_links.txt").read_text("utf-8").splitlines()
    assert len(links) > 100
    gone = []
    for link in links:
        name, _, anchor = link.partition("#")
        page = ROOT / name
        if not page.is_file() or (anchor and anchor not in anchors(page)):
            gone.append(link)
    assert gone == []


CHUNK = re.compile(r"\.\.\.?|\d+|`[^`]*`|'\w+'|[:;,]")
# the beginnings of headings that quote what others say, or name a command, a file or a hook
OTHERS = ("fatal: ", "rejected ", "No manual ", ".merge_file_", "kmerge-", "kmerge ", "git merge")


def quoted(heading: str) -> list[str]:
    """The parts of the messages that a heading quotes, of two words and more."""
    spans = [one or other for one, other in re.findall(r"``\s?(.+?)\s?``(?!`)|`([^`]+)`", heading)]
    own = [span for span in spans if not span.startswith(OTHERS)]
    parts = [part.strip() for span in own for part in CHUNK.split(span)]
    return [part for part in parts if " " in part]


def test_troubleshooting_quotes_messages_that_exist() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    parts = [part for line in re.findall(r"^### (.*)$", page, re.M) for part in quoted(line)]
    assert len(parts) > 15
    spelled = "\n".join(every_text(path) for path in sorted((ROOT / "kmerge_git").rglob("*.py")))
    assert [part for part in parts if part not in spelled] == []


def every_text(path: Path) -> str:
    """Every string of a module, with `<>` for what is put in."""
    texts = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            pieces = [
                part.value if isinstance(part, ast.Constant) else "<>" for part in node.values
            ]
            texts.append("".join(map(str, pieces)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return "\n".join(texts)
