"""The words: phrases that never come back, how long the pages are, and where old links lead."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))]
LINES = (ROOT / "tests" / "never_said.txt").read_text("utf-8").splitlines()
NEVER = [line for line in LINES if not line.startswith("#")]
BANNED = re.compile(rf"(?<![\w-])({'|'.join(NEVER)})(?![\w-])", re.IGNORECASE)
TITLE = re.compile(r"# .+\n\n(?:<a id=.*\n)*([^#|`<\n].*\n?){1,}")


def said(text: str) -> list[str]:
    """The phrases of a text that nobody wants to read again."""
    return [found[0] for found in BANNED.finditer(" ".join(text.split()))]


def test_phrases_are_seen() -> None:
    assert said("the key `a` stands twice") == ["stands twice"]
    assert said("it is no\n  directory") == ["it is no directory"]
    assert said("it is no longer there; understands") == []
    assert len(NEVER) > 20


def test_the_pages_are_short() -> None:
    words = {page.name: len(page.read_text("utf-8").split()) for page in DOCS}
    checks = words.pop("checks.md")
    print(*(f"{count:6} {name}" for name, count in words.items()), sep="\n")
    print(f"{sum(words.values()):6} words, and {checks} of the checks")
    assert sum(words.values()) <= 27_000, words
    assert checks <= 9_600
    assert len((ROOT / "docs" / "how-it-merges.md").read_text("utf-8").splitlines()) <= 60


def anchors(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them of headings, and those that it spells."""
    text = page.read_text("utf-8")
    headings = [re.sub(r"<a .*?</a>", "", line) for line in re.findall(r"^#+ (.*)$", text, re.M)]
    made = {re.sub(r"[^\w\- ]", "", line.strip().lower()).replace(" ", "-") for line in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


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
