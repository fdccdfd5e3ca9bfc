"""The settings of a path: who is heard first, and what nonsense costs (nothing)."""

from __future__ import annotations

import os

import pytest
from world import Repo, World

from kmerge_git.git import spawned_git
from kmerge_git.git.hints import nothing_is_set
from kmerge_git.git.settings import Settings, marker_size, matches, settings_for, settle


def told(found: Settings) -> dict[str, object]:
    names = [name for name in Settings.__slots__ if not name.endswith("origins")]
    return {name: getattr(found, name) for name in names}


DEFAULTS: dict[str, object] = {
    "rules": "git",
    "favor": None,
    "timeout": 10.0,
    "conflict_style": "merge",
    "marker_size": 7,
    "policies": [],
    "crds": [],
    "own_crds": [],
    "deletion": False,
    "generated": False,
    "problems": [],
}


def test_nobody_says_anything(world: World) -> None:
    assert told(settings_for("x.yaml", environ={})) == DEFAULTS
    world.init()
    os.chdir("repo")
    assert told(settings_for("x.yaml", environ={})) == DEFAULTS


def test_git_answers_for_the_path(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    repo.write(
        ".gitattributes",
        "a/* kmerge-rules=kyaml conflict-marker-size=9 kmerge-policy=spec.image:higher\n",
    )
    for key, value in (
        ("kmerge.favor", "theirs"),
        ("kmerge.timeout", "2.5"),
        ("merge.conflictStyle", "diff3"),
        ("kmerge.policy", "a/*.yaml spec.replicas ours"),
        ("kmerge.policy", "b/*.yaml spec.replicas theirs"),
    ):
        repo.git("config", "--add", key, value)
    assert told(settings_for("a/b c'.yaml", environ={})) == DEFAULTS | {
        "rules": "kyaml",
        "favor": "theirs",
        "timeout": 2.5,
        "conflict_style": "diff3",
        "marker_size": 9,
        "policies": [("spec.image", "higher"), ("spec.replicas", "ours")],
    }
    assert settings_for("c.yaml", environ={}).rules == "git"


@pytest.mark.parametrize(
    "config, environ, attribute, flag, favor",
    [
        ("ours", "", "", "", "ours"),
        ("ours", "theirs", "", "", "theirs"),
        ("ours", "ours", "theirs", "", "theirs"),
        ("ours", "ours", "ours", "theirs", "theirs"),
        ("ours", "", "", "none", None),
        ("ours", "none", "", "", None),
    ],
)
def test_flag_before_attribute_before_environment_before_config(
    config: str, environ: str, attribute: str, flag: str, favor: str | None
) -> None:
    found = settle(
        "x.yaml",
        [("kmerge.favor", config)],
        {"kmerge-favor": attribute} if attribute else {},
        {"KMERGE_FAVOR": environ},
        {"favor": flag} if flag else {},
    )
    assert found.favor == favor
    assert found.problems == []


def test_later_configuration_wins_and_kmerge_before_merge() -> None:
    pairs = [
        ("kmerge.conflictstyle", "zdiff3"),
        ("merge.conflictstyle", "diff3"),
        ("kmerge.timeout", "1"),
        ("kmerge.timeout", "3s"),
    ]
    found = settle("x.yaml", pairs, {}, {}, {})
    assert (found.conflict_style, found.timeout) == ("zdiff3", 3.0)


@pytest.mark.parametrize(
    "key, value",
    [
        ("kmerge.rules", "yaml"),
        ("kmerge.favor", "mine"),
        ("kmerge.timeout", "soon"),
        ("kmerge.timeout", "-1"),
        ("kmerge.timeout", "nan"),
        ("merge.conflictstyle", "diff4"),
        ("kmerge.policy", "*.yaml spec.x highest"),
        ("kmerge.policy", "spec.x higher"),
    ],
)
def test_nonsense_is_told_and_passed_over(key: str, value: str) -> None:
    found = settle("x.yaml", [(key, value)], {}, {}, {})
    (problem,) = found.problems
    assert key in problem
    assert value in problem
    assert told(found) == DEFAULTS | {"problems": [problem]}


def test_the_policy_attribute() -> None:
    found = settle("x.yaml", [], {"kmerge-policy": "version:higher,ours,x"}, {}, {})
    assert found.policies == [("version", "higher"), ("**", "ours")]
    assert len(found.problems) == 1


def test_a_key_without_a_value_is_true() -> None:
    assert spawned_git.config_pairs(b"kmerge.Favor\nours\0kmerge.x\0kmerge.y\n\0") == [
        ("kmerge.favor", "ours"),
        ("kmerge.x", "true"),
        ("kmerge.y", ""),
    ]


@pytest.mark.parametrize(
    "glob, path, expected",
    [
        ("*.yaml", "a/b/x.yaml", True),
        ("*.yaml", "x.yml", False),
        ("x?.yaml", "x1.yaml", True),
        ("x?.yaml", "x.yaml", False),
        ("a/*.yaml", "a/x.yaml", True),
        ("a/*.yaml", "a/b/x.yaml", False),
        ("a/**/*.yaml", "a/x.yaml", True),
        ("a/**/*.yaml", "a/b/c/x.yaml", True),
        ("**/x.yaml", "x.yaml", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("/x.yaml", "x.yaml", True),
        ("/x.yaml", "a/x.yaml", False),
        ("*a*b*c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        ("**", "a/b", True),
    ],
)
def test_globs_of_policies_match_as_attributes_do(
    repo: Repo, glob: str, path: str, expected: bool
) -> None:
    assert matches(glob, path) is expected
    repo.write(".gitattributes", f"{glob} merge=hit\n")
    assert (repo.attribute(path) == "hit") is expected


def test_without_git_there_are_defaults(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(world.root))
    assert told(settings_for("x.yaml", environ={})) == DEFAULTS


def _attributes_only_in_the_index(repo: Repo) -> None:
    repo.commit("attributes", {"a/.gitattributes": "*.yaml kmerge-favor=ours\n", "a/x.yaml": "a\n"})
    (repo.path / "a" / ".gitattributes").unlink()


def _the_same_in_a_short_index(repo: Repo) -> None:
    repo.git("config", "index.version", "4")
    _attributes_only_in_the_index(repo)
    repo.git("update-index", "--index-version", "4")


def _the_same_in_a_split_index(repo: Repo) -> None:
    _attributes_only_in_the_index(repo)
    repo.git("update-index", "--split-index")


def _long_attributes(repo: Repo) -> None:
    filler = "# a line that says nothing\n" * 50_000
    repo.write(".gitattributes", filler + "*.yaml kmerge-favor=ours\n")


SAID = {
    "in the index": _attributes_only_in_the_index,
    "in an index of version 4": _the_same_in_a_short_index,
    "in a split index": _the_same_in_a_split_index,
    "beyond a megabyte": _long_attributes,
    "attributes": lambda repo: repo.write(".gitattributes", "*.yaml kmerge-favor=ours\n"),
    "below": lambda repo: repo.write("a/.gitattributes", "*.yaml kmerge-favor=ours\n"),
    "info": lambda repo: repo.write(".git/info/attributes", "*.yaml kmerge-favor=ours\n"),
    "local": lambda repo: repo.git("config", "kmerge.favor", "ours"),
    "worktree": lambda repo: (
        repo.git("config", "extensions.worktreeConfig", "true"),
        repo.git("config", "--worktree", "kmerge.favor", "ours"),
    ),
    "include": lambda repo: (
        repo.write("more", "[kmerge]\nfavor = ours\n"),
        repo.git("config", "include.path", str(repo.path / "more")),
    ),
    "global": lambda repo: repo.git("config", "--global", "kmerge.favor", "ours"),
    "core.attributesFile": lambda repo: (
        repo.write("mine", "*.yaml kmerge-favor=ours\n"),
        repo.git("config", "core.attributesFile", str(repo.path / "mine")),
    ),
}


@pytest.mark.parametrize("where", SAID)
def test_what_git_would_say_is_not_missed(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Files are looked through before git is asked: wherever git has an answer, it must be."""
    monkeypatch.chdir(repo.path)
    assert nothing_is_set("a/x.yaml")
    SAID[where](repo)
    assert settings_for("a/x.yaml", environ={}).favor == "ours"


def test_attributes_of_others_are_no_reason_to_ask(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    files = {".gitattributes": "*.yaml merge=kmerge\n", "a/x.yaml": "a\n"}
    repo.commit("shared", files)
    assert nothing_is_set("a/x.yaml")


@pytest.mark.parametrize(
    "value, size",
    [
        *(("9", 9), ("+9", 9), ("3", 3), ("0", 7), ("-9", 7), ("x", 7), ("²", 7), ("0x10", 7)),
        # what some versions of git read as a number, and others as nothing
        *(("9x", 9), ("3x", 7), (f"{2**32 + 9}", 9), (f"{2**32 + 3}", 7), (f"{2**31}", 7)),
        *(("300", 300), ("1000000000", 10**9), ("9" * 5000, 7), ("0" * 5000 + "9", 9)),
    ],
)
def test_the_size_of_markers_as_git_reads_it(value: str, size: int) -> None:
    assert marker_size(value) == size
