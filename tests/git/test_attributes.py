"""The text of attribute files: whose line has the last word, and the block that comes and goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import Repo

from kmerge_git.errors import KmergeError
from kmerge_git.git import attribute_files as attr

BLOCK = [attr.OPEN, attr.ABOUT, "*.yaml merge=kmerge", attr.CLOSE]

FILES = [
    "",
    "\n",
    "*.png binary\n",
    "*.png binary",
    "*.png binary\r\n*.md text\r\n",
    "a\r\nb",
    "\ufeff*.png binary\n",
    "# one\n\n\n# two\n",
    "no\x0bline\x0cend\u2028here\n",
]


@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_block_comes_and_goes_without_a_trace(text: str, after: int) -> None:
    after = min(after, text.count("\n") + (not text.endswith("\n") and bool(text)))
    there = attr.with_block(text, ["*.yaml merge=kmerge"], after=after)
    assert [rule.text for rule in attr.merge_rules(there) if rule.fenced] == ["*.yaml merge=kmerge"]
    assert attr.without_block(there) == text
    assert attr.with_block(there, ["*.yaml merge=kmerge"]) == there
    assert there.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in there) == ("\r\n" in text)


def test_the_block_goes_to_the_top_so_that_other_lines_win() -> None:
    text = attr.with_block("a/*.yaml merge=ours\n", ["*.yaml merge=kmerge"])
    assert text.splitlines() == [*BLOCK, "a/*.yaml merge=ours"]


def test_the_block_goes_behind_a_line_to_overrule_it() -> None:
    text = attr.with_block("*.yaml merge=foo\n*.md text\n", ["*.yaml merge=kmerge"], after=1)
    assert text.splitlines() == ["*.yaml merge=foo", *BLOCK, "*.md text"]


def test_a_block_moves_behind_a_line_below_it() -> None:
    text = attr.with_block("# mine\n", ["*.yaml merge=kmerge"])
    text += "*.yaml merge=foo\n# end\n"
    moved = attr.with_block(text, ["*.yaml merge=kmerge"], after=6)
    assert moved.splitlines() == ["# mine", "*.yaml merge=foo", *BLOCK, "# end"]


@pytest.mark.parametrize(
    "text", [attr.OPEN + "\n*.yaml merge=kmerge\n", f"{attr.OPEN}\n{attr.OPEN}\n{attr.CLOSE}\n"]
)
def test_a_broken_block_is_never_guessed_at(text: str) -> None:
    with pytest.raises(KmergeError) as caught:
        attr.without_block(text)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "line, pattern, merge",
    [
        ("*.yaml merge=foo", "*.yaml", "foo"),
        ("*.yaml\ttext eol=lf merge=foo", "*.yaml", "foo"),
        ("*.yaml merge", "*.yaml", "set"),
        ("*.yaml -merge", "*.yaml", "unset"),
        ("*.yaml !merge", "*.yaml", "unspecified"),
        ("*.yaml binary", "*.yaml", "unset"),
        ("*.yaml merge=foo -merge", "*.yaml", "unset"),
        ('"a b/*.yaml" merge=foo', "a b/*.yaml", "foo"),
        ('"a\\"b.yaml" merge=foo', 'a"b.yaml', "foo"),
        ("[attr]k8s merge=foo\n*.yaml k8s", "*.yaml", "foo"),
    ],
)
def test_merge_rules_read_what_git_reads(repo: Repo, line: str, pattern: str, merge: str) -> None:
    (rule,) = attr.merge_rules(line + "\n")
    assert (rule.pattern, rule.merge) == (pattern, merge)
    repo.write(".gitattributes", line + "\n")
    path = pattern.replace("*", "x")
    assert repo.attribute(path) == merge


@pytest.mark.parametrize("line", ["*.yaml text", "# *.yaml merge=foo", "", "*.yaml diff=merge"])
def test_lines_that_say_nothing_about_merge(line: str) -> None:
    assert attr.merge_rules(line + "\n") == []


@pytest.mark.parametrize(
    "pattern, ours, covered, overlap",
    [
        ("*.yaml", "*.yaml", True, True),
        ("*", "*.yaml", True, True),
        ("**/*.yaml", "*.yaml", True, True),
        ("*.y*ml", "*.yaml", True, True),
        ("*.[yj]aml", "*.yaml", True, True),
        ("charts/*.yaml", "*.yaml", False, True),
        ("install/kubernetes/**", "*.yaml", False, True),
        ("pnpm-lock.yaml", "*.yaml", False, True),
        ("/secrets.yaml", "*.yaml", False, True),
        ("kustomization", "kustomization", True, True),
        ("*.md", "*.yaml", False, False),
        ("*.yml", "*.yaml", False, False),
        ("vendor/*.go", "*.yaml", False, False),
    ],
)
def test_which_patterns_meet(pattern: str, ours: str, covered: bool, overlap: bool) -> None:
    assert attr.covers(pattern, ours) is covered
    assert attr.overlaps(pattern, ours) is overlap


@pytest.mark.parametrize("pattern", ["*.yaml", "a b.yaml", 'q"q/*.yaml', "#x.yaml", "a\\ b"])
def test_git_takes_a_quoted_pattern(repo: Repo, pattern: str) -> None:
    repo.write(".gitattributes", f"{attr.quoted_pattern(pattern)} merge=kmerge\n")
    assert attr.split_line(repo.text(".gitattributes"))[0] == pattern
    if "\\" not in pattern:
        assert repo.attribute(pattern.replace("*", "x")) == "kmerge"


# -- policies in the block

FOREIGN = """\
*.yaml kmerge-policy=**.image:higher
charts/a/Chart.yaml kmerge-policy=appVersion:higher
c/** kmerge-policy=x:ours
d/Chart.yaml -kmerge-policy
e/*.json kmerge-policy=y:ours
"""
REBUMP = {"Chart.yaml": ["version:rebump"]}


def of_git(repo: Repo, text: str, *paths: str) -> list[str]:
    """What git takes as the policies of some files."""
    repo.write(".gitattributes", text)
    asked = repo.git("check-attr", "-z", "kmerge-policy", "--", *paths)
    return asked.out.split("\0")[2::3]


def test_policies_of_the_block_and_those_of_other_lines_are_added_up(repo: Repo) -> None:
    """Git takes one line for a file, so the line of the block says what all of them say."""
    target = attr.AttributeFile(repo.path / ".gitattributes", FOREIGN)
    text, _ = attr.select(target, [], ("*.yaml",), policies=REBUMP)
    charts = ["x/Chart.yaml", "charts/a/Chart.yaml", "c/y/z/Chart.yaml", "d/Chart.yaml"]
    assert of_git(repo, text, *charts, "c/y/values.yaml", "e/b.json") == [
        "version:rebump,**.image:higher",
        "version:rebump,appVersion:higher",
        "version:rebump,x:ours",
        "unset",
        "x:ours",
        "y:ours",
    ]
    assert attr.without_block(text) == FOREIGN


def test_a_later_installation_keeps_policies() -> None:
    target = attr.AttributeFile(Path(".gitattributes"), FOREIGN)
    text, _ = attr.select(target, [], ("*.yaml",), policies=REBUMP)
    there = attr.AttributeFile(target.path, text)
    assert attr.select(there, [], ("*.yaml",))[0] == text
    assert attr.select(there, [], ("*.yaml",), policies=REBUMP)[0] == text
    fewer = attr.select(there, [], ("*.yaml",), policies={"Chart.yaml": ["appVersion:higher"]})[0]
    assert "rebump" not in fewer


def test_policies_of_a_weaker_file_are_repeated(repo: Repo) -> None:
    """`info/attributes` overrules the committed files, also those in folders."""
    below = attr.AttributeFile(repo.path / "k/.gitattributes", "*.yaml kmerge-policy=z:ours\n", "k")
    target = attr.AttributeFile(repo.path / ".gitattributes", "")
    text, _ = attr.select(target, [below], ("*.yaml",), policies=REBUMP)
    said = of_git(repo, text, "Chart.yaml", "k/l/Chart.yaml")
    assert said == ["version:rebump", "version:rebump,z:ours"]
