"""M11 and M28: a change that the result of a merge does not have, whoever made the merge."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import pytest
from merges import LOSSES, Sides, merge_findings

from kmerge_git.api import merge_files
from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.merges.git_versions import GitVersions, MergeVersions
from kmerge_git.check.page_values import Plain
from kmerge_git.check.run import Run
from kmerge_git.kube.identity import identity
from kmerge_git.merge.three import Three
from kmerge_git.tree import parser
from kmerge_git.tree.documents import YamlText
from kmerge_git.verdict import losses

BASE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  paused: false
  template:
    spec:
      containers:
      - name: web
        image: web:1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: text
data:
  run: |
    one
    two
    three
    four
"""
OURS = BASE.replace("replicas: 1", "replicas: 2").replace("    one\n", "    1\n")
THEIRS = BASE.replace("web:1", "web:2").replace("    four\n", "    four\n    five\n")
THEIRS = THEIRS.replace("  paused: false\n", "")
MERGED = OURS.replace("web:1", "web:2").replace("    four\n", "    four\n    five\n")
MERGED = MERGED.replace("  paused: false\n", "")
SIDES = (BASE.encode(), OURS.encode(), THEIRS.encode())


def lost(sides: Sides, result: str, path: str = "a.yaml") -> list[tuple[str, str, str]]:
    found = merge_findings(sides, result.encode(), path, is_judged=True)
    return [(one.id, one.severity, one.message) for one in found if one.id in LOSSES]


DROPPED = [
    ("replicas: 2", "replicas: 1", "spec.replicas: ours changed it from 1 to 2, but the merge has 1"),
    ("web:2", "web:1", "theirs changed it from web:1 to web:2, but the merge has web:1"),
    ("  replicas: 2\n", "  replicas: 2\n  paused: false\n", "spec.paused: theirs deleted this, but the merge still has it"),
    ("    five\n", "", "data.run: theirs changed this text, but the merge lacks the changed line: five"),
    ("    1\n", "    one\n", "data.run: ours changed this text, but the merge lacks the changed line: 1"),
]  # fmt: skip


@pytest.mark.parametrize("new, old, said", DROPPED)
def test_a_lost_change(new: str, old: str, said: str) -> None:
    """Each of them merges clean, so nobody was asked."""
    assert MERGED.count(new) == 1
    [(id, severity, message)] = lost(SIDES, MERGED.replace(new, old))
    assert (id, severity) == ("M28", "error")
    assert message.endswith(said)


@pytest.mark.parametrize(
    "result",
    [
        MERGED,
        MERGED.replace("replicas: 2", "replicas: 3"),  # somebody decided it
        MERGED.replace("    1\n", "    1 again\n"),
        "\n---\n".join(MERGED.split("---\n")[::-1]),
        MERGED.replace("replicas: 2", "replicas: 0x2  # as it was"),
        MERGED + "# the end\n",
    ],
)
def test_nothing_is_lost(result: str) -> None:
    assert lost(SIDES, result) == []


def test_a_side_is_dropped_by_value() -> None:
    """A comment, a newline or the order of fields does not hide it."""
    for more in ("", "\n", "# merged by hand\n"):
        [(id, severity, message)] = lost(SIDES, OURS + more)
        assert (id, severity) == ("M11", "error")
        assert "both sides changed this file, but the merge has no change of theirs" in message
        assert "Deployment/web spec.paused" in message and "ConfigMap/text data.run" in message


def test_one_side_alone_changed_it() -> None:
    [(id, severity, message)] = lost((SIDES[0], SIDES[0], SIDES[2]), BASE)
    assert (id, severity) == ("M11", "error")
    assert message.startswith(
        "only theirs changed this file, but the merge has no change of theirs"
    )
    assert lost((SIDES[0], SIDES[0], SIDES[2]), THEIRS) == []


def test_what_was_in_conflict_is_a_warning() -> None:
    """A person had the whole text before the eyes."""
    ours = BASE.replace("    two\n", "    2\n").replace("replicas: 1", "replicas: 2")
    theirs = BASE.replace("    two\n    three\n", "    II\n    III\n").replace("web:1", "web:2")
    result = ours.replace("web:1", "web:2")
    [(id, severity, message)] = lost((SIDES[0], ours.encode(), theirs.encode()), result)
    assert (id, severity) == ("M28", "warning")
    assert message.endswith("theirs changed this text, but the merge lacks the changed line: II")


def test_both_made_the_same_change() -> None:
    both = BASE.replace("replicas: 1", "replicas: 2")
    sides = (SIDES[0], both.encode(), both.replace("web:1", "web:2").encode())
    [(id, _, message)] = lost(sides, BASE.replace("web:1", "web:2"))
    assert (id, "both sides changed it from 1 to 2, but the merge has 1" in message) == (
        "M28",
        True,
    )


def test_many_lost_changes_are_counted() -> None:
    base = "".join(f"k{n}: a\n" for n in range(60)) + "end: 1\n"
    theirs = base.replace(": a", ": b").replace("end: 1", "end: 2")
    sides = (base.encode(), base.replace("end: 1", "end: 2").encode() + b"x: 1\n", theirs.encode())
    found = lost(sides, base.replace("end: 1", "end: 2").replace("k0: a", "k0: b") + "x: 1\n")
    assert {id for id, _, _ in found} == {"M28"}
    assert len(found) < 60 and any("more lost changes" in message for _, _, message in found)


TEMPLATE = (
    "kind: A\nmetadata:\n  name: {{ .Values.name }}\nspec:\n  a: 1\n  b: {{ .Values.b }}\n  c: 1\n"
)


def test_in_a_template() -> None:
    ours = TEMPLATE.replace("a: 1", "a: {{ .Values.a }}").replace("kind: A", "kind: A\nx: 1")
    theirs = TEMPLATE.replace("c: 1", "c: 2").replace("  b:", "  new: 1\n  b:")
    merged = ours.replace("c: 1", "c: 2").replace("  b:", "  new: 1\n  b:")
    sides = (TEMPLATE.encode(), ours.encode(), theirs.encode())
    path = "web/templates/a.yaml"
    assert lost(sides, merged, path) == []
    for new, old in (("c: 2", "c: 1"), ("  new: 1\n", ""), ("a: {{ .Values.a }}", "a: 1")):
        [(id, severity, _)] = lost(sides, merged.replace(new, old), path)
        assert (id, severity) == ("M28", "error")
    [(id, severity, _)] = lost(sides, ours, path)
    assert (id, severity) == ("M11", "error")


def test_the_order_of_documents() -> None:
    """Ours moved one, theirs changed something else, and the merge has the old order."""
    names = "abc"
    one, two, three = (f"kind: A\nmetadata:\n  name: {name}\nx: 1\n" for name in names)
    base = "---\n".join((one, two, three))
    ours = "---\n".join((three, one, two))
    theirs = base.replace("name: b\nx: 1", "name: b\nx: 2")
    sides = (base.encode(), ours.encode(), theirs.encode())
    kept = ours.replace("name: b\nx: 1", "name: b\nx: 2")
    assert lost(sides, kept) == []
    [(id, severity, message)] = lost(sides, theirs)
    assert (id, severity, message) == (
        "M28",
        "warning",
        "A/c is after A/a, but before it on one side of the merge",
    )


def test_what_a_person_renamed_is_not_lost() -> None:
    """Both sides changed the container and its list; the merge gave them other names."""
    ours = BASE.replace("web:1", "web:1\n        args: [ours]")
    theirs = BASE.replace("web:1", "web:2")
    sides = (SIDES[0], ours.encode(), theirs.encode())
    result = ours.replace("web:1", "web:2")
    assert lost(sides, result.replace("- name: web\n", "- name: front\n")) == []
    base = "bases:\n- a\n- b\nx: 1\n"
    named = (
        base.encode(),
        base.replace("- b", "- b\n- c").encode(),
        base.replace("x: 1", "x: 2").encode(),
    )
    assert lost(named, "resources:\n- a\n- b\n- c\nx: 2\n", "kustomization.yaml") == []


def test_an_element_without_a_key_is_lost() -> None:
    """Theirs changed it, and the merge has neither version of it."""
    base = "rules:\n- verbs: [get]\n  on: [a]\n- verbs: [list]\n  on: [b]\n- verbs: [x]\n  on: [c]\nend: 1\n"
    sides = (
        base.encode(),
        base.replace("end: 1", "end: 2").encode(),
        base.replace("on: [b]", "on: [b, d]").encode(),
    )
    result = base.replace("end: 1", "end: 2").replace("- verbs: [list]\n  on: [b]\n", "")
    assert [one.id for one in merge_findings(sides, result.encode(), is_judged=True)] == ["M21"]


def test_two_versions_of_one_new_thing_are_a_choice() -> None:
    """Kmerge keeps both of a list without keys, and of a new file: a person keeps one of them."""
    base = "rules:\n- verbs: [get]\n  on: [a]\nend: 1\n"
    ours = base.replace("end", "- verbs: [list]\n  on: [b]\nend")
    theirs = base.replace("end", "- verbs: [list, get]\n  on: [b, c]\nend")
    sides = (base.encode(), ours.encode(), theirs.encode())
    assert [(id, severity) for id, severity, _ in lost(sides, theirs)] == [("M11", "warning")]
    new = (b"", b"a: 1\nb: 1\n", b"a: 1\nc: 1\n")
    assert [(id, severity) for id, severity, _ in lost(new, "a: 1\nc: 1\n")] == [("M11", "warning")]
    far = "".join(f"k{n}: 1\n" for n in range(9))  # git's lines have both changes
    apart = (base + far, ours + far, base + far.replace("k8: 1", "k8: 2"))
    result = base + far.replace("k8: 1", "k8: 2")
    one, two, three = (text.encode() for text in apart)
    assert [severity for _, severity, _ in lost((one, two, three), result)] == ["error"]


def test_a_side_of_which_the_merge_has_a_line_is_not_dropped() -> None:
    """Its changes are gone, but not the comment; M28 names them."""
    theirs = THEIRS.replace("  replicas", "  # theirs\n  replicas")
    sides = (SIDES[0], SIDES[1], theirs.encode())
    found = lost(sides, OURS.replace("  replicas", "  # theirs\n  replicas"))
    assert {id for id, _, _ in found} == {"M28"} and len(found) > 1


def test_no_placeholder_of_a_template_is_printed() -> None:
    base = TEMPLATE + "  list:\n  - name: {{ .Values.name }}-a\n    x: 1\n    y: 1\n"
    ours = base.replace("    x: 1", "    x: 2")
    theirs = base.replace("    y: 1", "    y: 2")
    sides = (base.encode(), ours.encode(), theirs.encode())
    result = ours.replace("  a: 1", "  a: 3")
    found = lost(sides, result, "web/templates/a.yaml")
    assert found and all("kmTpl" not in message for _, _, message in found)
    assert "{{ .Values.name }}-a" in found[0][2]


def test_one_of_two_elements_without_keys_is_kept() -> None:
    """Kmerge keeps both, and git's lines are in conflict."""
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n"
    rule = "- apiGroups: ['']\n  resources: [{}]\n  verbs: [get]\n"
    base = f"{head}rules:\n{rule.format('pods')}"
    ours, theirs = (base + rule.format(name) for name in ("secrets", "services"))
    sides = (base.encode(), ours.encode(), theirs.encode())
    assert merge_files(*sides, path="a.yaml").clean
    assert [(id, severity) for id, severity, _ in lost(sides, theirs)] == [("M11", "warning")]


def test_a_changed_element_without_a_key_that_is_gone() -> None:
    base = "dependencies:\n- a=1\n- b=1\n- c=1\n- d=1\nx: 1\n"
    theirs = base.replace("b=1", "b=2").replace("d=1", "d=2")
    sides = (base.encode(), base.replace("x: 1", "x: 2").encode(), theirs.encode())
    result = theirs.replace("x: 1", "x: 2").replace("- b=2\n", "")
    found = lost(sides, result)
    assert [(id, message.partition(": ")[0]) for id, _, message in found] == [
        ("M28", "dependencies[1]")
    ]


def test_each_version_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks read the result as values, and the judge reads all versions as nodes."""
    texts: list[str] = []
    real = parser.compose
    monkeypatch.setattr(parser, "compose", lambda text: texts.append(text) or real(text))
    base, ours, theirs = (f"a: {a}\nb: {b}\n" for a, b in ((1, 1), (2, 1), (1, 2)))
    merge = MergeVersions(
        Three(base.encode(), ours.encode(), theirs.encode()), None, gravest=lambda: "warning"
    )
    run = Run(nowhere(), versions=lambda path: GitVersions(merge=lambda: merge))
    assert [one.id for one in run.file("a.yaml", ours.encode())] == ["M11"]
    assert Counter(texts) == {ours: 2, base: 1, theirs: 1}


def findings_of(merge: MergeVersions, result: str) -> list[tuple[str, str]]:
    run = Run(nowhere(), versions=lambda path: GitVersions(merge=lambda: merge))
    return [(one.id, one.message) for one in run.file("a.yaml", result.encode())]


def test_a_side_whose_resource_is_in_another_file_is_not_dropped() -> None:
    """The file is ours, byte for byte, and still the merge lost a change of ours.

    Every line is in every version, so no line shows that the file has the other change of ours.
    """
    one, two = (f"---\nkind: A\nmetadata:\n  name: {name}\nx: 1\ny: 1\n" for name in "ab")
    one += "w: {}\nz:\n  name: b\n  x: 2\n  y: 2\nv:\n  x: 1\n  y: 1\n"
    ours, theirs = (one.replace(f"\n{old}: 1", f"\n{old}: 2", 1) for old in "xy")
    gained = {identity(root): root for root in YamlText(two.encode()).roots}
    three = Three(*(text.encode() for text in (one + two, ours, theirs + two)))
    merge = MergeVersions(three, None, gained=gained.get, gravest=lambda: "warning")
    kept, lost = findings_of(merge, ours)
    assert kept[0] == "M11" and "no change of theirs; lost: A/a y" in kept[1]
    assert lost == ("M28", "A/b: ours deleted this, but the merge still has it")


def test_only_the_versions_are_in_memory_when_they_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: list[int] = []
    real = losses.judged

    def judged(*args: Any, **more: Any) -> list[losses.Judged]:
        alive.append(sum(isinstance(one, Plain) for one in gc.get_objects()))
        return real(*args, **more)

    monkeypatch.setattr(losses, "judged", judged)
    gc.collect()
    before = sum(isinstance(one, Plain) for one in gc.get_objects())
    merge = MergeVersions(Three(b"a: 1\nb: 1\n", b"a: 2\nb: 1\n", b"a: 1\nb: 2\n"), None)
    assert [id for id, _ in findings_of(merge, "a: 2\nb: 1\n")] == ["M11"]
    assert alive == [before]
