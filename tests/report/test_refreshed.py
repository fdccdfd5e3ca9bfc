"""The page of `kmerge refresh --format markdown`."""

from __future__ import annotations

from typing import Any

import pytest

from kmerge_git.report.markdown import refresh_page

HOSTILE = (
    "</code>|`x`\n::error::@who #1 [a](http://x) *b* _c_ ~d~ \x1b[31m\u202e<script>\\|&amp;\x85"
)


def file(result: str, conflicts: int = 0, decided: int = 0, text: str = "a.yaml") -> dict[str, Any]:
    spots = [{"resource": text, "field": f"{text}{n}", "why": text} for n in range(30)]
    by = {"side": "theirs", "by": "policy higher"}
    return {
        "path": text,
        "kind": text,
        "result": result,
        "note": text,
        "conflicts": spots[:conflicts],
        "decided": [spot | by for spot in spots[:decided]],
    }


def branch(result: str, *files: dict[str, Any], name: str = "topic", why: str = "") -> Any:
    return {"name": name, "result": result, "why": why, "files": list(files)}


def shown(*branches: Any, dry_run: bool = False, rev: str = "main") -> list[str]:
    return list(refresh_page({"with": rev, "dry_run": dry_run, "branches": list(branches)}))


def test_all_that_can_be_said() -> None:
    error = {"name": "big", "result": "error", "why": "too long"}  # it has no files
    lines = shown(
        branch("up to date"),
        branch("clean", name="c1", why="git's line merge gives a different result in a.yaml"),
        branch(
            "clean", file("improved"), name="c2", why="git's line merge gives a different result"
        ),
        branch("resolved", *[file("resolved")] * 4, file("clean"), name="r"),
        branch("resolved", file("resolved", decided=1), name="p"),
        branch("conflict", file("conflict", 1), file("conflict"), file("clean"), name="k"),
        error,
    )
    assert lines == [
        "### Merges of <code>main</code> into branches",
        "",
        "2 updated, 2 not merged, 3 unchanged",
        "",
        "| result | branch | |",
        "| --- | --- | --- |",
        "| conflict | <code>k</code> |  |",
        "| error | <code>big</code> | too long |",
        "| resolved | <code>r</code> | "
        + "<code>a.yaml</code>, " * 2
        + "<code>a.yaml</code> and 1 more |",
        "| resolved | <code>p</code> | <code>a.yaml</code> |",
        "| clean | <code>c2</code> | git&#39;s line merge gives a different result |",
        "",
        "<code>k</code>:",
        "",
        "- <code>a.yaml</code> <code>a.yaml</code> <code>a.yaml0</code>: a.yaml",
        "- <code>a.yaml</code>: a.yaml&#59; a.yaml",
        "",
        "<code>p</code>:",
        "",
        "- <code>a.yaml</code> <code>a.yaml</code> <code>a.yaml0</code>: a.yaml, "
        "theirs taken &#40;policy higher&#41;",
        "",
        "To resolve them, merge <code>main</code> into the branch with `kmerge merge`, then run `kmerge resolve`.",
    ]
    assert shown(dry_run=True)[2:] == [
        "0 updated, 0 not merged, 0 unchanged (dry run: nothing was changed)"
    ]


def test_text_of_others_is_text() -> None:
    bad = file("conflict", 2, text=HOSTILE)
    parts = [
        branch("conflict", bad, file("conflict", text=HOSTILE), name=HOSTILE, why=HOSTILE),
        branch("resolved", file("resolved", 0, 2, HOSTILE), name=HOSTILE),
        branch("error", name=HOSTILE, why=HOSTILE),
    ]
    same = [branch(p["result"], *p["files"], name="x", why="x") for p in parts]
    pages = shown(*parts, rev=HOSTILE), shown(*same)
    # a comment keeps a sign and a name apart
    lines, plain = ([line.replace("<!-- -->", "") for line in page] for page in pages)
    assert len(lines) == len(plain)
    assert [line.count("|") for line in lines] == [line.count("|") for line in plain]
    assert [line.count("<") for line in lines] == [line.count("<") for line in plain]
    text = "\n".join(lines)
    assert not [sign for sign in ("::", "@", "[", "*", "~", "\\", "\x1b", "\u202e") if sign in text]
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}


@pytest.mark.costly
def test_a_page_is_no_longer_than_forges_take() -> None:
    long = "ä" * 5000
    left = [branch("conflict", file("conflict", 30, text=long), name=f"n{n}") for n in range(300)]
    lines = shown(*left, branch("resolved", name="last"))
    assert len("\n".join(lines).encode()) < 1_000_000
    assert lines.count("- and 10 more") > 20
    assert [line for line in lines if line.startswith("This page has no room to show ")]
    assert [line for line in lines if "last" in line]
    assert max(map(len, lines)) < 1000
