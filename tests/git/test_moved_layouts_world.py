"""Overlays, charts and flat folders in which several files hold a resource of one name.

One side moves, copies, deletes, splits and joins, the other one edits. What is wanted is told from
the deeds alone: each resource has an owner, who is known in the world, whatever the files are named.
An edit may be in the file to which this very resource went, or in a conflict of its old or new
file; it may be in no file in which nobody made it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from depth import part
from world import Repo

from kmerge_git.git.merge_sides import TreeEntry
from kmerge_git.git.repository import Repository
from kmerge_git.git.scratch_merges import Scratch, merge_tree, scratch
from kmerge_git.merge.three import Three
from kmerge_git.whole.both_merges import SettingsOf
from kmerge_git.whole.tree_merge import Sides, merge_trees, result_of

# how much the resources of one name differ: not at all, in two lines, in most lines
STYLES = ("twins", "near", "far")
EDITED = "edited-{}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of three owners, each with a second name in the same folder and with neighbours."""

    name: str
    files: dict[str, str]  # the file of each owner
    moved: dict[str, str]  # another file of each owner, in its own overlay or chart
    neighbours: bool = True  # each file has a resource of its own besides
    form: str = "document"


def _layouts() -> Iterator[Layout]:
    owners = ("prod", "dev", "qa")
    for name, old, new in (
        ("overlays", "overlays/{}/deploy.yaml", "overlays/{}/app.yaml"),
        ("charts", "charts/{}/templates/web.yaml", "charts/{}/manifests/web.yaml"),
        ("deep overlays", "apps/web/overlays/{}/deploy.yaml", "apps/web/overlays/{}/web/d.yaml"),
        ("up", "overlays/{}/web/deploy.yaml", "overlays/{}/deploy.yaml"),
        ("flat", "web-{}.yaml", "new-{}.yaml"),
        ("flat folder", "k8s/web-{}.yaml", "k8s/{}.yaml"),
    ):
        files, moved = ({who: path.format(who) for who in owners} for path in (old, new))
        yield Layout(name, files, moved)
        if name in ("overlays", "charts", "flat"):
            yield Layout(f"{name}, alone", files, moved, neighbours=False)
        if name in ("overlays", "flat"):
            yield Layout(f"{name}, lists", files, moved, form="item")
    base = {"prod": "base/deploy.yaml", "dev": "overlays/dev/deploy.yaml", "qa": "qa.yaml"}
    yield Layout(
        "base", base, {"prod": "base/w.yaml", "dev": "overlays/dev/w.yaml", "qa": "w.yaml"}
    )


LAYOUTS = tuple(_layouts())

Places = dict[str, str]  # the file of each resource; a copy of prod's is `prod+`


@dataclass(frozen=True, slots=True)
class Deed:
    """What the mover does: where the resources of each owner are then, and what they say."""

    name: str
    places: Places
    edits: frozenset[str] = frozenset()
    is_told_by_text: bool = False  # who is who shows neither in names nor in folders


def deeds(at: Layout) -> Iterator[Deed]:
    old, new = at.files, at.moved
    elsewhere = new["prod"].replace("prod", "production").replace("base/", "basis/")
    rest = {"dev": old["dev"], "qa": old["qa"]}
    yield Deed("one moves", {"prod": new["prod"], **rest})
    yield Deed("one moves, edited", {"prod": new["prod"], **rest}, frozenset(["prod"]))
    yield Deed("prod goes, dev moves", {"dev": new["dev"], "qa": old["qa"]})
    yield Deed(
        "prod goes, dev moves, edited", {"dev": new["dev"], "qa": old["qa"]}, frozenset(["dev"])
    )
    taken = {"dev": new["prod"], "qa": old["qa"]}
    yield Deed("prod goes, dev takes its place", taken, is_told_by_text=True)
    yield Deed("two move", {"prod": new["prod"], "dev": new["dev"], "qa": old["qa"]})
    yield Deed("all move", dict(new))
    yield Deed("all move, one edited", dict(new), frozenset(["dev"]))
    yield Deed("all move, edited", dict(new), frozenset(new))
    swapped = {"prod": new["dev"], "dev": new["prod"], "qa": old["qa"]}
    yield Deed("two swap", swapped, is_told_by_text=True)
    yield Deed("two swap, edited", swapped, frozenset(["prod", "dev"]), is_told_by_text=True)
    yield Deed("prod goes, dev is copied", {**rest, "dev+": elsewhere})
    yield Deed(
        "prod goes, dev is copied there", {**rest, "dev+": new["prod"]}, is_told_by_text=True
    )
    yield Deed("prod is copied", {**old, "prod+": elsewhere})
    yield Deed("prod moves and is copied", {**rest, "prod": new["prod"], "prod+": elsewhere})
    yield Deed("prod goes, a new one comes", {**rest, "other": elsewhere})
    yield Deed("prod goes, a new one comes there", {**rest, "other": new["prod"]})
    yield Deed("prod is renamed", {"prod": elsewhere, **rest})
    yield Deed("prod goes to the neighbours", {"prod": new["prod"] + "/../own.yaml", **rest})
    yield Deed("two are joined", {"prod": "all.yaml", "dev": "all.yaml", "qa": old["qa"]})
    yield Deed("two go", {"qa": new["qa"]})
    yield Deed("one goes", rest)


def resource(
    owner: str,
    style: str,
    name: str,
    *,
    edited: str = "",
    image: str = "1.0",
    is_beside: bool = False,
) -> str:
    """A Deployment of an owner; the mover changes the image, the editor a line beside or below."""
    level, policy = ("info", edited or "Always") if is_beside else (edited or "info", "Always")
    who = owner.rstrip("+")
    number = {"prod": 3, "dev": 1, "qa": 2, "other": 9}[who]
    own = "same" if style == "twins" and who != "other" else who
    replicas = 5 if own == "same" else number
    far = style == "far" or who == "other"
    more = "".join(f"        - --{own}-{n}={n}\n" for n in range(9)) if far else ""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels:
    app: web
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: {own if far else "web"}
        image: registry.example/{own if far else "web"}:{image}
        imagePullPolicy: {policy}
        args:
        - --serve
{more}        ports:
        - containerPort: 8080
        env:
        - name: LEVEL
          value: {level}
        - name: WHERE
          value: {own}
        resources:
          limits:
            memory: 64Mi
"""


def neighbour(path: str) -> str:
    name = path.replace("/", "-").removesuffix(".yaml")
    lines = "".join(f"  {name}-{n}: of {path}, number {n}\n" for n in range(12))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{lines}"


def as_file(form: str, texts: list[str]) -> str:
    if form == "document":
        return "---\n".join(texts)
    items = ("- " + text.replace("\n", "\n  ")[:-2] for text in texts)
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(items)


@dataclass(frozen=True, slots=True)
class Case:
    layout: Layout
    deed: Deed
    style: str
    editors: tuple[str, ...]
    mover: str
    unique: bool = False  # each resource has a name of its own
    is_beside: bool = False  # the two sides change lines next to each other

    @property
    def is_clear(self) -> bool:
        """Whether each resource that is left has one file that must be its own."""
        is_alone = self.layout.name.startswith("flat") and self.deed.name.endswith("and is copied")
        is_told = self.unique or (self.style != "twins" and "joined" not in self.deed.name)
        return is_told and not is_alone

    def version(
        self, places: Places, edited: tuple[str, ...] = (), improved: frozenset[str] = frozenset()
    ) -> dict[str, str]:
        """The files of a version, by path."""
        held: dict[str, list[str]] = {}
        if self.layout.neighbours:
            for path in self.layout.files.values():
                held[path] = [neighbour(path)]
            held[self._own] = [neighbour(self._own)]
        for owner, path in places.items():
            name = f"web-{owner.rstrip('+')}" if self.unique else "web"
            text = resource(
                owner,
                self.style,
                name,
                edited=EDITED.format(owner) if owner in edited else "",
                image="2.0" if owner in improved else "1.0",
                is_beside=self.is_beside,
            )
            held.setdefault(self._own if path.endswith("own.yaml") else path, []).append(text)
        return {path: as_file(self.layout.form, texts) for path, texts in held.items()}

    @property
    def _own(self) -> str:
        folder, slash, _ = self.layout.files["prod"].rpartition("/")
        return f"{folder}{slash}own.yaml"

    def sides(self) -> Three[dict[str, str]]:
        base = self.version(self.layout.files)
        moved = self.version(self.deed.places, improved=self.deed.edits)
        edited = self.version(self.layout.files, self.editors)
        return Three(base, moved, edited) if self.mover == "ours" else Three(base, edited, moved)

    def home(self, owner: str) -> str:
        """The file to which a resource of the base went, or nothing."""
        path = self.deed.places.get(owner, "")
        return self._own if path.endswith("own.yaml") else path


def cases(unique: bool = False) -> Iterator[Case]:
    editors = itertools.cycle((("prod",), ("dev",), ("prod", "dev"), ("prod",), ("prod", "dev")))
    beside = itertools.cycle((False, True, True))
    for layout, style in itertools.product(LAYOUTS, STYLES):
        for deed, mover in itertools.product(deeds(layout), ("ours", "theirs")):
            is_possible = layout.neighbours or "neighbours" not in deed.name
            is_told = not deed.is_told_by_text and layout.name != "flat, alone"
            if is_possible and (is_told or style != "twins"):
                who = next(editors)
                yield Case(layout, deed, style, who, mover, unique, next(beside))


class Merges:
    """Merge the versions of a case, as trees of one repository."""

    def __init__(self, repository: Repository, at: Scratch, empty: str) -> None:
        self.repository = repository
        self.at = at
        self.empty = empty
        self.settings = SettingsOf(repository)

    def tree(self, files: dict[str, str]) -> str:
        entries = {
            path: TreeEntry(self.repository.store(text.encode()), 0o100644)
            for path, text in files.items()
        }
        return self.repository.with_files(self.empty, entries)

    def files(self, tree: str) -> dict[str, str]:
        made = self.at.repository
        changes = made.changes(None, tree)
        return {c.new_path: made.blob(c.new.oid).decode() for c in changes if c.new}

    def merged(self, case: Case) -> tuple[dict[str, str], set[str]]:
        """The files of the merge, and the files in conflict."""
        sides = Sides(case.sides().map(self.tree))
        made = merge_trees(self.at, sides, self.settings, is_timed=False)
        left = {file.path for file in made.files if file.verdict != "solved"}
        left |= {stages.path for stages in made.others} | {p for m in made.stuck for p in m.paths}
        return self.files(result_of(self.at.repository, made)), left

    def is_gits(self, case: Case, path: str, value: str) -> bool:
        """Whether git alone has the value in the file as well, without a conflict there."""
        base, ours, theirs = case.sides().map(self.tree).each()
        alone = merge_tree(self.at, ours, theirs, base=base, driver=False)
        files = self.files(alone.tree)
        is_left = any(stages.path == path for stages in alone.conflicts)
        return not is_left and value in files.get(path, "")


@pytest.fixture
def merges(repo: Repo) -> Iterator[Merges]:
    repo.commit("empty")
    repository = Repository.open(str(repo.path))
    with scratch(repository) as at:
        yield Merges(repository, at, repository.commit("HEAD").tree)


def ends(merges: Merges, case: Case) -> Iterator[str]:
    """Yield what became of each edit: `followed`, `conflict`, or what is wrong with it.

    A file that git alone merges to the same text, because it pairs whole files by their lines, is
    no fault of ours.
    """
    files, left = merges.merged(case)
    for owner in case.editors:
        value, home, old = EDITED.format(owner), case.home(owner), case.layout.files[owner]
        there = {path for path, text in files.items() if value in text}
        strange = there - {home, old} - left
        if strange:
            gits = all(merges.is_gits(case, path, value) for path in strange)
            yield "as git" if gits else f"{value} is in {strange}"
        elif there & left:
            yield "conflict"
        else:
            yield "followed" if there == {home} else f"{value} is in {there}, not in {home!r}"


def is_right(case: Case, owner: str, end: str) -> bool:
    """Whether an edit may end so; a resource that is clearly there, or has gone, is no riddle."""
    home = case.home(owner)
    if end == "as git":
        return not case.layout.neighbours
    if home and case.is_clear:
        return end == "followed"
    return end == "conflict" or (bool(home) and end == "followed")


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.costly
def test_no_edit_is_in_the_resource_of_somebody_else(merges: Merges, unique: bool) -> None:
    known = [*cases(unique)][::5]  # both movers, and most deeds in each layout
    assert unique or len({(case.layout.name, case.deed.name) for case in known}) > 200
    wrong = [
        (case, owner, end)
        for case in part(known)
        for owner, end in zip(case.editors, ends(merges, case), strict=True)
        if not is_right(case, owner, end)
    ]
    assert wrong == []
