"""What stands where, line by line: wrapped blocks, masked lines, columns, forms, sides in order."""

from __future__ import annotations

import pytest
from template_texts import merged, parse, text

from kmerge_git.errors import Unsupported
from kmerge_git.merge.three import Three
from kmerge_git.template.masking import Words, masked
from kmerge_git.template.template_layout import (
    ENTRY,
    Placed,
    column_of,
    key_of,
    lay_out,
    reaches_out,
    scalar_above,
)
from kmerge_git.template.template_pairs import paired
from kmerge_git.template.template_parser import TOKEN, Block


def units(written: str) -> list[Placed]:
    return lay_out(parse(written), Words().line)


# -- which blocks are one


def block(header: str, *lines: str) -> str:
    return "".join(f"{line}\n" for line in (f"{{{{- if {header} }}}}", *lines, "{{- end }}"))


FIVE = ("a: 1", "b: 1", "c: 1", "d: 1", "e: 1")
OLD = block(".x", *FIVE)
OTHER = block(".x", "f: 1")
WRAPPED = block(".y", *OLD.splitlines())


@pytest.mark.parametrize(
    ("why", "changed", "is_one"),
    [
        ("another header", block(".y", *FIVE), True),
        ("put into another block", WRAPPED, False),
        ("put into two blocks", block(".z", *WRAPPED.splitlines()), False),
        ("its header on something else", block(".y", *FIVE, *OTHER.splitlines()), True),
    ],
)
def test_a_block_is_not_the_one_around_it(why, changed, is_one):
    for base, ours in ((OLD, changed), (changed, OLD)):
        at = Three(units(base), units(ours), units(base))
        (found,) = [entity for entity in paired(at) if entity.at.base]
        assert found.at.ours is not None, why  # it stands in the same place, whatever it is
        assert found.is_replaced != is_one, why


def test_a_block_that_went_elsewhere_as_it_is_is_one():
    inner = "".join(f"  {line}\n" for line in OLD.splitlines())
    base, ours = f"m:\n{inner}n:\n  k: 1\n", f"m:\n  k: 1\nn:\n{inner}"
    (entity,) = paired(Three(units(base), units(ours), units(base)))
    assert entity.at.ours is not None
    assert entity.at.ours.path != entity.at.base.path
    twice = paired(Three(units(base), units(ours + f"o:\n{inner}"), units(base)))
    assert all(not (entity.at.base and entity.at.ours) for entity in twice)


def test_an_entry_of_a_list_does_not_replace_one_of_a_map():
    base, ours = "a:\n" + block(".x", "  b: 1"), "a:\n" + block(".y", "  - c")
    (found,) = [one for one in paired(Three(*map(units, (base, ours, base)))) if one.at.base]
    assert found.at.ours is None
    assert found.at.theirs is not None


# -- masked lines


def test_all_actions_above_children_are_masked():
    words = Words()
    written = 'a:\n  {{ .key }}: {{- include "x" . | nindent 4 }}\n    b: 1\n'
    made = masked(lay_out(parse(written), words.line), {}, words).text
    assert "{{" not in made
    assert made.count(": # ") == 1
    assert words.unmasked(made, {}) == written


@pytest.mark.parametrize("mark", ["C", "N"])
def test_nothing_may_come_to_stand_behind_a_comment_of_ours(mark):
    words = Words()
    mask = {"C": words.comment, "N": words.above_children}[mark]
    (row,) = parse("{{ .a }}\n")
    word = mask(row).removeprefix("# ").removesuffix("\n")
    assert word.startswith(f"{TOKEN}{mark}")
    assert words.unmasked(f"a: # {word}\n", {}) == "a: {{ .a }}\n"
    for line in (f"a: # {word} b\n", f"a: {word}\n"):
        with pytest.raises(Unsupported, match="split a template comment"):
            words.unmasked(line, {})


def test_an_end_inside_a_text_is_that_of_its_block():
    """Else the ends of two blocks would be one line twice, which may change places."""
    words = Words()
    inner = "".join(f"  {{{{- if .{x} }}}}\n  {x}\n  {{{{- end }}}}\n" for x in "xy")
    made = masked(lay_out(parse(f"a: |\n{inner}"), words.line), {}, words).text
    lines = [line for line in made.splitlines() if "kmTplL" in line]
    assert len(set(lines)) == len(lines) == 4


# -- columns and forms


def entry(written: str) -> tuple[int, str, tuple[str, ...]]:
    """The column, the form and the place of the one entry of a text."""
    (found,) = [unit for unit in units(written) if unit.role == ENTRY]
    return found.column, found.form, found.path[1:]


@pytest.mark.parametrize(
    ("why", "written", "column", "form", "place"),
    [
        ("its own, below an open key", "a:\n  b:\n    {{ .x }}\n  c: 1\n", 4, "map", ("a", "b")),
        ("its own, that of a sibling", "a:\n    b: 1\n    {{ .x }}\nc: 1\n", 4, "map", ("a",)),
        ("that of the next line", "a:\n  b: 1\n {{ .x }}\n  c: 1\n", 2, "map", ("a",)),
        ("that of the last line", "a:\n  b: 1\n   {{ .x }}\n", 2, "map", ("a",)),
        ("no line beside it", "   {{ .x }}\n", 3, "map", ()),
        ("another document's", "a: 1\n{{ .x }}\n---\n  b: 1\n", 0, "map", ()),
        ("a key with an anchor is open", "a: &x\n{{ .x }}\n- b: 1\n", 0, "list", ("a",)),
        ("a key with a value is not", "a: x\n{{ .x }}\n", 0, "map", ()),
        ("no list of that key", "a: x\n{{- if .y }}\n- b: 1\n{{- end }}\n", 0, "list", ()),
        ("before a block that tells", "a:\n{{ .x }}\n{{- if .b }}\n- c\n{{- end }}\n", -1, "", ()),
        ("the list below is over", "a:\n  {{ .x }}\nb:\n  - 1\n", 2, "map", ("a",)),
    ],
)
def test_where_an_entry_stands(why, written, column, form, place):
    if column < 0:  # of two entries, the first takes its form from the second
        found = [unit.form for unit in units(written) if unit.role == ENTRY]
        assert found == ["scalars", "scalars"], why
        return
    assert entry(written) == (column, form, place), why


def test_a_compact_list_ends_with_the_key_of_its_list():
    written = "a:\n- b: 1\n{{- if .x }}\n- c: 1\n{{- end }}\nd:\n{{- if .x }}\n  e: 1\n{{- end }}\n"
    found = [(unit.form, unit.path[1:]) for unit in units(written) if unit.role == ENTRY]
    assert found == [("list", ("a",)), ("map", ("d",))]


@pytest.mark.parametrize(
    ("line", "column"),
    [("a: |", 0), ("- a: |", 2), ("- - a: >-", 4), ("- |", 0), ("- - |", 2), ("a: | # why", 0)],
)
def test_the_column_of_a_block_scalar_is_that_of_its_key(line, column):
    assert scalar_above(line + "\n") == column


@pytest.mark.parametrize(
    ("line", "key"), [("a: 1", "a"), ("a #b: 1", ""), ('"a: b": 1', '"a: b"'), ("a:b", "")]
)
def test_the_key_of_a_line(line, key):
    assert key_of(line) == key


@pytest.mark.parametrize(
    ("written", "is_out"),
    [
        ("{{- if .x }}\n  a: |\n    b\n  c: 1\n{{- end }}\n", False),
        ("{{- if .x }}\n  a: |\n    b\nc: 1\n{{- end }}\n", True),
        ("{{- if .x }}\n    a: |\n     b\n     c\n    c: 1\n{{- end }}\n", False),
        ("{{- if .x }}\n  a: 1\n---\n  b: 1\n{{- end }}\n", False),
        ("{{- if .x }}\n  a: 1\n# c\n{{- end }}\n", False),
    ],
)
def test_a_block_that_reaches_out(written, is_out):
    (part,) = parse(written)
    assert isinstance(part, Block)
    assert reaches_out(part, column_of(part)) == is_out


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("  {{ .a | indent 2 }}", 4),
        ("  {{- .a | indent 2 }}", 2),
        ("  {{ .a | nindent 2 }}", 2),
        ("  {{- .a | nindent 2 }}", 2),
    ],
)
def test_what_indent_is_counted_from(line, column):
    (part,) = parse(f"{line}\n")
    assert column_of(part) == column


def test_a_weak_column_is_one_right_of_the_block():
    """An output that tells none stands for a column only where it is deeper than its block."""
    for at, column in ((0, -1), (2, -1), (3, 3)):
        (part,) = parse("  {{- if .x }}\n" + " " * at + "{{ .y }}\n  {{- end }}\n")
        assert column_of(part) == column


# -- bodies


def define(name: str, *lines: str) -> str:
    return "".join(f"{x}\n" for x in (f'{{{{- define "{name}" -}}}}', *lines, "{{- end -}}"))


def test_the_body_of_a_definition_is_a_text_first():
    """Fields would leave it open: a key that is rendered may be the one that theirs adds."""
    helpers = "web/templates/_helpers.tpl"
    lines = ("a: 1", "b: 1", "c: 1", "d: 1")
    near = define("y", "a: 1", "b: 1")  # which git leaves open
    base = define("x", *lines) + near
    ours = define("x", "{{ .k }}: 1", *lines) + near.replace("a: 1", "a: 2")
    theirs = define("x", *lines, "e: 1") + near.replace("b: 1", "b: 2")
    made = define("x", "{{ .k }}: 1", *lines, "e: 1") + define("y", "a: 2", "b: 2")
    assert merged(base, ours, theirs, helpers) == made


def test_a_definition_that_lines_leave_open_is_merged_by_fields():
    helpers = "web/templates/_helpers.tpl"
    base = define("x", "a: 1", "b: {{ .b }}")
    ours = base.replace("a: 1", "a: 2")
    theirs = base.replace(".b", ".t")
    assert merged(base, ours, theirs, helpers) == ours.replace(".b", ".t")


def test_comments_say_nothing_of_the_column_of_a_body():
    base = text("""
        spec:
          {{- if .Values.x }}
          a: 1
          b: 1
          {{- end }}
    """)
    ours = base.replace("  a: 1\n", "# ours\n  a: 2\n")
    theirs = base.replace("b: 1", "b: 2")
    assert merged(base, ours, theirs) == ours.replace("b: 1", "b: 2")
