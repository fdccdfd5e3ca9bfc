"""What is one in two versions, and what is not: rivals, names that were freed, lines of texts."""

from __future__ import annotations

import pytest
from template_texts import parse

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.template.masking import Words
from kmerge_git.template.template_layout import WORDS, Placed, lay_out
from kmerge_git.template.template_pairs import follow, paired, refuse_taken


def units(text: str) -> list[Placed]:
    return lay_out(parse(text), Words().line)


def block(header: str) -> str:
    return f"  {{{{- if {header} }}}}\n  a: 1\n  b: 1\n  c: 1\n  {{{{- end }}}}\n"


@pytest.mark.parametrize("count", [1, 2])
def test_of_two_blocks_that_are_alike_none_is_the_one(count):
    one, more = "spec:\n" + block(".x"), "spec:\n" + "".join(map(block, (".y", ".z")[:count]))
    for base, ours in ((one, more), (more, one)):
        at = Three(units(base), units(ours), units(base))
        both = [entity for entity in paired(at) if entity.at.base and entity.at.ours]
        assert len(both) == (1 if count == 1 else 0)


def document(name: str, *lines: str) -> str:
    return f"kind: A\nmetadata:\n  name: {name}\ndata:\n" + "".join(f"  {x}: 1\n" for x in lines)


def test_a_name_freed_and_taken_is_refused():
    base = document("web", "a", "b")
    at = Three(base, document("front", "a", "b") + "---\n" + document("web", "c"), base)
    for three in (at, at.swapped()):
        with pytest.raises(Unsupported, match="old name"):
            refuse_taken(three.map(units))
    refuse_taken(Three(base, base + "---\n" + document("front", "c"), base).map(units))


def test_an_assignment_left_of_a_text_stands_in_it():
    found = units("a: |\n{{- $x := 1 }}\n  text\nb: 1\n{{- $y := 1 }}\n")
    assert [unit.role == WORDS for unit in found] == [False, True, True, False, False]


def rendered(*names: str) -> list[Placed]:
    lines = "    a: 1\n    b: 1\n    c: 1\n"
    return units("spec:\n" + "".join(f"  {{{{ .{name} }}}}:\n{lines}" for name in names))


@pytest.mark.parametrize(
    ("base", "ours", "is_one"), [("a", "b", True), ("a", "bc", False), ("ab", "c", False)]
)
def test_of_two_names_that_may_be_the_renamed_one_none_is(base, ours, is_one):
    at = Three(rendered(*base), rendered(*ours), rendered(*base))
    follow(at)
    assert bool({u.path for u in at.base if u.label == "a"} & {u.path for u in at.ours}) == is_one


LINES = "      a: 1\n      b: 1\n      c: 1\n"
OF_ONE = document("web", "a", "b", "c")


@pytest.mark.parametrize(
    ("base", "ours", "is_one"),
    [
        (f"x:\n  app-{{{{ .a }}}}:\n{LINES}", f"x:\n  app-{{{{ .b }}}}:\n{LINES}", True),
        (f"x:\n  app-{{{{ .a }}}}:\n{LINES}", f"x:\n  web-{{{{ .b }}}}:\n{LINES}", False),
        (
            f"x:\n  {{{{ .a }}}}:\n{LINES}y:\n  k: 1\n",
            f"x:\n  k: 1\ny:\n  {{{{ .b }}}}:\n{LINES}",
            False,
        ),
        (OF_ONE, OF_ONE.replace("web", "front"), True),
        (OF_ONE, OF_ONE.replace("kind: A", "kind: B"), False),
    ],
    ids=["rendered", "text before it differs", "elsewhere", "a document", "of another kind"],
)
def test_what_is_renamed_keeps_its_parent_and_its_kind(base, ours, is_one):
    at = Three(*map(units, (base, ours, base)))
    follow(at)
    assert bool({u.path for u in at.base if u.label == "a"} & {u.path for u in at.ours}) == is_one
