"""What the labels of conflicts say, and that they say the same from either side."""

from __future__ import annotations

import re

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.plan import Why
from kmerge_git.merge.write.labels import label as label_of
from kmerge_git.outcome import Conflict, Outcome

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: {n}
  template:
    spec:
      containers:
      - name: app
        image: {image}
        args: [-v]
      - name: side
        image: side:1
"""
OTHER = "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: other\n"


def web(name: str = "web", n: int = 1, image: str = "app:1") -> str:
    return WEB.format(name=name, n=n, image=image) + OTHER


def element(key: str, **fields: object) -> str:
    lines = [f"  - {key}", *(f"    {name}: {value}" for name, value in fields.items())]
    return "\n".join(lines) + "\n"


def pod(*elements: str, field: str = "tolerations") -> str:
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n"
    return head + (f"  {field}:\n" + "".join(elements) if elements else "  x: 1\n")


def new(namespace: str = "", version: str = "v1", kind: str = "ConfigMap") -> str:
    """A resource of a new file; another one has next to nothing in common with it."""
    place = f"  namespace: {namespace}\n" if namespace else ""
    data = "".join(f"  {namespace}{version[0]}{n}: {n}\n" for n in range(20))
    return f"apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: app\n{place}data:\n{data}"


BOX = "a:\n  web:\n    image: x\n    port: 1\n    size: 2\n    mode: z\n"
CHANNELS = "channels:\n- name: '{}'\n  csv: {}\nlast: 1\n"

SAID = {
    # changed and taken away
    "a document": (
        web(),
        OTHER,
        web(n=2, image="app:2"),
        "Deployment/web: deleted in ours, 2 of 14 lines changed in theirs: "
        "spec.replicas, spec.template.spec.containers[name=app].image",
    ),
    "an element": (
        pod(element("name: app", image=1, tty=1), element("name: b"), field="containers"),
        pod(element("name: b"), field="containers"),
        pod(element("name: app", image=2, tty=1), element("name: b"), field="containers"),
        "Pod/p spec.containers[name=app]: deleted in ours, 1 of 3 lines changed in theirs: image",
    ),
    "an entry": (
        BOX + "b: 1\n",
        "b: 1\n",
        BOX.replace("x", "y") + "b: 1\n",
        "a: deleted in ours, 1 of 6 lines changed in theirs: web.image",
    ),
    "many fields": (
        "a: {b: 1}\nm:\n  a: 1\n  b: 1\n  c: 1\n  d: 1\n  e: 1\n",
        "a: {b: 1}\n",
        "a: {b: 1}\nm:\n  a: 2\n  b: 2\n  c: 2\n  d: 2\n  e: 2\n  f: 2\n",
        "m: deleted in ours, 6 of 7 lines changed in theirs: a, b, c and 3 more",
    ),
    "one line": ("a: 1\nb: 1\n", "a: 1\n", "a: 1\nb: 2\n", f"b: {Why.OURS_GONE}"),
    "comments alone": (
        "a: 1\nm:\n  x: 1\n  y: 1\n",
        "a: 1\n",
        "a: 1\nm:\n  x: 1 # why\n  y: 1\n",
        "m: deleted in ours, 1 of 3 lines changed in theirs: comments only",
    ),
    "the last one of a list without keys": (
        "l:\n- a\n- b\n",
        "l:\n- a\n",
        "l:\n- a\n- c\n",
        f"l[1]: {Why.OURS_GONE}",
    ),
    "two lines": (
        "a: 1\nm:\n  x: 1\n",
        "a: 1\n",
        "a: 1\nm:\n  x: 2\n",
        "m: deleted in ours, 1 of 2 lines changed in theirs: x",
    ),
    # renamed and moved
    "a moved document": (
        web() + "---\nlast: 1\n",
        OTHER + "---\n" + web(n=2).removesuffix(OTHER) + "---\nlast: 1\n",
        OTHER + "---\nlast: 1\n",
        "Deployment/web: deleted in theirs, moved in ours",
    ),
    "a moved element without keys": (
        "l: [a, a, b]\n",
        "l: [a, b, a]\n",
        "l: [a, b]\n",
        "l: deleted in theirs, moved in ours",
    ),
    "a renamed entry": (
        BOX,
        BOX.replace("web", "app"),
        "a:\n  q: 1\n",
        "a.web: deleted in theirs, renamed to `app` in ours",
    ),
    "a renamed document": (
        web(),
        web("app"),
        OTHER,
        "Deployment/app: deleted in theirs, renamed from `web` in ours",
    ),
    "renamed and edited": (
        BOX,
        BOX.replace("web", "app").replace("x", "y"),
        "a:\n  q: 1\n",
        "a.web: deleted in theirs, renamed to `app` in ours (2 of 5 lines changed): image",
    ),
    "two names for an entry": (
        BOX,
        BOX.replace("web", "app"),
        BOX.replace("web", "main"),
        "a.web: renamed from `web` to `app` in ours, to `main` in theirs",
    ),
    "two names for a resource": (
        web(),
        web("app"),
        web("main"),
        "Deployment/web metadata.name: renamed from `web` to `app` in ours, to `main` in theirs",
    ),
    "replaced": (
        CHANNELS.format("4.7", "x"),
        CHANNELS.format("tech", "y"),
        CHANNELS.format("5.2", "z"),
        "channels[name=4.7]: replaced by `tech` in ours, by `5.2` in theirs",
    ),
    "both put something new there": (
        "old:\n- target: {k: S, n: o}\n  path: p\n  g: g\n",
        "new:\n- target: {k: S, n: o}\n  path: p\n  g: g\n  h: h\n",
        "new:\n- path: q\n",
        "old: `old` replaced by `new` on both sides, with different content",
    ),
    # elements without keys
    "a run with names": (
        pod(element("key: a", operator="Exists")),
        pod(element("key: a", operator="Exists"), element("key: spot"), element("key: b")),
        pod(element("key: a", operator="Exists"), element("key: gpu")),
        f"Pod/p spec.tolerations[1-2] (spot, b in ours, gpu in theirs): {Why.BOTH_ADD_HERE}",
    ),
    "hosts are names": (
        "rules:\n- host: a\n  http: {x: 1}\n",
        "rules:\n- host: a\n  http: {x: 1}\n- host: b\n  http: {x: 1}\n",
        "rules:\n- host: a\n  http: {x: 1}\n- host: c\n  http: {x: 1}\n",
        f"rules[1] (b in ours, c in theirs): {Why.BOTH_ADD_HERE}",
    ),
    "names that both have": (
        pod(element("key: a", operator="Exists")),
        pod(element("key: a", operator="Exists"), element("key: spot"), element("key: b")),
        pod(element("key: a", operator="Exists"), element("key: b"), element("key: gpu")),
        f"Pod/p spec.tolerations[1-2] (b, gpu, spot): {Why.BOTH_ADD_HERE}",
    ),
    "a member of a set": (
        "resources:\n- a.yaml\n# why\n- b.yaml\n",
        "resources:\n- a.yaml\n",
        "resources:\n- a.yaml\n# another\n# reason\n- b.yaml\n",
        "resources[] (b.yaml): deleted in ours, 2 of 3 lines changed in theirs: comments only",
    ),
    "a run without names": (
        "a: [x]\n",
        "a: [x, p, q]\n",
        "a: [x, r]\n",
        f"a[1-2]: {Why.BOTH_ADD_HERE}",
    ),
    # new files
    "namespaces": (
        "",
        new("a"),
        new("b"),
        f"ConfigMap/app: {Why.BOTH_ADDED}, in namespace `a` in ours, in namespace `b` in theirs",
    ),
    "a namespace and none": (
        "",
        new("a"),
        new(),
        f"ConfigMap/app: {Why.BOTH_ADDED}, in namespace `a` in ours, in namespace none in theirs",
    ),
    "groups": (
        "",
        new(version="g.io/v1"),
        new(version="h.io/v2"),
        f"ConfigMap/app: {Why.BOTH_ADDED}, as `g.io/v1` in ours, as `h.io/v2` in theirs",
    ),
    "strangers": (
        "",
        new(),
        new(kind="Secret"),
        f"{Why.STRANGERS}: `ConfigMap/app` in ours, `Secret/app` in theirs",
    ),
    "several strangers": (
        "",
        new(),
        new(kind="Secret") + "---\n" + new(kind="Service"),
        Why.STRANGERS,
    ),
    "values": ("", "a: 1\nb: 1\n", "c: 1\nd: 1\n", Why.NEW_FILE),
    "lists": ("", "- a\n- b\n", "- c\n- d\n", Why.NEW_FILE),
    "namesakes in two files": (
        "",
        new("a", kind="Secret") + "---\n" + new("c"),
        new("b") + "---\n" + new("d", kind="Secret"),
        Why.NAMESPACES,
    ),
    "all in one namespace": (
        "",
        new("a", kind="Secret") + "---\n" + new("a"),
        new("b") + "---\n" + new("b", kind="Secret"),
        f"{Why.BOTH_ADDED}, in namespace `a` in ours, in namespace `b` in theirs",
    ),
    "one in another namespace, one of another group": (
        "",
        new("a") + "---\n" + new("a", kind="Secret"),
        new("b") + "---\n" + new("a", "z.io/v1", kind="Secret"),
        Why.NEW_FILE,
    ),
    "namesakes and others": (
        "",
        new("a"),
        new("b") + "---\n" + new("d", kind="Secret"),
        Why.NEW_FILE,
    ),
    "some of each": (
        "",
        new() + OTHER,
        new(kind="Secret") + "---\na: 1\n",
        Why.NEW_FILE,
    ),
}


PATHS = {"a member of a set": "kustomization.yaml"}


@pytest.mark.parametrize("name", SAID)
def test_a_label_says_what_is_so(name: str) -> None:
    *texts, label = SAID[name]
    outcome = merged(*texts, PATHS.get(name, ""))
    assert labels(outcome) == [label]
    assert [conflict.shown() for conflict in outcome.conflicts] == [label]


@pytest.mark.parametrize("name", SAID)
def test_the_other_side_says_it_the_other_way_round(name: str) -> None:
    base, ours, theirs, label = SAID[name]
    mirrored = labels(merged(base, theirs, ours, PATHS.get(name, "")))
    assert [words(text) for text in mirrored] == [words(swapped(label))]


def merged(base: str, ours: str, theirs: str, path: str = "") -> Outcome:
    outcome = merge_files(base.encode(), ours.encode(), theirs.encode(), path=path)
    assert not outcome.clean
    return outcome


def labels(outcome: Outcome) -> list[str]:
    """The labels, each once: a conflict may stand in several hunks."""
    found = re.findall(r"^<<<<<<< ours \((.*)\)$", outcome.text.decode(), re.M)
    return list(dict.fromkeys(found))


def swapped(label: str) -> str:
    """`here` for `there`; a resource that each side renamed is called as ours calls it."""
    other = {"here": "there", "there": "here"}
    label = re.sub(r"\b(t?here)\b", lambda found: other[found[0]], label)
    return label.replace("Deployment/app metadata", "Deployment/main metadata")


def words(label: str) -> list[str]:
    """The words without their order: the side that is `here` is told first."""
    return sorted(re.findall(r"[^\s,():]+", label))


def test_no_label_shows_what_nobody_decided() -> None:
    held = 'a: 1\nm: {"kmerge-undecided": "00"}\n'
    assert labels(merged(held, "a: 1\n", "a: 1\nm:\n  x: 1\n")) == [f"m: {Why.OURS_GONE}"]


def test_long_names_keep_their_ends() -> None:
    long = "registry.example.com/" + "x" * 80
    versions = (CHANNELS.format(name, name) for name in ("4.7", long + ":1", long + ":2"))
    (label,) = labels(merged(*versions))
    assert len(label) < 200
    assert "...xxx" in label and ":1` in ours" in label and ":2` in theirs" in label


JOINED = [
    ([("a", "w")], "R/r a: w"),
    ([("", "w")], "R/r: w"),
    ([("a", "w"), ("b", "w")], "R/r a, b: w"),
    ([("a", "w"), ("a", "w")], "R/r a: w"),
    ([("s.a", "w"), ("s.b", "w")], "R/r s.a, .b: w"),
    ([("a", "w"), ("b", "v"), ("c", "w")], "R/r a, c: w; b: v"),
    ([(name, "w") for name in "abcdefg"], "R/r a, b, c and 4 more: w"),
    ([(name, name) for name in "abcde"], "R/r a: a; b: b; c: c and 2 more"),
    ([("a", "w"), ("", "")], "R/r a: w"),
    ([("", "")], "R/r"),
]


@pytest.mark.parametrize(("hunks", "label"), JOINED)
def test_one_label_for_several_conflicts(hunks: list[tuple[str, str]], label: str) -> None:
    assert label_of("R/r", [Conflict("R/r", *hunk) for hunk in hunks]) == label


def test_a_file_has_no_place() -> None:
    assert label_of("", [Conflict("", "", "w")]) == "w"
    assert Conflict("", "", "w").shown() == "w"
    assert Conflict("", "", "w").shown("document") == "document: w"


def test_data_names_the_first_element_and_the_cause() -> None:
    """A path that patterns can match, and one of a few constants."""
    *texts, _ = SAID["a run with names"]
    (conflict,) = merged(*texts).conflicts
    assert (conflict.field, conflict.why) == ("spec.tolerations[1]", Why.BOTH_ADD_HERE)
    assert conflict.spot == "Pod/p spec.tolerations[1-2] (spot, b in ours, gpu in theirs)"
