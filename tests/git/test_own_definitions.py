"""Definitions of custom resources that attributes name: they travel, and lie in the repository."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from test_driver_surroundings import CRD, FOO, RULE
from world import Driven, Repo, World

from kmerge_git.errors import Refused
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.git.repository import Repository
from kmerge_git.kube import keytable
from kmerge_git.kube.crds import learn, learn_own
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.whole.both_merges import SettingsOf, merge_both
from kmerge_git.whole.resolving import Resolving

OURS, THEIRS = FOO + RULE.format("b"), FOO + RULE.format("c")
BOTH = FOO + RULE.format("b") + RULE.format("c")
CRDS = {"crds/foo.yaml": CRD, "crds/README": "no YAML: ["}


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    keytable.know({})
    yield
    keytable.know({})


def fork(repo: Repo, attribute: str, *, also: dict[str, str] | None = None) -> None:
    repo.fork(
        {"x.yaml": FOO, ".gitattributes": f"{attribute}\n"} | (also or CRDS),
        {"x.yaml": OURS},
        {"x.yaml": THEIRS},
    )


@pytest.mark.world
@pytest.mark.parametrize("place", ["crds", "crds/", "crds/foo.yaml", "crds/README,crds/foo.yaml"])
def test_they_count_for_every_merge(driven: Driven, place: str) -> None:
    fork(driven, f"*.yaml kmerge-crd={place}")
    assert "resolved" in driven.kmerge("preview", "side").out
    assert driven.merge().code == 0
    assert driven.text("x.yaml") == BOTH
    assert driven.git("reset", "-q", "--hard", "HEAD~1").code == 0
    assert driven.kmerge("merge", "side").code == 0
    assert driven.text("x.yaml") == BOTH
    assert "both added" not in driven.kmerge("explain", "HEAD").out


@pytest.mark.world
@pytest.mark.parametrize("kind", ['"Foo"', "Foo # why", "!!str Foo"])
@pytest.mark.parametrize("attribute", ["", "*.yaml kmerge-crd=crds"])
def test_the_driver_knows_a_kind_however_it_is_written(
    driven: Driven, kind: str, attribute: str
) -> None:
    """As the commands for the whole repository, which read all definitions."""
    texts = (text.replace("kind: Foo", f"kind: {kind}") for text in (FOO, OURS, THEIRS, BOTH))
    base, ours, theirs, both = texts
    driven.fork(
        {"x.yaml": base, ".gitattributes": f"{attribute}\n"} | CRDS,
        {"x.yaml": ours},
        {"x.yaml": theirs},
    )
    if not attribute:
        driven.git("config", "kmerge.crd", "crds")
    assert (driven.merge().code, driven.text("x.yaml")) == (0, both)


@pytest.mark.costly
def test_without_a_driver_and_without_a_working_tree(repo: Repo, world: World) -> None:
    fork(repo, "*.yaml kmerge-crd=crds")
    assert repo.merge().code == 1
    assert repo.kmerge("solve").code == 0
    assert repo.text("x.yaml") == BOTH
    repo.git("merge", "--abort")
    world.git("clone", "-q", "--bare", repo.path, world.root / "bare.git")
    bare = Repo(world, world.root / "bare.git")
    bare.git("branch", "side", repo.head("side"), check=False)
    assert "resolved" in bare.kmerge("preview", "side").out
    done = bare.kmerge("refresh", "--with", "main", "side", "--dry-run", "--json")
    assert json.loads(done.out)["branches"][0]["result"] == "resolved"


def test_each_file_is_merged_with_its_own(repo: Repo) -> None:
    """As the driver does it, which sees one file: what another file names does not count."""
    names = ("a/x.yaml", "b/x.yaml", "c/x.yaml")
    crds = {"a/crds/foo.yaml": CRD, "b/crds/foo.yaml": CRD.replace("id", "other")}
    lines = "a/* kmerge-crd=a/crds\nb/* kmerge-crd=b/crds\n"
    repo.fork(
        crds | dict.fromkeys(names, FOO) | {".gitattributes": lines},
        dict.fromkeys(names, OURS),
        dict.fromkeys(names, THEIRS),
    )
    done = repo.kmerge("preview", "side", "--json", check=False)
    (step,) = json.loads(done.out)["steps"]
    found = {file["path"]: file["result"] for file in step["files"]}
    assert found == {"a/x.yaml": "resolved", "b/x.yaml": "conflict", "c/x.yaml": "conflict"}


def test_an_answer_is_proved_with_the_definitions_of_its_file(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with those of the file that was merged last."""
    names = ("a.yaml", "b.yaml")
    base, theirs = FOO + RULE.format("b"), FOO + RULE.format("b").replace("2", "3")
    repo.fork(
        CRDS | dict.fromkeys(names, base) | {".gitattributes": "a.yaml kmerge-crd=crds\n"},
        dict.fromkeys(names, FOO),
        dict.fromkeys(names, theirs),
    )
    assert repo.merge().code == 1
    monkeypatch.chdir(repo.path)
    resolving = Resolving.start(Repository.open())
    first, second = resolving.questions
    lines = RULE.format("a")
    with pytest.raises(Refused, match="duplicate list element"):
        resolving.answer_lines(first, lines)
    assert resolving.answer_lines(second, lines).text == lines


def test_what_is_merged_by_lines_is_judged_by_its_own_definitions() -> None:
    """A key that is a list: no fields are merged; the same element twice is damage even so."""
    base = FOO + RULE.format("b") + RULE.format("c") + "  ? [x]\n  : y\n"
    ours = base.replace("  - id: a", RULE.format("z") + "  - id: a")
    theirs = base.replace("  ?", RULE.format("z").replace("2", "3") + "  ?")

    def define() -> None:
        learn(CRD.encode(), "crds/foo.yaml")

    for options, is_clean in ((Options("x.yaml"), True), (Options("x.yaml", define=define), False)):
        keytable.know({})
        texts = Three[bytes | None](base.encode(), ours.encode(), theirs.encode())
        outcome = merge_both(texts, options, LineMerges()).outcome
        assert (outcome.clean, bool(outcome.reason)) == (is_clean, True)


def outside(repo: Repo) -> None:
    """Definitions beside the repository, and ways that lead there."""
    (repo.world.root / "crds").mkdir()
    (repo.world.root / "crds" / "foo.yaml").write_text(CRD)
    links = {"link": "../crds", "file.yaml": "../crds/foo.yaml", "inner": "crds"}
    for name, target in links.items():
        (repo.path / name).symlink_to(target)
    (repo.path / "mixed").mkdir()
    (repo.path / "mixed" / "foo.yaml").symlink_to("../../crds/foo.yaml")
    os.mkfifo(repo.path / "mixed" / "pipe.yaml")


@pytest.mark.world
@pytest.mark.parametrize(
    "place, why",
    [
        ("../crds", "is outside of the repository; kmerge does not read this file"),
        ("crds/../../crds", "is outside of the repository; kmerge does not read this file"),
        ("/etc", "is outside of the repository; kmerge does not read this file"),
        ("C:/crds", "is outside of the repository; kmerge does not read this file"),
        (".git/crds", "is outside of the repository; kmerge does not read this file"),
        ("link", "goes through a symbolic link; kmerge does not read this file"),
        ("link/foo.yaml", "goes through a symbolic link; kmerge does not read this file"),
        ("file.yaml", "goes through a symbolic link; kmerge does not read this file"),
        ("inner", "goes through a symbolic link; kmerge does not read this file"),
        ("mixed", "contains no CustomResourceDefinition"),
        ("gone", "no such file or directory"),
        ("broken", "kmerge ignores the list keys of these CRDs"),
    ],
)
def test_nothing_else_is_read(driven: Driven, place: str, why: str) -> None:
    broken = {"broken/a.yaml": "# Foo\nCustomResourceDefinition: " + "[" * 3000}
    fork(driven, f"*.yaml kmerge-crd={place}", also=CRDS | broken)
    outside(driven)
    done = driven.merge()
    assert done.code == 1
    assert done.err.count("kmerge-crd: ") == 1
    assert why in done.err
    assert place.rstrip("/") in done.err
    driven.git("merge", "--abort")
    done = driven.kmerge("merge", "side", check=False)
    assert (done.code, done.err.count("kmerge-crd: ")) == (1, 1)


def test_a_place_is_told_once(repo: Repo) -> None:
    names = [f"{n}.yaml" for n in range(3)]
    attributes = {".gitattributes": "*.yaml kmerge-crd=gone\n"}
    repo.fork(
        dict.fromkeys(names, FOO) | attributes,
        dict.fromkeys(names, OURS),
        dict.fromkeys(names, THEIRS),
    )
    assert repo.kmerge("preview", "side", check=False).err.count("kmerge-crd: ") == 1


def test_what_is_read_is_read_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    fork(repo, "*.yaml kmerge-crd=crds")
    calls = []

    def noted(top: str, places: tuple[str, ...]) -> list[str]:
        calls.append(places)
        return learn_own(top, places)

    monkeypatch.setattr("kmerge_git.whole.both_merges.learn_own", noted)
    settings = SettingsOf(Repository.open(str(repo.path)))
    for name in ("y.yaml", "x.txt", "x.yaml"):
        define = settings(name).define
        assert define is not None
        define()
        assert len(keytable.learned()) == (name != "x.txt")
    assert calls == [("crds",)]
    define = SettingsOf(Repository.open(str(repo.path)))("x.txt").define
    assert define is not None
    define()
    assert keytable.learned() == {}
