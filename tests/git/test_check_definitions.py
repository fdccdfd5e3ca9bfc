"""`kmerge check` knows the custom resources whose definitions are named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from world import Repo

from kmerge_git.cli.main import main
from kmerge_git.kube import keytable

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: caches.example.com
spec:
  group: example.com
  names: {kind: Cache}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              nodes:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [host]
"""
TWICE = """\
apiVersion: example.com/v1
kind: Cache
metadata:
  name: a
spec:
  nodes:
  - {host: x, size: 1}
  - {host: x, size: 2}
"""
FOUND = "web/cache.yaml:8:5: warning M06"


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    keytable.know({})
    yield
    keytable.know({})


@pytest.fixture
def cache(repo: Repo) -> Repo:
    repo.commit("start", {"web/cache.yaml": TWICE, "config/crd/cache.yaml": CRD})
    return repo


def check(repo: Repo, monkeypatch: pytest.MonkeyPatch, *args: str, below: str = "") -> int:
    monkeypatch.chdir(repo.path / below)
    return main(["check", "--fail-on", "warning", *args])


def test_keys_are_learned_from_definitions(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(cache, monkeypatch) == 0
    cache.git("config", "--add", "kmerge.crd", "config/crd")
    assert check(cache, monkeypatch) == 1
    assert FOUND in capsys.readouterr().out


def test_places_are_named_from_the_top(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.git("config", "kmerge.crd", "config/crd/cache.yaml")
    assert check(cache, monkeypatch, below="web") == 1
    assert FOUND.removeprefix("web/") in capsys.readouterr().out


def test_a_linked_worktree_has_the_same_configuration(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.git("config", "kmerge.crd", "config/crd")
    cache.git("worktree", "add", "-q", "linked")
    assert check(cache, monkeypatch, below="linked") == 1
    assert FOUND in capsys.readouterr().out


def test_an_included_configuration_counts(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.write("shared.cfg", "[kmerge]\n  crd = config/crd\n")
    cache.git("config", "include.path", "../shared.cfg")
    assert check(cache, monkeypatch) == 1
    assert FOUND in capsys.readouterr().out


def test_a_place_of_no_use_is_told(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.git("config", "kmerge.crd", "crds")
    assert check(cache, monkeypatch) == 0
    said = capsys.readouterr().err
    assert said.startswith("kmerge: kmerge.crd: ")
    assert "no such file or directory" in said


ATTRIBUTES = [
    ("*.yaml kmerge-crd=config/crd", True),
    ("web/* kmerge-crd=docs,config/crd/cache.yaml", True),
    ("[attr]ours kmerge-crd=config/crd\nweb/** ours", True),
    ("config/** kmerge-crd=config/crd", False),
    ("*.yaml kmerge-crd", False),
]


@pytest.mark.parametrize("lines, learned", ATTRIBUTES)
@pytest.mark.parametrize("below", ["", "web"])
def test_an_attribute_names_them(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, lines: str, learned: bool, below: str
) -> None:
    cache.write("docs/README", "none")
    cache.write(".gitattributes", lines + "\n")
    files = [] if below else ["web/cache.yaml"]
    assert check(cache, monkeypatch, *files, below=below) == learned


@pytest.mark.parametrize("where", ["info", "folder", "linked", "global"])
def test_wherever_the_attribute_stands(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    below = "web"
    line = "*.yaml kmerge-crd=config/crd\n"
    if where == "info":
        cache.write(".git/info/attributes", line)
    elif where == "folder":
        cache.write("web/.gitattributes", line)
    elif where == "global":
        cache.git("config", "core.attributesFile", str(cache.write("../mine", line)))
    else:
        cache.commit("more", {".gitattributes": line})
        cache.git("worktree", "add", "-q", "linked")
        below = "linked/web"
    assert check(cache, monkeypatch, below=below) == 1


def test_an_attribute_names_nothing_outside(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.write(".gitattributes", "*.yaml kmerge-crd=../crds\n")
    assert check(cache, monkeypatch) == 0
    assert "`../crds` is outside of the repository" in capsys.readouterr().err


def test_git_is_not_asked_where_no_attribute_can_say_it(
    cache: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*args: object, **how: object) -> None:
        raise AssertionError(args)

    monkeypatch.setattr("kmerge_git.git.tracked_files.ask_git", never)
    cache.write(".gitattributes", "*.yaml merge=kmerge\n")
    assert check(cache, monkeypatch) == 0
    cache.write(".gitattributes", "*.yaml kmerge-crd=x\n")
    assert check(cache, monkeypatch) == 2  # it was asked
    assert "internal error: AssertionError" in capsys.readouterr().err
