"""Conflicts in each place of small templates, and what is broken in a file with answers.

The truth comes from the text alone: every way through the blocks is read as YAML.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import yaml
from worlds.template_readings import LOADER, broken, renderings

PATH = "charts/web/templates/web.yaml"
HEAD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
# `@` is a place of a conflict, at the column where its lines stand
MAPS = {
    "a map": "  before: 1\n  @\n  after: 1\n",
    "in an if": "  {{- if .Values.a }}\n  @\n  {{- end }}\n  after: 1\n",
    "in an if, last": "  before: 1\n  {{- if .Values.a }}\n  inner: 1\n  @\n  {{- end }}\n",
    "in an else": "  {{- if .Values.a }}\n  image: x\n  {{- else }}\n  @\n  {{- end }}\n  z: 1\n",
    "in an else if": "  {{- if .Values.a }}\n  image: x\n  {{- else if .Values.b }}\n  @\n"
    "  {{- else }}\n  image: y\n  {{- end }}\n",
    "in a with": "  {{- with .Values.a }}\n  @\n  of: {{ . }}\n  {{- end }}\n",
    "in a range": "  all:\n  {{- range .Values.all }}\n  - name: {{ .name }}\n    @\n  {{- end }}\n",
    "in two blocks": "  {{- if .Values.a }}\n  {{- with .Values.b }}\n  @\n  {{- end }}\n"
    "  x: 1\n  {{- end }}\n",
    "beside another condition": "  {{- if .Values.a }}\n  x: 1\n  {{- else }}\n  image: x\n"
    "  {{- end }}\n  {{- if .Values.b }}\n  @\n  {{- else }}\n  y: 1\n  {{- end }}\n",
    "in a container": "  containers:\n  - name: web\n    {{- if .Values.a }}\n    @\n"
    "    {{- end }}\n    tty: true\n",
    "at the margin": "  before: 1\n{{ if .Values.a }}\n  @\n{{ end }}\n  after: 1\n",
}
LISTS = {
    "a list": "  containers:\n  - name: first\n  @\n  - name: last\n",
    "a list in an if": "  containers:\n  - name: first\n  {{- if .Values.a }}\n  @\n  {{- end }}\n",
    "a list in an else": "  containers:\n  {{- if .Values.a }}\n  - name: web\n  {{- else }}\n  @\n"
    "  {{- end }}\n",
    "a list in a range": "  containers:\n  {{- range .Values.all }}\n  @\n  {{- end }}\n",
}
# the lines of base, ours and theirs in one place
FIELDS = {
    "a value": ("image: a", "image: b", "image: c"),
    "a new key": ("", "image: b", "image: c"),
    "new keys": ("", "left: 1", "right: 2"),
    "more keys": ("image: a", "image: b\nleft: 1", "image: c"),
    "deleted": ("image: a", "", "image: c"),
    "wrapped": (
        "image: a",
        "{{- if .Values.n }}\nimage: a\n{{- end }}",
        "image: c",
    ),
    "wrapped twice": (
        "image: a",
        "{{- if .Values.n }}\nimage: b\n{{- end }}",
        "{{- if .Values.m }}\nimage: c\n{{- end }}",
    ),
    "in contrary branches": (
        "",
        "{{- if .Values.n }}\nimage: b\n{{- end }}",
        "{{- if not .Values.n }}\nimage: c\n{{- end }}",
    ),
    "with an else": (
        "image: a",
        "{{- if .Values.n }}\nimage: b\n{{- else }}\nleft: 1\n{{- end }}",
        "{{- if .Values.m }}\nright: 1\n{{- else }}\nimage: c\n{{- end }}",
    ),
    "in a with": ("", "{{- with .Values.n }}\nimage: {{ . }}\n{{- end }}", "image: c"),
    "a branch ends": ("image: a", "image: b\n{{- end }}\n{{- if .Values.n }}", "image: c"),
    "a map": ("", "labels:\n  app: x", "labels:\n  tier: y"),
}
ELEMENTS = {
    "an element": ("", "- name: web\n  image: b", "- name: web\n  image: c"),
    "two elements": ("", "- name: left\n  image: b", "- name: right\n  image: c"),
    "a field of an element": (
        "- name: app\n  image: a",
        "- name: app\n  image: b",
        "- name: app\n  image: c",
    ),
    "a wrapped element": (
        "- name: app\n  image: a",
        "{{- if .Values.n }}\n- name: app\n  image: a\n{{- end }}",
        "- name: app\n  image: c",
    ),
}
OWN = ("image: own", "image: own\nimage: own", "{{- if .Values.own }}", "own: 1")
TWO = (  # two places in one file: what is sound in each may be broken together
    HEAD + "  {{- if .Values.a }}\n  @\n  one: 1\n  two: 1\n  three: 1\n  four: 1\n"
    "  five: 1\n  @\n  {{- end }}\n"
)


@dataclass(frozen=True)
class Case:
    """A merge in which both sides change the same place or places."""

    name: str
    base: str
    ours: str
    theirs: str

    @property
    def texts(self) -> tuple[bytes, bytes, bytes]:
        """The three versions."""
        return self.base.encode(), self.ours.encode(), self.theirs.encode()

    def faults(self, text: bytes) -> set[str]:
        """What is broken in a result, and on neither side."""
        return _faults(text.decode()) - _faults(self.ours) - _faults(self.theirs)


def cases() -> Iterator[Case]:
    """Every conflict in every place, and every pair of conflicts in the two places of one file."""
    for places, changes in ((MAPS, FIELDS), (LISTS, ELEMENTS)):
        for (place, text), (change, lines) in product(places.items(), changes.items()):
            if "{{" in text or "{{- end }}\n{{-" not in lines[1]:
                yield Case(f"{change} / {place}", *(_filled(HEAD + text, one) for one in lines))
    for (one, first), (other, second) in product(FIELDS.items(), repeat=2):
        versions = (_filled(TWO, *lines) for lines in zip(first, second, strict=True))
        yield Case(f"{one} / {other}", *versions)


def _filled(text: str, *lines: str) -> str:
    """The template with lines at the column of each place."""
    parts = text.split("@\n")
    made = parts[0]
    for own, after in zip(lines, parts[1:], strict=True):
        head, _, pad = made.rpartition("\n")
        made = f"{head}\n" + "".join(f"{pad}{line}\n" for line in own.split("\n") if line) + after
    return made


def _faults(text: str) -> set[str]:
    """What is broken in some rendering: the YAML, or a key, an element or a resource twice."""
    found = broken(text, PATH)
    if not any(fault.startswith(("an ", "no end", "does not parse")) for fault in found):
        for made in renderings(text):
            for node in yaml.compose_all(made, LOADER):
                found |= set(_elements_twice(node, ""))
    return found


def _elements_twice(node: yaml.Node | None, path: str) -> Iterator[str]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _elements_twice(value, f"{path}/{key.value}")
    elif isinstance(node, yaml.SequenceNode):
        names = [value.value for child in node.value for key, value in child.value
                 if key.value == "name"]  # fmt: skip
        yield from (f"{path} {name} twice" for name in names if names.count(name) > 1)
        for child in node.value:
            yield from _elements_twice(child, f"{path}/-")
