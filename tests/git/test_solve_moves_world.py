"""Every move between documents and items of lists, against everything the other side may do.

A small world in one repository, a folder a case, merged once. What is wanted is told from the
edits alone: the mover's files, with the editor's line in the one place where the resource is now.
"""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass

import pytest
import yaml
from test_solve import is_sound
from world import Repo

Files = dict[str, str]

FORMS = ("document", "item", "wide item")
TARGETS = ("new file", "new list", "existing file", "existing list")
DEEDS = ("edited", "deleted", "unchanged")
SIDES = ("ours", "theirs")


def resource(name: str, replicas: int = 1) -> str:
    """A resource with all that a change of columns could hurt."""
    return textwrap.dedent(f"""\
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: {name}  # the name
          annotations:
            text: "one
              two"
        spec:
          # how many
          replicas: {replicas}

          script: |
            if true
              then

            done
          folded: >-
            a
            b
          args:
          - a
          - |2
             two
        """)


def as_file(form: str, *texts: str) -> str:
    """Resources as documents, or as the items of a list at the first or at another column."""
    if form == "document":
        return "---\n".join(texts)
    dash = "- " if form == "item" else "    -   "
    lines = [textwrap.indent(text, " " * len(dash)) for text in texts]
    items = "".join(dash + text[len(dash) :] for text in lines)
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


@dataclass(frozen=True, slots=True)
class Case:
    folder: str
    form: str
    target: str
    deed: str
    mover: str

    @property
    def name(self) -> str:
        return f"moved-{self.folder}"

    @property
    def place(self) -> tuple[str, str]:
        """The file to which the resource moves, and its form there."""
        forms = {"new file": "document", "existing file": "document", "new list": "item"}
        return f"{self.folder}/{self.target}.yaml", forms.get(self.target, "wide item")

    def keeper(self, number: int) -> str:
        return resource(f"kept-{number}-{self.folder}", 7)

    def files(self, *, moved: bool = False, replicas: int = 1, gone: bool = False) -> Files:
        mine = [] if gone else [resource(self.name, replicas)]
        stays = [self.keeper(1), *([] if moved else mine), self.keeper(2)]
        found = {f"{self.folder}/old.yaml": as_file(self.form, *stays)}
        path, form = self.place
        there = [self.keeper(3)] if self.target.startswith("existing") else []
        there += mine if moved else []
        return found | ({path: as_file(form, *there)} if there else {})

    def editor(self) -> Files:
        return self.files(replicas=2 if self.deed == "edited" else 1, gone=self.deed == "deleted")

    def wanted(self) -> Files:
        return self.files(moved=True, replicas=2 if self.deed == "edited" else 1)


def cases() -> list[Case]:
    every = itertools.product(FORMS, TARGETS, DEEDS, SIDES)
    return [Case(f"c{number:02}", *words) for number, words in enumerate(every)]


@pytest.mark.costly
def test_every_edit_is_where_its_resource_is(repo: Repo) -> None:
    known = cases()
    assert len(known) == 72

    def side(name: str) -> dict[str, str | bytes]:
        found: dict[str, str | bytes] = {}
        for case in known:
            found |= case.files(moved=True) if case.mover == name else case.editor()
        return found

    base: dict[str, str | bytes] = {}
    for case in known:
        base |= case.files()
    repo.fork(base, side("ours"), side("theirs"))
    previewed = repo.kmerge("preview", "side", "--write-tree").lines[0]
    assert repo.merge().code == 1
    edited = {f"{case.folder}/old.yaml" for case in known if case.deed == "edited"}
    assert edited <= set(repo.unmerged())
    done = repo.kmerge("solve")
    assert repo.unmerged() == [], done.said
    for case in known:
        wanted = case.wanted()
        assert {path: repo.text(path) for path in wanted} == wanted, case
        here = [path.read_text() for path in (repo.path / case.folder).iterdir()]
        names = [name for text in here for name in names_in(text)]
        assert sorted(names) == sorted(n for text in wanted.values() for n in names_in(text)), case
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)
    assert repo.head("HEAD^{tree}") == previewed


def names_in(text: str) -> list[str]:
    documents = [document for document in yaml.safe_load_all(text) if document]
    found = [item for d in documents for item in d.get("items", [d])]
    return [item["metadata"]["name"] for item in found]
