"""Lists in which a name is there several times, and what two sides make of the elements.

The generator knows which element is which, so what is right is known from the edits alone: both
sides' edits are made in the same elements. A reader of the three texts knows it as well: each
element keeps at least two leaves that no other element of its name has and that nobody edits. Left
out: two edits of one field, and two elements that the sides add in one gap. An element that one
side takes away and the other edits is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Path = tuple[str | int, ...]
Element = dict[str, Any]

WORDS = ("api", "web", "jobs", "auth", "mail", "cart", "pay", "geo", "chat", "feed", "scan", "disk")


@dataclass(frozen=True)
class Form:
    """A file with such a list: how it is written, and what may be edited in an element."""

    path: str
    head: str  # the lines before the list; the last is its key
    foot: str
    key: Path  # where the list is
    names: tuple[str, ...]
    element: str  # {n}: the name, {a} and {b}: words of this element alone, {i}: its number
    marks: tuple[Path, ...]  # the leaves that tell elements of one name apart
    bumps: tuple[tuple[Path, Any, Any], ...]  # a leaf that all have, as it is and as it becomes
    additions: tuple[tuple[Path, Any], ...]  # a leaf that none has

    def make(self, name: str, number: int, rng: Random) -> Element:
        """An element that shares its marks with no other of another number."""
        first, second = rng.sample(WORDS, 2)
        words = {"n": name, "a": f"{first}-{number}", "b": f"{second}{number}", "i": number}
        made: Element = yaml.load(self.element.format(**words), LOADER)
        return made

    def write(self, elements: list[Element], indent: int) -> bytes:
        """The file."""
        text = yaml.dump(elements, Dumper=Wide, sort_keys=False, width=999)
        depth = len(self.head.splitlines()[-1]) - len(self.head.splitlines()[-1].lstrip(" -"))
        margin = " " * (depth + indent)
        lines = "".join(margin + line for line in text.splitlines(keepends=True))
        return (self.head + lines + self.foot).encode()

    def read(self, data: bytes) -> list[Element] | None:
        """The list; nothing if anything else in the file is not as it was."""
        try:
            found = yaml.load(data, LOADER)
        except yaml.YAMLError:
            return None
        whole = yaml.load(self.head + self.foot, LOADER)
        at, old = found, whole
        for step in self.key[:-1]:
            at, old = at[step], old[step]
        elements = at.pop(self.key[-1], None)
        del old[self.key[-1]]
        return elements if found == whole and isinstance(elements, list) else None


class Wide(yaml.SafeDumper):
    """Writes lists inside of elements at the column after their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Never without an indent."""
        super().increase_indent(flow, False)


FORMS = {
    "alerts": Form(
        "monitoring/rules.yaml",
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: rules\n"
        "spec:\n  groups:\n  - name: all\n    interval: 30s\n    rules:\n",
        "",
        ("spec", "groups", 0, "rules"),
        ("HighLatency", "PodDown", "DiskFull", "QueueLong", "TooManyErrors", "CertExpires"),
        "alert: {n}\nexpr: rate({b}_seconds[5m]) > {i}\nfor: 5m\nlabels:\n  severity: {a}\n"
        "annotations:\n  summary: The {b} of {a} is not well\n",
        (("expr",), ("labels", "severity"), ("annotations", "summary")),
        ((("for",), "5m", "10m"),),
        ((("labels", "team"), "core"), (("annotations", "runbook_url"), "https://run.example/1")),
    ),
    "records": Form(
        "monitoring/records.yaml",
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: records\n"
        "spec:\n  groups:\n  - name: all\n    rules:\n",
        "  - name: none\n    rules: []\n",
        ("spec", "groups", 0, "rules"),
        ("job:latency:rate5m", "job:errors:rate5m", "node:cpu:sum", "pod:memory:max", "pod:up:sum"),
        "record: {n}\nexpr: sum(rate({b}_total[5m]))\nlabels:\n  source: {a}\n  window: {i}m\n"
        "  tier: backend\n",
        (("expr",), ("labels", "source"), ("labels", "window")),
        ((("labels", "tier"), "backend", "platform"),),
        ((("labels", "team"), "core"),),
    ),
    "ingress": Form(
        "app/ingress.yaml",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\nspec:\n"
        "  ingressClassName: nginx\n  rules:\n",
        "  tls:\n  - hosts:\n    - a.example.org\n    secretName: tls\n",
        ("spec", "rules"),
        ("a.example.org", "b.example.org", "c.example.org", "d.example.org", "e.example.org"),
        "host: {n}\nhttp:\n  paths:\n  - path: /{a}\n    pathType: Prefix\n    backend:\n"
        "      service:\n        name: {b}\n        port:\n          number: 80{i}\n",
        (
            ("http", "paths", 0, "path"),
            ("http", "paths", 0, "backend", "service", "name"),
            ("http", "paths", 0, "backend", "service", "port", "number"),
        ),
        ((("http", "paths", 0, "pathType"), "Prefix", "Exact"),),
        (),
    ),
    "dependencies": Form(
        "charts/app/Chart.yaml",
        "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n",
        "maintainers:\n- name: someone\n",
        ("dependencies",),
        ("redis", "postgresql", "common", "kafka", "minio", "nginx"),
        "name: {n}\nalias: {b}\nversion: 1.2.0\nrepository: https://charts.example.org\n"
        "condition: {b}.enabled\ntags:\n- {a}\n",
        (("alias",), ("condition",), ("tags", 0)),
        (
            (("version",), "1.2.0", "1.3.0"),
            (("repository",), "https://charts.example.org", "oci://registry.example.org/charts"),
        ),
        (),
    ),
    "sources": Form(
        "argocd/app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: app\nspec:\n"
        "  project: default\n  sources:\n",
        "  destination:\n    namespace: app\n    server: https://kubernetes.default.svc\n",
        ("spec", "sources"),
        (
            "https://github.com/org/deploy.git",
            "https://github.com/org/charts.git",
            "https://github.com/org/values.git",
            "https://github.com/org/infra.git",
        ),
        "repoURL: {n}\ntargetRevision: v1.2.0\npath: apps/{a}\nhelm:\n  releaseName: {b}\n"
        "  valueFiles:\n  - values-{a}.yaml\n",
        (("path",), ("helm", "releaseName"), ("helm", "valueFiles", 0)),
        ((("targetRevision",), "v1.2.0", "v1.3.0"),),
        ((("ref",), "main"), (("helm", "skipCrds"), True)),
    ),
    "steps": Form(
        ".github/workflows/ci.yaml",
        'name: ci\n"on": push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n',
        "  other:\n    runs-on: ubuntu-latest\n    steps: []\n",
        ("jobs", "build", "steps"),
        ("Build", "Test", "Publish", "Lint", "Clean up"),
        "name: {n}\nrun: make {b}\nworking-directory: src/{a}\ntimeout-minutes: 5\nenv:\n"
        "  TARGET: {a}\n",
        (("run",), ("working-directory",), ("env", "TARGET")),
        ((("timeout-minutes",), 5, 10),),
        ((("shell",), "bash"), (("env", "CI_DEBUG"), "on")),
    ),
}


@dataclass
class Edits:
    """What a side does: to the fields of elements, and to the list."""

    fields: dict[tuple[int, Path], Any] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    new: dict[int, int] = field(default_factory=dict)  # the newcomer of a gap, by its place

    def also(self, other: Edits) -> Edits:
        """Both."""
        fields, gone = {**self.fields, **other.fields}, self.gone | other.gone
        return Edits(fields, gone, {**self.new, **other.new})

    def touched(self) -> set[int]:
        """The elements whose fields it changes."""
        return {at for at, _ in self.fields}


@dataclass(frozen=True)
class Case:
    """Three versions, and the elements that are right; none where a conflict is."""

    name: str
    kind: str
    form: Form
    texts: tuple[bytes, bytes, bytes]
    right: list[Element] | None
    new: tuple[Element, ...]

    def verdict(self, data: bytes | None) -> str:
        """`right`, `elsewhere` (a newcomer stands in another gap), `wrong`, or `conflict`."""
        if data is None:
            return "conflict"
        found = self.form.read(data)
        if found is None or self.right is None:
            return "wrong"
        if found == self.right:
            return "right"
        old = [[x for x in version if x not in self.new] for version in (found, self.right)]
        same = all(found.count(x) == self.right.count(x) for x in self.new)
        return "elsewhere" if old[0] == old[1] and same else "wrong"


# what ours and theirs do alone, and what both do
KINDS: dict[str, tuple[str, str, str]] = {
    "all / one": ("all", "one", ""),
    "all / add": ("all", "add", ""),
    "all / all of another field": ("all", "leaf", ""),
    "all / delete": ("all", "delete", ""),
    "one / one": ("one", "one", ""),
    "one / one of another element": ("one", "another", ""),
    "one / add": ("one", "add", ""),
    "one / delete": ("one", "delete", ""),
    "add / add": ("add", "add", ""),
    "add / delete": ("add", "delete", ""),
    "delete / delete": ("delete", "delete", ""),
    "both all, one": ("one", "", "all"),
    "both all, one / one": ("one", "one", "all"),
    "both all, add": ("add", "", "all"),
    "both all, add / one": ("add", "one", "all"),
    "both all, delete": ("delete", "", "all"),
    "both bump one, one": ("one", "", "bump"),
    "both bump one, another": ("another", "", "bump"),
    "both bump one, all": ("leaf", "", "bump"),
    "both one, add / one": ("add", "one", "one"),
    "both add, one": ("one", "", "add"),
    "both add, one / all": ("one", "all", "add"),
    "both add, delete": ("delete", "", "add"),
    "both delete, one": ("one", "", "delete"),
    "both delete, all": ("all", "", "delete"),
    "both delete, add / one": ("add", "one", "delete"),
}


class Maker:
    """Makes one case."""

    def __init__(self, form: Form, rng: Random) -> None:
        self.form, self.rng = form, rng
        self.naming = form.element.partition(":")[0]
        self.names = self._names()
        self.size = len(self.names)
        self.elements = [form.make(n, at + 1, rng) for at, n in enumerate(self.names)]
        self.twice = [at for at, n in enumerate(self.names) if self.names.count(n) > 1]

    def _names(self) -> list[str]:
        """3 to 6 names, of which 1 or 2 are there several times, mostly side by side."""
        size = self.rng.randint(3, 6)
        names = self.rng.sample(self.form.names, 4)
        words = [names[0]] * self.rng.choice([2, 2, 3] if size > 3 else [2])
        if size - len(words) >= 2 and self.rng.random() < 0.5:
            words += [names[1]] * 2
        words += names[2:][: size - len(words)]
        if self.rng.random() < 0.4:
            self.rng.shuffle(words)
        turn = self.rng.randrange(len(words))
        return words[turn:] + words[:turn]

    def edits(self, what: str, before: Edits) -> Edits:
        """Choose what a side does, or both, other than what was chosen before."""
        if what in ("all", "bump", "leaf"):
            return self._all(what)
        if what in ("one", "another"):
            at = self._some()
            if what == "another":
                others = [x for x in self.twice if x not in before.touched()]
                at = self.rng.choice(others) if others else at
            leaves: list[tuple[Path, Any]] = []
            for path in self.form.marks:
                number = self.rng.randrange(100)
                word = f"{self.rng.choice(WORDS)}-new{number}"
                leaves.append((path, 9000 + number if path[-1] == "number" else word))
            leaves += self.form.additions
            leaves += [(path, new) for path, _, new in self.form.bumps]
            path, value = self.rng.choice(leaves)
            return Edits({(at, path): value})
        if what == "delete":
            return Edits(gone={self._some()})
        if what == "add":
            self.elements.append(self._newcomer())
            gap = self.rng.choice([self.size, *range(self.size + 1)])
            return Edits(new={gap: len(self.elements) - 1})
        return Edits()

    def _some(self) -> int:
        most = self.twice if self.rng.random() < 0.8 else range(self.size)
        return self.rng.choice(list(most))

    def _all(self, what: str) -> Edits:
        """A leaf of all elements, or of one."""
        values = [(path, new) for path, _, new in self.form.bumps[-1 if what == "leaf" else 0 :]]
        values = values[:1] if what != "leaf" else [*values, *self.form.additions]
        path, value = self.rng.choice(values)
        places = [self._some()] if what == "bump" else range(self.size)
        return Edits({(at, path): value for at in places})

    def _newcomer(self) -> Element:
        known = self.names[self._some()]
        fresh = [name for name in self.form.names if name not in self.names]
        name = known if self.rng.random() < 0.6 or not fresh else self.rng.choice(fresh)
        return self.form.make(name, len(self.elements) + 1, self.rng)

    def version(self, edits: Edits) -> list[Element]:
        """The list after the edits."""
        made = deepcopy(self.elements)
        for (at, path), value in edits.fields.items():
            holder: Any = made[at]
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = deepcopy(value)
        result = []
        for at in range(self.size + 1):
            result += [made[edits.new[at]]] if at in edits.new else []
            result += [made[at]] if at < self.size and at not in edits.gone else []
        return result


def case(name: str, kind: str, form: Form, rng: Random) -> Case | None:
    """One case; nothing where what is right is not clear."""
    maker = Maker(form, rng)
    words = KINDS[kind]
    both = maker.edits(words[2], Edits())
    mine = maker.edits(words[0], both)
    yours = maker.edits(words[1], mine)
    ours, theirs = both.also(mine), both.also(yours)
    if not _is_clear(maker, both, mine, yours):
        return None
    lost = (ours.gone & theirs.touched() - theirs.gone) | (theirs.gone & ours.touched() - ours.gone)
    indent = rng.choice([0, 2])
    base, *sides = (maker.version(edits) for edits in (Edits(), ours, theirs))
    if base in sides:
        return None
    texts = tuple(form.write(version, indent) for version in (base, *sides))
    right = None if lost else maker.version(ours.also(theirs))
    new = tuple(maker.elements[maker.size :])
    return Case(name, kind, form, texts, right, new)  # type: ignore[arg-type]


def _is_clear(maker: Maker, both: Edits, mine: Edits, yours: Edits) -> bool:
    """Whether a reader of the three texts knows which element is which, and what is right."""
    if set(mine.fields) & set(yours.fields) or set(both.fields) & {*mine.fields, *yours.fields}:
        return False
    every = both.also(mine).also(yours)
    for at in every.touched():
        kept = [path for path in maker.form.marks if (at, path) not in every.fields]
        if len(kept) < 2:
            return False
    if mine.gone & yours.gone or both.gone & (mine.gone | yours.gone):
        return False
    if both.gone & every.touched() and len(every.touched()) < maker.size:
        return False  # else: who edits all of them did so without those that are gone
    for side in (both.also(mine), both.also(yours)):
        gone = {maker.names[at] for at in side.gone}
        if gone & {str(maker.elements[at][maker.naming]) for at in side.new.values()}:
            return False  # may be read as an edit of the element that is gone
    if (mine.gone & mine.touched()) | (yours.gone & yours.touched()):
        return False
    # newcomers of both sides in one gap, also if only elements that go away are between them
    places = sorted([*mine.new, *yours.new, *both.new])
    if len(set(places)) < len(places):
        return False
    return all(
        any(at not in every.gone for at in range(before, after))
        for before, after in pairwise(places)
    )


def cases(form: str, kind: str, most: int) -> Iterator[Case]:
    """As many cases of a kind, the same in every run."""
    made, number = 0, 0
    while made < most:
        number += 1
        name = f"{form}, {kind}, {number}"
        found = case(name, kind, FORMS[form], Random(name))
        if found:
            made += 1
            yield found
        elif number > 40 * most + 100:
            return


def argo() -> Iterator[Case]:
    """Both sides bump source 2 of an Argo CD application alike, and ours alone edits source 1."""
    form = FORMS["sources"]
    for number in range(12):
        rng = Random(f"argo {number}")
        url = form.names[0]
        elements = [form.make(url, at + 1, rng) for at in range(2 + number % 2)]
        bumped = deepcopy(elements)
        bumped[1]["targetRevision"] = "v1.3.0"
        edited = deepcopy(bumped)
        if number % 3 == 0:
            edited[0]["path"] = "apps/other"
        elif number % 3 == 1:
            edited[0]["targetRevision"] = "v1.3.0"
        else:
            edited[0]["helm"]["valueFiles"].append("more.yaml")
        base, one, two = (form.write(x, 2 * (number // 6)) for x in (elements, bumped, edited))
        yield Case(f"argo {number}", "argo", form, (base, two, one), edited, ())
