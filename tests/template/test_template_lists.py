"""Lists inside of templates: a move meets an edit, a deletion, an addition of both sides.

The truth is computed from the edits, element by element, as in the worlds of other lists.
"""

from __future__ import annotations

from itertools import permutations

import pytest
from depth import part
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome

HEAD = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  template:
    spec:
      containers:
        - name: app
          image: {{ .Values.image }}
          {{- with .Values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
"""
Side = dict[str, str]  # elements with their values, in their order
FORMS = {
    "args in a block": (
        "          args:\n          {{- if .Values.x }}\n",
        "            - --{key}={value}\n",
        "          {{- end }}\n",
    ),
    "rendered args": (
        "          args:\n",
        "            - --{key}={{{{ .Values.v{value} }}}}\n",
        "",
    ),
    "env in a block": (
        "          {{- if .Values.x }}\n          env:\n",
        "            - name: {key}\n              value: {key}-{value}\n",
        "          {{- end }}\n",
    ),
    "containers in a block": (
        "        {{- if .Values.x }}\n",
        "        - name: {key}\n          image: {key}:{value}\n          command: [{key}]\n",
        "        {{- end }}\n",
    ),
}
BASE = {"a": "1", "b": "1", "c": "1"}


def written(form: str, side: Side, *, commented: bool = False) -> bytes:
    start, line, end = FORMS[form]
    pad = " " * (len(line) - len(line.lstrip()))
    body = "".join(
        (f"{pad}# about {key}\n" if commented else "") + line.format(key=key, value=value)
        for key, value in side.items()
    )
    return (HEAD + start + body + end).encode()


def read(form: str, text: bytes) -> list[tuple[str, str]]:
    found = [
        (place, (key, value))
        for key in "abcn"
        for value in "12"
        for part in [text.decode().split(FORMS[form][1].format(key=key, value=value))]
        for place in [sum(map(len, part[: n + 1])) for n in range(len(part) - 1)]
    ]
    return [element for _, element in sorted(found)]


def merged(form: str, ours: Side, theirs: Side, *, commented: bool = False) -> Outcome:
    versions = (written(form, side, commented=commented) for side in (BASE, ours, theirs))
    return merge_files(*versions, path="templates/web.yaml", line_merge=git_lines)


def arranged(order: tuple[str, ...], change: str = "", value: str = "2") -> Side:
    return {key: value if key == change else BASE[key] for key in order}


def is_lawful(ours: Side, theirs: Side, found: list[tuple[str, str]]) -> bool:
    """Whether values follow who changed them, and pairs who changed their order."""
    wanted = {}
    for key, value in BASE.items():
        mine, yours = ours.get(key), theirs.get(key)
        standing = yours if mine == value else mine
        if standing is not None:
            wanted[key] = standing
    keys = [key for key, _ in found]
    here, there = [*ours], [*theirs]
    pairs = [
        (x, y) for x, y in (("a", "b"), ("a", "c"), ("b", "c")) if {x, y} <= {*here} & {*there}
    ]
    return sorted(found) == sorted(wanted.items()) and all(
        (keys.index(x) < keys.index(y))
        == (here.index(x) < here.index(y) and there.index(x) < there.index(y))
        for x, y in pairs
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_moved_element_is_edited_and_a_deleted_one_stays_away(form: str) -> None:
    orders = [*permutations(BASE)]
    others = [arranged(tuple(BASE), key) for key in BASE]
    others += [{key: value for key, value in BASE.items() if key != gone} for gone in BASE]
    wrong = []
    for order, other in part((order, other) for order in orders for other in others):
        for sides in ((arranged(order), other), (other, arranged(order))):
            outcome = merged(form, *sides)
            if not (outcome.clean and is_lawful(*sides, read(form, outcome.text))):
                wrong.append((*sides, outcome.reason))
    assert not wrong


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("theirs", ["abcn", "acnb", "nabc"])
def test_what_both_sides_add_is_there_once(form: str, theirs: str) -> None:
    sides = ({**BASE, "n": "1"}, dict.fromkeys(theirs, "1"))
    for ours, others in (sides, sides[::-1]):
        outcome = merged(form, ours, others)
        names = [key for key, _ in read(form, outcome.text)]
        has_common_neighbour = theirs != "nabc" or "args" not in form
        assert not has_common_neighbour or (outcome.clean and sorted(names) == [*"abcn"])


@pytest.mark.parametrize("form", ["args in a block", "rendered args"])
def test_one_option_with_two_values_is_a_conflict(form: str) -> None:
    for at in range(4):
        ours = dict([*BASE.items(), ("n", "1")])
        theirs = dict([*[*BASE.items()][:at], ("n", "2"), *[*BASE.items()][at:]])
        assert not merged(form, ours, theirs).clean
        assert not merged(form, theirs, ours).clean


@pytest.mark.parametrize("form", FORMS)
def test_a_comment_goes_with_its_element(form: str) -> None:
    for order in permutations(BASE):
        sides = (arranged(order), arranged(tuple(BASE), "b"))
        for ours, theirs in (sides, sides[::-1]):
            outcome = merged(form, ours, theirs, commented=True)
            wanted = written(form, arranged(order, "b"), commented=True)
            assert outcome.text == wanted or not outcome.clean


def test_an_edit_follows_an_element_that_moved_across_its_twins() -> None:
    """Git's lines are clean: they take two names for changed, and edit the wrong element."""
    element = "    - name: {}\n      x: 1\n      y: 1\n      z: 1\n      value: 1\n"
    start, end = (
        "kind: A\nspec:\n  {{- if .x }}\n  x: 1\n  {{- end }}\n  ports:\n",
        "  z: {{ .z }}\n",
    )
    base, ours = (start + "".join(map(element.format, names)) + end for names in ("ab", "ba"))
    changed = element.format("b").replace("value: 1", "value: 2")
    theirs = base.replace(element.format("b"), changed)
    outcome = merge_files(*(one.encode() for one in (base, ours, theirs)), path="templates/a.yaml")
    assert outcome.clean
    assert changed in outcome.text.decode()
