"""Which lines of a merged template are judged, and that nothing else can be damaged by a merge."""

from __future__ import annotations

import pytest
from template_texts import parse

from kmerge_git.merge.three import Three
from kmerge_git.template import template_damage
from kmerge_git.template.template_damage import new_damage
from kmerge_git.template.template_parser import Block, Template
from kmerge_git.template.touched_lines import cut_down

TEXT = """\
apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 1
  strategy:
    type: Recreate
  {{- if .Values.probes }}
  probes:
    live: /live
    {{- if .Values.ready }}
    ready:
      path: /ready
    {{- end }}
  {{- end }}
  ports:
  - port: 80
    protocol: UDP
    target:
      name: a
  {{- if .Values.sctp }}
  - port: 80
    protocol: SCTP
  {{- end }}
  text: |
    one
    two
---
kind: Service
metadata:
  name: other
spec:
  type: ClusterIP
"""


def left(ours: str, theirs: str, result: str) -> str:
    parts = cut_down(Template(result), [Template(ours), Template(theirs)])
    return "".join(shown(part) for part in parts)


def shown(part) -> str:
    if not isinstance(part, Block):
        return part.text
    arms = [arm.header + "".join(map(shown, arm.parts)) for arm in part.arms]
    return "".join((*arms, part.ending))


def test_the_fields_beside_a_change() -> None:
    ours = TEXT.replace("  replicas: 1\n", "  replicas: 2\n")
    expected = """\
apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
spec:
  replicas: 2
  strategy:
  {{- if .Values.probes }}
  probes:
  {{- end }}
  ports:
  text: |
---
kind: Service
metadata:
  name: other
spec:
"""
    assert left(ours, TEXT, ours) == expected


def test_all_elements_beside_a_change() -> None:
    theirs = TEXT.replace("  - port: 80\n    protocol: UDP\n", "  - port: 81\n    protocol: UDP\n")
    said = left(TEXT, theirs, theirs)
    assert "  - port: 81\n    protocol: UDP\n    target:\n      name: a\n" in said
    assert "  {{- if .Values.sctp }}\n  - port: 80\n    protocol: SCTP\n  {{- end }}\n" in said
    assert "ready:" not in said


def test_what_both_sides_took_away() -> None:
    """Neither side has a new line, and the default of both is TCP."""
    udp, sctp = "    protocol: UDP\n", "    protocol: SCTP\n"
    result = TEXT.replace(udp, "").replace(sctp, "")
    found = damage(Three(TEXT, TEXT.replace(udp, ""), TEXT.replace(sctp, "")), result)
    assert [d.what for d in found] == ["duplicate list element: Service web spec.ports 80, TCP"]


@pytest.mark.parametrize(
    "above", ["  ready: 1\n", "  {{- if .Values.x }}\n  live: 1\n  {{- end }}\n"]
)
def test_a_block_that_comes_below_another_line(above: str) -> None:
    """One side takes the line above the block away, the other adds a field before it."""
    ours = TEXT.replace("  probes:\n", "").replace("    live: /live\n", "    x: 1\n")
    theirs = TEXT.replace(
        "  {{- if .Values.probes }}\n", f"{above}  {{{{- if .Values.probes }}}}\n"
    )
    result = ours.replace(
        "  {{- if .Values.probes }}\n", f"{above}  {{{{- if .Values.probes }}}}\n"
    )
    damage(Three(TEXT, ours, theirs), result)


def damage(texts: Three[str], result: str) -> list[template_damage.Damage]:
    """The damage, which is the same if all lines are judged."""
    at, made = texts.map(Template), Template(result)
    found = new_damage(made, at, "web.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template_damage, "cut_down", lambda result, sides: result.parts)
        everything = new_damage(made, at, "web.yaml")
    assert [d.why for d in found] == [d.why for d in everything]
    return found


def test_a_repeated_line_is_another_line() -> None:
    text = "a:\n- b\n- b\n- c:\n    d: 1\n"
    assert left(text, text, text) == "a:\n"
    assert len(parse(text)) == 5
    assert left(text.replace("- b\n", "", 1), text, text) == "a:\n- b\n- b\n- c:\n    d: 1\n"
