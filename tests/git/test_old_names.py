"""The old names of commands do what the new ones do, and are in no list."""

from __future__ import annotations

import json

import pytest
from manifests import deployment
from world import Repo

from kmerge_git.cli.completion import candidates
from kmerge_git.cli.main import COMMANDS, OLD_NAMES, main

IMAGE = "* **.image higher"
THREE = ("base.yaml", "ours.yaml", "theirs.yaml")
NOW = [
    (["doctor"], ["status", "--deep"]),
    (["doctor", "--json"], ["status", "--deep", "--json"]),
    (["doctor", "--fix"], ["status", "--deep", "--fix"]),
    (["policy", "try", *IMAGE.split()], ["replay", "--policy", IMAGE]),
    (
        ["policy", "try", "--last", "1", *IMAGE.split(), "HEAD", "--json"],
        ["replay", "--last", "1", "--policy", IMAGE, "HEAD", "--json"],
    ),
    (["merge", *THREE], ["merge-file", *THREE]),
    (["merge", *THREE, "--marker-size", "9"], ["merge-file", *THREE, "--marker-size", "9"]),
]


@pytest.mark.parametrize("old, new", NOW, ids=" ".join)
@pytest.mark.costly
def test_an_old_name_does_the_same(repo: Repo, old: list[str], new: list[str]) -> None:
    repo.fork(
        {"app.yaml": deployment(image="app:1.0")},
        {"app.yaml": deployment(image="app:1.2")},
        {"app.yaml": deployment(image="app:1.1")},
    )
    repo.merge()
    repo.commit("merged", {"app.yaml": deployment(image="app:1.2")})
    for name, image in zip(THREE, ("app:1.0", "app:1.2", "app:1.1"), strict=True):
        repo.write(name, deployment(image=image))
    ends = []
    for words in (old, new):
        repo.git("config", "merge.kmerge.name", "x")  # the start of a registration, for --fix
        done = repo.kmerge(*words, check=False)
        ends.append((done.code, done.out, done.err))
        repo.kmerge("uninstall")
    assert ends[0] == ends[1]
    assert ends[0][0] != 2


@pytest.mark.parametrize("name", OLD_NAMES)
def test_an_old_name_is_in_no_list(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert name not in COMMANDS
    assert name not in candidates([""])
    assert main([]) == main(["help", "merging"]) == main(["help", "packages"]) == 0
    words = capsys.readouterr().out.replace(",", " ").split()
    assert name not in words
    assert {*COMMANDS} <= {*words}
    assert main([f"{name}x"]) == 2
    assert f"`{name}`" not in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: kmerge {OLD_NAMES[name][0]} ")


def test_merge_lists_no_option_for_three_files(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["merge", "--help"])
    assert "--marker-size" not in capsys.readouterr().out
    assert "--marker-size" not in candidates(["merge", "--"])
    assert "--marker-size" in candidates(["merge-file", "--"])


def test_json_has_the_keys_that_it_had(repo: Repo) -> None:
    sides = [f"a: {n}\nb: 1\nc: 1\nd: 1\n" for n in (1, 2, 3)]
    repo.fork(*({"x.yaml": text} for text in sides))
    assert repo.merge().code == 1
    listed, solved = (
        json.loads(repo.kmerge(*words, "--json", check=False).out)
        for words in (("resolve", "--list"), ("solve", "--dry-run"))
    )
    taken = json.loads(repo.kmerge("resolve", "--take", "ours", "--json").out)
    known = {"schema", "operation", "labels", "conflicts", "left", "settled", "left_alone"}
    assert {*listed} >= known | {"finish"}
    assert {*taken} >= known | {"finish", "staged", "given", "refused"}
    assert {*listed["conflicts"][0]} >= {
        *("id", "path", "resource", "field", "kind", "why", "told", "base", "ours", "theirs"),
        *("choices", "answer"),
    }
    assert {*solved} >= {
        *("schema", "operation", "dry_run", "solved", "files", "left_alone", "notes"),
        *("unmerged", "finish"),
    }
    assert {*solved["files"][0]} >= {
        *("path", "situation", "result", "why", "method", "deleted", "decided", "conflicts"),
    }


def test_help_of_the_old_way_to_try_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["policy", "try", "--help"])
    assert end.value.code == 0
    assert "GLOB FIELD POLICY" in capsys.readouterr().out
