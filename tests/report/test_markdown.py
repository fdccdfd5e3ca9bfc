"""Text of others in Markdown shows as text, and a summary of a preview stays small."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from kmerge_git.merge.plan import Why
from kmerge_git.report.markdown import code, escaped, preview_page
from kmerge_git.visible import visible

HOSTILE = [
    "a|b", "`x`", "<b>bold</b>", "</details><script>alert(1)</script>", "[text](https://example.org)",
    "![picture](//example.org/x.png)", "https://example.org", "www.example.org", "WWW.example.org",
    "@everyone", "team@example.org", "org/repo#12", "::error::x", "##[add-mask]x", "a\nb\r\nc", "\x1b[2J",
    "\u202eabc", "*a* _b_ ~c~", "# title", "- item", "1. item", "1) item", "    code", "\ttab", "> quote",
    "---", "===", "&lt;", "&#64;", "\\|", "$x^2$", ":smile:", "<!-- -->", "-->", "a  ", "| --- |", "\udc80",
    "{{ x }}", "%0A::error::", "\u00a0", "a\x00b", "résumé 漢字", "|", "",
]  # fmt: skip
# what may stand in what was escaped: plain characters, and references that are complete
PIECE = re.compile(r"&#\d+;|<!-- -->|[A-Za-z0-9 ./-]|[^\x00-\x7f]")


@pytest.mark.parametrize("text", HOSTILE)
def test_it_shows_as_the_text_that_it_is(text: str) -> None:
    made = escaped(text)
    assert len(re.findall("&#(?:35|64);", made)) == made.count("<!-- -->")
    made = made.replace("<!-- -->", "")
    assert html.unescape(made) == visible(text)
    assert PIECE.sub("", made) == ""
    assert not re.search(r"@|(?<!&)#|www\.|(^|\s)[-./]|[-./](\s|$)|^ |  | $", made, re.I)


def test_what_forges_look_for_is_kept_apart() -> None:
    assert escaped("@you") == "&#64;<!-- -->you"
    assert escaped("a#12") == "a&#35;<!-- -->12"
    assert escaped("apps/web-1.yaml: 2") == "apps/web-1.yaml&#58; 2"
    assert code("a") == "<code>a</code>"
    assert code("") == ""


def file(path: str, result: str, *conflicts: dict[str, str], **more: Any) -> dict[str, Any]:
    git = "conflict" if result in ("conflict", "resolved") else "clean"
    known = {"kind": "changed by both", "note": "", "decided": [], "otherwise": []}
    return known | {"path": path, "result": result, "git": git, "conflicts": list(conflicts)} | more


def conflict(field: str = "spec.replicas", value: str = "1", **more: str) -> dict[str, str]:
    told = {"resource": "Deployment/web", "field": field, "why": Why.BOTH_CHANGED}
    return told | {"base": value, "ours": value, "theirs": value} | more


def summary(*files: dict[str, Any], **more: Any) -> str:
    step = {"files": list(files), "criss_cross": False}
    data = {"mode": "merge", "state": "merge", "untried": 0, "steps": [step]} | more
    return preview_page(data, "main", "topic")


def test_a_summary() -> None:
    other = {
        "resource": "Service/web",
        "field": "spec.x",
        "how": "changed",
        "git": "1",
        "kmerge": "",
    }
    taken = {"resource": "Pod/a", "field": "spec.b", "side": "theirs", "by": "policy higher"}
    made = summary(
        file("a.yaml", "clean"),
        file("b.yaml", "conflict", conflict(theirs="2\n3")),
        file(
            "c.yaml", "conflict", conflict("", resource="", why="both sides changed the same lines")
        ),
        file("d.yaml", "improved", otherwise=[other]),
        file("e.yaml", "resolved", decided=[taken]),
    )
    assert (
        "**5 files changed on both sides**: git alone would leave 3 files in conflict, kmerge resolves 1, "
        "git would give a different result in 1, 2 files with unresolved conflicts." in made
    )
    row = f"| <code>Deployment/web</code> | <code>spec.replicas</code> | {Why.BOTH_CHANGED} "
    assert f"| <code>topic</code> |\n| {' | '.join(['---'] * 5)} |\n{row}" in made
    assert row + "| <code>1</code> | <code>2</code><br><code>3</code> |" in made
    assert "<code>c.yaml</code>&#58;" not in made
    assert "\n- both sides changed the same lines\n" in made
    assert "| <code>Service/web</code> | <code>spec.x</code> | <code>1</code> | (nothing) |" in made
    assert "  - <code>Pod/a spec.b</code>: theirs taken (policy higher)\n" in made
    assert "a.yaml" not in made


def test_what_there_is_nothing_to_say_of() -> None:
    assert summary(state="up to date").endswith("\nAlready up to date.\n")
    assert "**0 files changed on both sides**." in summary()
    assert "on both sides**: git merges all of it." not in summary()
    assert "git merges all of them" in summary(file("a.yaml", "clean"))


@pytest.mark.parametrize("result", ["conflict", "improved", "resolved"])
def test_a_summary_is_never_refused(result: str) -> None:
    """GitHub takes 1 MiB; every character of a hostile value takes six bytes, or more."""
    value = "\n".join(["|" * 5000] * 50)
    other = {"resource": value, "field": value, "how": "changed", "git": value, "kmerge": value}
    made = summary(
        *(
            file(f"{n}{value}", result, *[conflict(value, value, why=value)] * 60, note=value, otherwise=[other] * 50)
            for n in range(600)
        )
    )  # fmt: skip
    assert 1000 < len(made.encode()) < 1 << 20
    left = re.search(r"\*\*(\d+) files more: `kmerge preview` lists all of them", made)
    assert left and 0 < int(left[1]) < 600
    assert "|" * 2 not in made


def test_many_conflicts_of_a_file_are_counted() -> None:
    made = summary(file("a.yaml", "conflict", *[conflict()] * 60))
    assert "\nAnd 10 conflicts more in this file.\n" in made
    assert made.count("spec.replicas") == 50
