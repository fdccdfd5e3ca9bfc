"""What a merge of a template broke in one of its readings, and the conflict around it."""

from __future__ import annotations

import pytest

from kmerge_git import merge_files
from kmerge_git.merge.merged import conflicted
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.template.template_damage import Damage, around, new_damage
from kmerge_git.template.template_parser import Template
from kmerge_git.text.pieces import side_text
from kmerge_git.text.source import Source

PATH = "charts/web/templates/web.yaml"
BASE = """\
kind: Deployment
metadata:
  name: {{ include "web.fullname" . }}
spec:
  containers:
  - name: web
    image: {{ .Values.image }}
    {{- with .Values.probe }}
    probe: {{ . }}
    {{- end }}
    command: [run]
    args:
    {{- range .Values.args }}
    - {{ . }}
    {{- end }}
    - --last
    resources: {{- toYaml .Values.resources | nindent 6 }}
    env:
    - name: A
      value: a
  paused: false
"""
TOP = "    securityContext: {{ .Values.context }}\n"
BLOCK = "    {{- with .Values.own }}\n    securityContext: {{ . }}\n    {{- end }}\n"
OURS = BASE.replace("    command", TOP + "    command")
THEIRS = BASE.replace("    env:\n", BLOCK + "    env:\n")
MERGED = OURS.replace("    env:\n", BLOCK + "    env:\n")
TEXTS = Three(BASE, OURS, THEIRS)


def damage(result: str, texts: Three[str], path: str) -> list[Damage]:
    return new_damage(Template(result), texts.map(Template), path)


def brought(result: str, texts: Three[str], path: str) -> str:
    found = damage(result, texts, path)
    return found[0].why if found else ""


def surrounded(result: str, texts: Three[str]):  # type: ignore[no-untyped-def]
    found = damage(result, texts, PATH)
    return around(Template(result), texts.map(Template), PATH, found)


def without(text: str, what: str, other: str = "") -> str:
    assert text.count(what) == 1
    return text.replace(what, other)


# what was done to a merge that is right, and what is said of it
RIGHT = without(MERGED, BLOCK)
SIDES = Three(BASE, OURS, BASE.replace("paused: false", "paused: true"))
BROKEN = [
    ("a key twice in one branch", without(RIGHT, "    env:\n", BLOCK + "    env:\n"),
     "duplicate key: Deployment {{ include \"web.fullname\" . }} spec.containers[] securityContext (if all conditions are true)"),
    ("an element twice", without(RIGHT, "      value: a\n", "      value: a\n    - name: A\n      value: b\n"), "duplicate list element: "),
    ("a resource twice", RIGHT + "---\n" + RIGHT, "duplicate resource: "),
    ("a line that slipped", without(RIGHT, "    command", "   command"), "not valid YAML: "),
    ("a block without end", without(RIGHT, "    probe: {{ . }}\n    {{- end }}\n", "    probe: {{ . }}\n"), "not a valid template: line "),
    ("an action without end", without(RIGHT, "{{ .Values.image }}", "{{ .Values.image"), "not a valid template: line 8: "),
    ("no YAML without a branch", without(without(RIGHT, "    args:\n", "    {{- if .Values.args }}\n    args:\n    {{- end }}\n"), "    command: [run]\n", "    command:\n    - run\n    other: {}\n"), "not valid YAML: "),
]  # fmt: skip


@pytest.mark.parametrize("why, text, said", BROKEN, ids=[one[0] for one in BROKEN])
def test_what_is_broken(why: str, text: str, said: str) -> None:
    assert brought(RIGHT, SIDES, PATH) == ""
    for sides in (SIDES, SIDES.swapped()):
        assert brought(text, sides, PATH).startswith(said)


@pytest.mark.parametrize("why, text, said", BROKEN, ids=[one[0] for one in BROKEN])
def test_what_a_side_has_says_nothing(why: str, text: str, said: str) -> None:
    for sides in (Three(BASE, text, SIDES.theirs), Three(BASE, SIDES.ours, text)):
        assert brought(text, sides, PATH) == ""


@pytest.mark.parametrize("why, text, said", BROKEN, ids=[one[0] for one in BROKEN])
def test_what_is_broken_in_a_file_that_has_a_resource_twice(why: str, text: str, said: str) -> None:
    sides = SIDES.map(lambda side: f"{side}---\n{RIGHT}")
    found = brought(f"{text}---\n{RIGHT}", sides, PATH)
    assert found.startswith(said) if why != "a resource twice" else found == ""


# what looks like a key or an element twice, and is none
FINE = [
    ("in two arms of a block", BLOCK.replace("    {{- end", "    {{- else }}\n    securityContext: {}\n    {{- end")),
    ("in a branch and its contrary", BLOCK + BLOCK.replace("with", "if not")),
    ("elements of two loops", "    list:\n    {{- range .a }}\n    - {{ .x }}\n    {{- end }}\n    {{- range .b }}\n    - {{ .x }}\n    {{- end }}\n"),
    ("keys in a text", "    text: |\n      a: 1\n      a: 1\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, lines", FINE, ids=[one[0] for one in FINE])
def test_what_is_no_damage(why: str, lines: str) -> None:
    assert brought(without(BASE, "    env:\n", lines + "    env:\n"), SIDES, PATH) == ""


def test_elements_of_a_define_are_of_no_known_list() -> None:
    """Mounts of one volume stand there side by side; the same element twice is damage anyway."""
    define = '{{- define "web.mounts" -}}\n%s{{- end }}\n'
    one, other = "- name: data\n  path: /a\n", "- name: data\n  path: /b\n"
    sides = Three(define % "", define % one, define % other)
    assert brought(define % (one + other), sides, PATH) == ""
    assert brought(define % (one + one), sides, PATH).endswith('(in define "web.mounts")')


def test_notes_are_no_yaml() -> None:
    sides = Three("a: {{ .a }}\n", "a: {{ .a }}\nb: 1\n", "a: {{ .a }}\nc: 1\n")
    twice = "a: {{ .a }}\na: {{ .a }}\n"
    assert brought(twice, sides, PATH) != ""
    assert brought(twice, sides, "templates/NOTES.txt") == ""
    assert brought("a: {{ .a\n", sides, "templates/NOTES.txt") != ""


def test_a_conflict_around_the_damage_alone() -> None:
    """Git's result stays as it is outside of it; no answer has the damage."""
    found = damage(MERGED, TEXTS, PATH)
    assert [one.short for one in found] == ["duplicate key securityContext"]
    for sides in (TEXTS, TEXTS.swapped()):
        made = around(Template(MERGED), sides.map(Template), PATH, found)
        ((_, hunk),) = made.hunks()
        start, end = MERGED.index(TOP), MERGED.index("    env:\n")
        assert MERGED[:start] + hunk.ours + MERGED[end:] == sides.ours
        assert MERGED[:start] + hunk.theirs + MERGED[end:] == sides.theirs
        assert hunk.base in BASE
        assert hunk.why == f"{Why.DAMAGE}: duplicate key securityContext"
        for side in ("ours", "theirs"):
            assert brought(made.decided(side), sides, PATH) == ""


def test_two_damages_are_two_conflicts() -> None:
    one, other = (text.replace("name: ", "name: other-") for text in (BASE, MERGED))
    ours, theirs = (text.replace("name: ", "name: other-") for text in (OURS, THEIRS))
    texts = Three(BASE + "---\n" + one, OURS + "---\n" + ours, THEIRS + "---\n" + theirs)
    result = MERGED + "---\n" + other
    made = surrounded(result, texts)
    assert len(made.hunks()) == 2
    pieces = made.documents[0].pieces
    assert side_text(pieces, "ours") == texts.ours


def test_a_conflict_as_large_as_it_must_be() -> None:
    """What is no YAML is seen behind its cause: the lines around it, and all of them at last."""
    base = "a:\n  {{- if .x }}\n  b: 1\n  {{- end }}\nc: 1\n"
    texts = Three(base, base.replace("c: 1", "c: 2"), base.replace("b: 1", "b: 2"))
    result = "a:\n  {{- if .x }}\n  b: 2\nc: 2\n"
    made = surrounded(result, texts)
    assert made.is_one_conflict
    assert {made.decided("ours"), made.decided("theirs")} == {texts.ours, texts.theirs}


def test_the_driver_writes_it() -> None:
    options = Options(PATH)
    sources = TEXTS.map(lambda text: Source(text.encode(), PATH))
    made = conflicted(surrounded(MERGED, TEXTS), sources, options)
    text = made.text.decode()
    assert text.count(f"<<<<<<< ours ({Why.DAMAGE}: duplicate key securityContext)") == 1
    assert merge_files(*(text.encode() for text in TEXTS.each()), path=PATH).text.decode() == text


@pytest.mark.costly
def test_a_key_that_stands_there_very_often() -> None:
    """What is wrong with it is said once, and found in one look."""
    text = BASE + "  again: {{ .x }}\n" * 20_000
    (found,) = damage(text, TEXTS, PATH)
    assert (found.short, found.last - found.first) == ("duplicate key again", 19_999)
