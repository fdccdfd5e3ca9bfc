"""The numbers of rules: what the code notes, the one table of words, and the docs."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import pytest

from kmerge_git.merge.rule_sentences import RULES, in_words, of_kyaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "kmerge_git/merge"
TEXT = (ROOT / "docs/merge-rules.md").read_text(encoding="utf-8")
SPECIFICATION = (ROOT / "docs/specification.md").read_text(encoding="utf-8")


# of a difference of which no note was made
WHATS = ["changed", "added", "deleted", "changed identically on both sides"]
SIDES = ["ours", "theirs", "both"]
KINDS = ["scalar", "map", "list", "element", "document", "comment", "order"]


def numbers(source: str) -> set[str]:
    """The texts in a module that are the number of a rule: `M2`, `12 policy ..`, `R5 lost`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            known = re.fullmatch(r"([TMR]\d+|1?\d)( (lost|favor|policy ?))?", node.value)
            found |= {known[1]} if known else set()
    return found


@pytest.mark.costly
def test_every_number_that_is_noted_has_words() -> None:
    noted = {
        n
        for path in PACKAGE.rglob("*.py")
        if path.name != "inwords.py"
        for n in numbers(path.read_text())
    }
    assert len(noted) > 30
    assert noted - {"0", "10"} <= RULES.keys()
    answers = {of_kyaml(*words) for words in product(WHATS, SIDES, KINDS)}
    assert len(answers) >= 20
    assert answers <= RULES.keys()


def test_a_number_is_seen() -> None:
    assert numbers("Note((), 'x', 'ours', 'M99 lost')\nf'12 policy {name}'") == {"M99", "12"}


def test_the_docs_have_the_same_words() -> None:
    rows = dict(re.findall(r"^(?:\||-) ([TMR]\d+) (.+?)(?: \||$)", TEXT, re.MULTILINE))
    flowing = re.sub(r"\n +", " ", SPECIFICATION)
    rows |= dict(re.findall(r"^(\d+)\. \*\*(.+?)\.\*\*", flowing, re.MULTILINE))
    told = {number: words.partition("; see [below]")[0] for number, words in rows.items()}
    assert told == {number: words for number, words in RULES.items() if number != "lines"}


def test_every_number_has_its_paragraph() -> None:
    section = SPECIFICATION.partition("\n## The rules\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^(\d+)\. ", section, re.MULTILINE)
    assert listed == [number for number in RULES if number.isdigit()]


def test_words_of_a_rule_with_more_behind_its_number() -> None:
    assert in_words("12 policy higher") == RULES["12"]
    assert in_words("M2 lost") == RULES["M2"]
    assert in_words("") == ""


def test_the_numbers_of_what_nobody_had_to_decide() -> None:
    assert of_kyaml("deleted", "theirs", "map") == "M20"
    assert of_kyaml("added", "ours", "document") == "R3"
    assert of_kyaml("changed identically on both sides", "both", "scalar") == "M18"
