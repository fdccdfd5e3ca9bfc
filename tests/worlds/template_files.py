"""The small templates whose merges are the world: each has one or two traps in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from worlds.template_model import Node

CHART = "charts/x/templates/"


@dataclass(frozen=True)
class File:
    """A template, and where it stands."""

    root: Node
    path: str = CHART + "a.yaml"
    holds: str = "docs"  # or `defines`, or `lines`


def entry(name: str, value: str = "", *inside: Node) -> Node:
    """`name: value`, or `name:` over others."""
    return Node("", "entry", name, value, children=inside)


def several(name: str, *items: Node) -> Node:
    """A list."""
    return Node("", "list", name, children=items)


def keyed(name: str, *inside: Node) -> Node:
    """An element with a name."""
    return Node("", "item", name, "keyed", children=inside)


def plain(text: str) -> Node:
    """An element that is a scalar."""
    return Node("", "item", text)


def scalar(name: str, *lines: str | Node) -> Node:
    """A block scalar."""
    return Node("", "scalar", name, children=tuple(map(_line, lines)))


def output(name: str, value: str = "") -> Node:
    """A line that is nothing but an output."""
    return Node("", "output", name, value)


def assign(name: str, value: str) -> Node:
    """An assignment."""
    return Node("", "assign", name, value)


def comment(text: str, value: str = "") -> Node:
    """A comment, of YAML or of the template."""
    return Node("", "comment", text, value)


def raw(*lines: str) -> tuple[Node, ...]:
    """Lines that no edit touches."""
    return tuple(Node("", "raw", line) for line in lines)


def block(header: str, *inside: Node, more: tuple[tuple[str, Node], ...] = ()) -> Node:
    """A block, with one node in each further arm."""
    arms = [Node("", "arm", header, children=inside)]
    arms += [Node("", "arm", other, children=(node,)) for other, node in more]
    return Node("", "block", header.split(maxsplit=1)[0], children=tuple(arms))


def doc(kind: str, name: str, *inside: Node) -> Node:
    """A document with a name; without a kind it is what stands in it."""
    return Node("", "doc", name, kind, children=inside)


def file(*inside: Node, path: str = "a.yaml", holds: str = "docs") -> File:
    """A file whose nodes know who they are."""
    return File(_numbered(Node("", "file", children=inside)), CHART + path, holds)


def _line(text: str | Node) -> Node:
    return text if isinstance(text, Node) else Node("", "line", text)


def _numbered(root: Node) -> Node:
    numbers = count()

    def known(node: Node) -> Node:
        who = str(next(numbers))
        return replace(node, who=who, children=tuple(map(known, node.children)))

    return known(root)


def _map(*inside: Node) -> Node:
    """A document without a name of its own, that is not edited itself."""
    return doc("", "", *inside)


_ON, _TEAM = "if .Values.base", "if .Values.team"
FILES: dict[str, File] = {
    "labels": file(
        _map(
            *raw("apiVersion: v1", "kind: ConfigMap", "metadata:", "  name: web", "  namespace: x"),
            entry(
                "data",
                "",
                output('include "app.data" . | nindent N'),
                entry("tier", "web"),
                block(_TEAM, entry("team", "{{ .Values.team }}")),
                entry("level", "info"),
            ),
        ),
    ),
    "arms": file(
        doc(
            "ConfigMap",
            "web",
            entry(
                "data",
                "",
                block(
                    _ON,
                    entry("mode", "one"),
                    more=(
                        ("else if .Values.two", entry("mode", "two")),
                        ("else", entry("mode", "three")),
                    ),
                ),
                entry("level", "info"),
            ),
        ),
    ),
    "env": file(
        _map(
            *raw("apiVersion: v1", "kind: Pod", "metadata:", "  name: web", "spec:"),
            *raw("  containers:", "    - name: app"),
            Node(
                "",
                "shift",
                value="6",
                children=(
                    entry("image", "{{ .Values.image }}"),
                    several(
                        "env",
                        keyed("A", entry("value", "a")),
                        block(_ON, keyed("B", entry("value", "{{ .Values.b }}"))),
                        output("toYaml .Values.env | nindent N"),
                    ),
                ),
            ),
        ),
    ),
    "args": file(
        _map(
            *raw("apiVersion: v1", "kind: Pod", "metadata:", "  name: web", "spec:"),
            *raw("  containers:", "    - name: app"),
            Node(
                "",
                "shift",
                value="6",
                children=(
                    several(
                        "args", plain("--a"), plain("--b={{ .Values.b }}"), block(_ON, plain("--c"))
                    ),
                    entry("tty", "true"),
                ),
            ),
        ),
    ),
    "whole": file(
        block(
            _ON,
            doc(
                "ConfigMap",
                '{{ include "app.name" . }}',
                entry("data", "", entry("level", "info"), block(_TEAM, entry("team", "a"))),
            ),
        ),
    ),
    "documents": file(
        doc("ConfigMap", "one", entry("data", "", entry("a", "of-one"), entry("b", "of-one"))),
        block(
            _ON, doc("ConfigMap", "two", entry("data", "", entry("a", "of-two"), entry("b", "2")))
        ),
        doc("Secret", "three", entry("type", "Opaque"), entry("immutable", "true")),
    ),
    "helpers": file(
        comment("Names of this chart", "action"),
        block(
            'define "app.name"',
            Node("", "line", "{{- .Chart.Name | trunc 63 }}"),
            Node("", "line", "of: name"),
        ),
        block(
            'define "app.labels"',
            Node("", "line", 'app: {{ include "app.name" . }}'),
            block(_TEAM, Node("", "line", "team: {{ .Values.team }}")),
            Node("", "line", "part-of: web"),
        ),
        path="_helpers.tpl",
        holds="defines",
    ),
    "notes": file(
        Node("", "line", "Thank you for installing {{ .Chart.Name }}."),
        block(
            _ON,
            Node("", "line", "  It is on: {{ .Values.base }}"),
            Node("", "line", "  See also: the docs"),
            more=(("else", Node("", "line", "  It is off.")),),
        ),
        Node("", "line", "Good luck"),
        path="NOTES.txt",
        holds="lines",
    ),
    "scalar": file(
        doc(
            "ConfigMap",
            "web",
            entry(
                "data",
                "",
                scalar(
                    "app.conf",
                    "level = {{ .Values.level }}",
                    block(_ON, Node("", "line", "mode = on")),
                    "last = line",
                ),
                entry("other", "value"),
            ),
        ),
    ),
    "with": file(
        doc(
            "Deployment",
            "web",
            entry(
                "spec",
                "",
                block(
                    "with .Values.affinity",
                    entry("affinity", "", output("toYaml . | nindent N")),
                ),
                entry("replicas", "{{ .Values.replicas }}"),
                entry("selector", "", output('include "app.selector" . | nindent N')),
                block(_ON, entry("paused", "true")),
            ),
        ),
    ),
    "children": file(
        doc(
            "ConfigMap",
            "web",
            entry(
                "data",
                '{{- include "app.data" . | nindent 2 }}',
                entry("tier", "web"),
                entry("level", "info"),
            ),
            entry("immutable", "true"),
        ),
    ),
    "assigned": file(
        assign("$full", 'include "app.name" .'),
        doc(
            "Service",
            "{{ $full }}",
            entry(
                "spec",
                "",
                several(
                    "ports",
                    keyed("http", assign("$port", "80"), entry("port", "{{ $port }}")),
                    block(
                        "range .Values.ports", keyed("{{ .name }}", entry("port", "{{ .port }}"))
                    ),
                ),
                entry("type", "ClusterIP"),
            ),
        ),
    ),
    "nested": file(
        doc(
            "ConfigMap",
            "web",
            entry(
                "data",
                "",
                block(
                    _ON,
                    entry("a", "1"),
                    block(_TEAM, entry("team", "{{ .Values.team }}"), entry("of", "2")),
                    entry("b", "3"),
                ),
            ),
        ),
    ),
    "behind": file(
        doc(
            "Pod",
            "web",
            entry(
                "spec",
                "",
                several(
                    "tolerations",
                    block(_ON, keyed("one", entry("operator", "Exists"))),
                    block("if .Values.other", keyed("two", entry("operator", "Equal"))),
                ),
                entry("hostIPC", "false"),
            ),
        ),
    ),
    "flow": file(
        doc(
            "ConfigMap",
            "web",
            Node(
                "",
                "flow",
                "ports",
                children=(_line('"a",'), block(_ON, _line('"b",')), _line('"c",')),
            ),
            entry("last", "x"),
        ),
    ),
    "comments": file(
        doc(
            "ConfigMap",
            "web",
            entry(
                "data",
                "",
                comment("of a"),
                entry("a", "1"),
                comment("of the team", "action"),
                block(_TEAM, comment("the name"), entry("team", "{{ .Values.team }}")),
                entry("b", "2"),
            ),
        ),
    ),
    "indented": file(
        doc(
            "ConfigMap",
            "web",
            entry("data", "", output('include "app.data" . | nindent N', "indent")),
            block(_ON, entry("more", "", entry("k", "v"), entry("l", "w"))),
            entry("last", "x"),
        ),
    ),
    "blanks": file(
        _map(
            *raw("apiVersion: v1", "kind: ConfigMap", "metadata:", "  name: web", ""),
            entry("data", "", entry("a", "1"), entry("b", "2")),
            *raw(""),
            block(_ON, entry("more", "", entry("k", "v"))),
            *raw(""),
            entry("last", "x"),
        ),
    ),
}
