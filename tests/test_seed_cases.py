"""The seed documents' merges, case by case: `tests/cases/merge2` and `tests/cases/merge3`.

A case is a folder: the inputs, `expected` byte for byte, and `case.toml` with the rule's number,
why, upstream's issues, what of the destination loses (`lost`), and what rules git make of the
same texts (`git`: same, clash, any order, or other: then `expected_git` says what).
"""

import tomllib
from pathlib import Path

import pytest
import yaml

from kmerge_git.api import merge_files
from kmerge_git.errors import KmergeError
from kmerge_git.merge.kyaml.kyaml_merges import merge3_bytes
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.three import Three

CASES = Path(__file__).parent / "cases"
TWO = sorted(p.parent for p in CASES.glob("merge2/*/case.toml"))
THREE = sorted(p.parent for p in CASES.glob("merge3/*/case.toml"))
assert TWO, "no cases of merge2 found"
assert THREE, "no cases of merge3 found"


DOCS = [
    Path(__file__).parents[1] / "docs" / "merge-rules.md",
    CASES / "kyaml_differences.md",
]


def test_every_rule_of_the_docs_has_a_case_and_every_case_a_rule():
    lines = [line for page in DOCS for line in page.read_text().splitlines()]
    rows = [line.strip("|- ").split(" ")[0] for line in lines]
    rules = {word for word in rows if word[:1] in "TMKRB" and word[1:].isdigit()}
    cases = {case.name.partition("-")[0] for case in [*TWO, *THREE]} - {"seed"}
    assert rules == cases


def load(case: Path) -> dict:
    return tomllib.loads((case / "case.toml").read_text())


def text(case: Path, name: str) -> bytes:
    (path,) = case.glob(f"{name}.*")
    return path.read_bytes()


def data(content: bytes) -> list:
    documents = [d for d in yaml.compose_all(content.decode()) if d is not None]
    return [plain(d) for d in documents]


def plain(node: yaml.Node) -> object:
    """Values with their tags and spelling; the order of keys does not count."""
    if isinstance(node, yaml.MappingNode):
        return {str(plain(k)): plain(v) for k, v in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(v) for v in node.value]
    return node.tag, node.value


def name(case: Path) -> str:
    return case.name


@pytest.mark.parametrize("case", TWO, ids=name)
def test_merge2(case):
    options = load(case).get("options", {})
    error = options.pop("error", None)
    src, dest = text(case, "src"), text(case, "dest")
    if error:
        with pytest.raises(KmergeError, match=error.replace("$", r"\$")):
            merge2_bytes(src, dest, **options)
        return
    expected = text(case, "expected")
    assert merge2_bytes(src, dest, **options).data.decode() == expected.decode()
    again = merge2_bytes(src, expected, **options).data
    assert again.decode() == expected.decode(), "applied twice"


@pytest.mark.parametrize("case", THREE, ids=name)
def test_merge3(case):
    about = load(case)
    options = about.get("options", {})
    error = options.pop("error", None)
    at = Three(text(case, "original"), text(case, "dest"), text(case, "updated"))
    if error:
        with pytest.raises(KmergeError, match=error):
            merge3_bytes(at, **options)
        return
    result = merge3_bytes(at, **options)
    assert result.data.decode() == text(case, "expected").decode()
    lost = [f"{d.resource} {d.path}".strip() for d in result.lost]
    assert sorted(set(lost)) == sorted(about["lost"])


@pytest.mark.parametrize("case", THREE, ids=name)
def test_identical_inputs_come_back(case):
    for content in (text(case, n) for n in ("original", "updated", "dest")):
        assert merge3_bytes(Three(content, content, content)).data == content


@pytest.mark.parametrize("case", [c for c in THREE if load(c).get("git")], ids=name)
def test_rules_git(case):
    about = load(case)
    texts = [text(case, n) for n in ("original", "dest", "updated")]
    outcome = merge_files(*texts, path=about.get("options", {}).get("path", ""))
    if about["git"] == "clash":
        assert not outcome.clean
        return
    expected = text(case, "expected_git" if about["git"] == "other" else "expected")
    assert outcome.clean, outcome.conflicts
    if about["git"] == "any order":
        assert sorted(outcome.text.split()) == sorted(text(case, "expected").split())
        return
    assert data(outcome.text) == data(expected), outcome.text.decode()
