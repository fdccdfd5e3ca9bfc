"""The helpers and notes of a chart are text: nothing reads them as YAML, whatever they look like."""

from __future__ import annotations

import pytest

from kmerge_git import merge_files
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify import line_damage
from kmerge_git.text.linemerge import TemporaryFiles
from kmerge_git.tree.documents import YamlText

PATHS = ("c/templates/_helpers.tpl", "templates/NOTES.txt")
BASE = b"Address: a\nPort: 1\n\nName: b\n"
# By fields each merges to something else than its lines.
CASES = {
    "neighbours": (BASE, b"Address: x\nPort: 1\n\nName: b\n", b"Address: a\nPort: 2\n\nName: b\n"),
    "an element each": (b"- a\n", b"- a\n- b\n", b"- a\n- c\n"),
    "a key twice": (BASE, b"Host: x\n" + BASE, BASE + b"Host: x\n"),
    "a tab": (b"a\n\nb\n\nc\n", b"a\n\tx: y: z\nb\n\nc\n", b"a\n\nb\n\nd\n"),
}


def by_git(texts: tuple[bytes, bytes, bytes]) -> tuple[bytes, bool]:
    text, count = TemporaryFiles(
        texts, marker_size=7, labels=("base", "ours", "theirs"), style="merge"
    ).result()
    return text, count == 0


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("texts", CASES.values(), ids=CASES)
@pytest.mark.parametrize("rules", ["git", "kyaml"])
def test_texts_of_charts_are_merged_as_lines(
    path: str, texts: tuple[bytes, bytes, bytes], rules: str
) -> None:
    outcome = merge_files(*texts, path=path, rules=rules)
    assert outcome.method == "lines"
    if rules == "git":
        assert (outcome.text, outcome.clean) == by_git(texts)
    if outcome.text != b"".join(texts):
        assert outcome.reason == "a template, not YAML"


def test_beside_a_chart_they_would_be_yaml() -> None:
    assert merge_files(*CASES["neighbours"], path="c/NOTES.yaml").clean
    made = merge_files(*CASES["a key twice"], path="c/templates/a.yaml")
    assert (made.method, made.text.count(b"Host")) == ("structure", 1)


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_breaks_no_yaml_in_them(path: str) -> None:
    texts = Three(BASE, BASE + b"x: 1\n", BASE + b"x: 2\n").map(YamlText)
    both = BASE + b"x: 1\nx: 2\n"
    assert line_damage.brought(YamlText(both, "a.yaml"), texts)
    assert not line_damage.brought(YamlText(both, path), texts)
