"""`kmerge resolve` without a person: what it lists, takes, sets, and refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from manifests import deployment, service
from world import Done, Driven, Repo

from kmerge_git.errors import KmergeError
from kmerge_git.git.repository import Repository
from kmerge_git.merge.plan import Why
from kmerge_git.whole.solving import Wishes, carry_out, make_plan

NAMES = ("a.yaml", "apps/b.yaml")
SIDES = [deployment(replicas=n, image=f"app:{n}") for n in (1, 2, 3)]
REPLICAS, IMAGE = "spec.replicas", "spec.template.spec.containers[name=app].image"


@pytest.fixture
def torn(driven: Driven) -> Driven:
    """A merge that stopped with two conflicts in each of two files."""
    driven.fork(*(dict.fromkeys(NAMES, text) for text in SIDES))
    assert driven.merge().code == 1
    return driven


def listed(repo: Repo, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        repo.kmerge("resolve", "--list", "--json", *words, check=False).out
    )
    return found


def ids(repo: Repo, field: str) -> list[str]:
    return [c["id"] for c in listed(repo)["conflicts"] if c["field"] == field]


def state(repo: Repo) -> tuple[str, dict[str, str]]:
    files = (path for path in repo.path.rglob("*.yaml") if ".git" not in path.parts)
    index = repo.git("ls-files", "-s").out
    return index, {str(path.relative_to(repo.path)): path.read_text() for path in files}


def refused(repo: Repo, *words: str) -> str:
    """The one line of an error that changes nothing."""
    before = state(repo)
    done = repo.kmerge("resolve", *words, check=False)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert state(repo) == before
    return done.err


@pytest.mark.costly
def test_the_list(torn: Driven) -> None:
    before = state(torn)
    done = torn.kmerge("resolve", "--list", check=False)
    assert done.code == 1
    one = ids(torn, REPLICAS)[0]
    assert done.out.startswith(
        "a.yaml\n"
        f"  {one}  Deployment/web spec.replicas: {Why.BOTH_CHANGED}\n"
        f"      base ({torn.head('main~')[:7]}): 1\n"
        "      ours (HEAD): 2\n"
        "      theirs (side): 3\n"
        "      choices: ours, theirs, base"
    )
    assert done.err == "kmerge: 4 conflicts\n"
    assert state(torn) == before


@pytest.mark.costly
def test_the_list_as_json(torn: Driven) -> None:
    found = listed(torn)
    assert {key: found[key] for key in ("schema", "operation", "left", "finish")} == {
        "schema": 1,
        "operation": "merge",
        "left": 4,
        "finish": "git commit",
    }
    places = [(c["path"], c["field"]) for c in found["conflicts"]]
    assert places == [(path, field) for path in NAMES for field in (REPLICAS, IMAGE)]
    one = found["conflicts"][0]
    assert (one["base"], one["ours"], one["theirs"]) == ("1", "2", "3")
    assert (one["kind"], one["answer"], one["resource"]) == ("value", None, "Deployment/web")
    assert [c["path"] for c in listed(torn, "apps")["conflicts"]] == ["apps/b.yaml"] * 2
    assert listed(torn, "apps")["conflicts"] == found["conflicts"][2:]


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_one_side_of_all(torn: Driven, side: str) -> None:
    done = torn.kmerge("resolve", "--take", side)
    assert done.out == "staged  a.yaml\nstaged  apps/b.yaml\n"
    assert done.err == "kmerge: 2 files staged; finish with `git commit`\n"
    wanted = SIDES[1 if side == "ours" else 2]
    assert [torn.text(name) for name in NAMES] == [wanted, wanted]
    assert torn.unmerged() == []
    torn.git("commit", "-q", "--no-edit")


def test_of_some_files(torn: Driven) -> None:
    torn.world.kmerge("resolve", "--take", "theirs", ".", cwd=torn.path / "apps")
    assert torn.unmerged() == ["a.yaml"]
    assert torn.text("apps/b.yaml") == SIDES[2]


@pytest.mark.costly
def test_at_a_field(torn: Driven) -> None:
    done = torn.kmerge("resolve", "--take", "higher", "--at", "**.image", check=False)
    assert done.code == 1
    left = ids(torn, REPLICAS)
    assert done.out == "".join(
        f"open    {name}: 1 conflict\n    {one}  Deployment/web spec.replicas: {Why.BOTH_CHANGED}\n"
        for name, one in zip(NAMES, left, strict=True)
    )
    assert "2 files still in conflict; run `kmerge resolve` to continue" in done.err
    assert torn.text("a.yaml").count("<<<<<<<") == 1
    assert "image: app:3" in torn.text("a.yaml")
    torn.kmerge("resolve", "--take", "ours")
    assert torn.text("a.yaml") == deployment(replicas=2, image="app:3")
    assert torn.unmerged() == []


def test_what_cannot_be_is_left_and_said(torn: Driven) -> None:
    done = torn.kmerge("resolve", "--take", "both", check=False)
    assert done.code == 1
    assert done.out.count(f"{Why.BOTH_CHANGED}; ") == 4
    assert torn.text("a.yaml").count("<<<<<<<") == 2


@pytest.mark.costly
def test_values(torn: Driven) -> None:
    words = [f"--set={one}=7" for one in ids(torn, REPLICAS)]
    torn.kmerge("resolve", *words, f"--set={ids(torn, IMAGE)[0]}=app:x # mine", "--take", "theirs")
    first = torn.text("a.yaml")
    assert first == deployment(replicas=7, image="app:x # mine")
    assert torn.text("apps/b.yaml") == deployment(replicas=7, image="app:3")


@pytest.mark.costly
def test_answers_of_a_file_and_of_stdin(torn: Driven) -> None:
    found = listed(torn)
    answers = ["ours", {"value": "app:9"}, {"lines": "  replicas: 9\n"}, None]
    for conflict, answer in zip(found["conflicts"], answers, strict=True):
        conflict["answer"] = answer
    torn.write("answers", json.dumps(found))
    done = torn.kmerge("resolve", "--from", "answers", check=False)
    assert done.code == 1
    assert torn.text("a.yaml") == deployment(replicas=2, image="app:9")
    assert "  replicas: 9\n" in torn.text("apps/b.yaml")
    rest = listed(torn)
    assert [c["answer"] for c in rest["conflicts"]] == [{"lines": "  replicas: 9\n"}, None]
    rest["conflicts"][1]["answer"] = "theirs"
    done = piped(torn, json.dumps(rest))
    assert done.code == 0
    assert torn.text("apps/b.yaml") == deployment(replicas=9, image="app:3")


def piped(repo: Repo, text: str) -> Done:
    return repo.kmerge("resolve", "--from", "-", stdin=text, check=False)


@pytest.mark.costly
def test_as_json_after_answers(torn: Driven) -> None:
    one, other = ids(torn, REPLICAS)
    done = torn.kmerge("resolve", "--json", "--take", "ours", "--at", one, check=False)
    report = json.loads(done.out)
    assert (done.code, report["given"], report["refused"]) == (1, [one], [])
    assert report["left"] == 3
    done = torn.kmerge("resolve", "--json", "--take", "both", "--at", REPLICAS, check=False)
    report = json.loads(done.out)
    assert [row["id"] for row in report["refused"]] == [one, other]
    assert (report["given"], report["left"]) == ([], 3)


@pytest.mark.costly
def test_an_id_is_that_of_the_conflict(torn: Driven) -> None:
    """The same on every machine, and another one as soon as a version changes."""
    before = ids(torn, REPLICAS)
    assert len({*before}) == 2
    assert all(len(one) == 12 and int(one, 16) >= 0 for one in before)
    torn.kmerge("resolve", "--take", "theirs", "--at", "**.image", check=False)
    assert ids(torn, REPLICAS) == before
    torn.git("merge", "--abort")
    torn.commit("more", {"a.yaml": deployment(replicas=4, image="app:2")})
    torn.merge()
    after = ids(torn, REPLICAS)
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.costly
def test_a_merge_that_is_made_again_is_asked_again(torn: Driven) -> None:
    torn.kmerge("resolve", "--take", "theirs", "--at", REPLICAS, check=False)
    assert listed(torn)["left"] == 2
    torn.git("merge", "--abort")
    assert torn.merge().code == 1
    assert listed(torn)["left"] == 4


@pytest.mark.costly
def test_what_is_refused(torn: Driven) -> None:
    one = ids(torn, REPLICAS)[0]
    torn.write("answers", "{}")
    for words, said in (
        (("--take", "mine"), "--take: `mine` is not one of ours, theirs, both, base, higher"),
        (("--at", REPLICAS), "--at needs an answer for the fields"),
        (("--take", "thiers"), "rebump; did you mean `theirs`?"),
        (("--take", "ours", "--at", "spec.replcas"), "did you mean `spec.replicas`? run `kmerge"),
        (
            ("--set", "spec.replcas=3"),
            "run `kmerge resolve --list` to see the ids",
        ),  # there are two of them
        (
            ("--take", "ours", "--at", "spec.none"),
            "--at: no field in conflict matches this pattern",
        ),
        (("--take", "both", "--at", one), f"{one}: both is not a possible answer: "),
        (("--take", "ours", "--at", "0" * 12), "there is no conflict with this id"),
        (("--set", "0" * 12 + "=1"), "there is no conflict with this id"),
        (("--set", one), "has no `=`"),
        (("--set", f"{one}=[1"), f"{one}: value is not a possible answer: "),
        (
            ("--set", f"{one}=1", "--set", f"{one}=2"),
            "this conflict was given two different answers; give one",
        ),
        (("--take", "ours", "x.yaml"), "x.yaml: this path has no conflicts"),
        (("--take", "ours", ""), "a path is empty"),
        (("--take", "ours", "../x.yaml"), "is outside of the working tree"),
        (("--from", "answers"), "answers: not a file of answers"),
        (("--from", "none"), "none: cannot read the file"),
        (("--list", "--take", "ours"), "--list, --undo and answers cannot be used together"),
        (("--undo", "--take", "ours", "a.yaml"), "cannot be used together"),
        (("--undo", "--auto", "a.yaml"), "cannot be used together"),
        (("--list", "--undo", "a.yaml"), "cannot be used together"),
    ):
        assert said in refused(torn, *words)


@pytest.mark.costly
def test_without_a_terminal_the_conflicts_are_listed(torn: Driven) -> None:
    before = state(torn)
    found = torn.kmerge("resolve", "--list", check=False)
    for words, why in (
        ((), "cannot ask questions without a terminal"),
        (("--json",), "cannot ask questions with --json"),
    ):
        done = torn.kmerge("resolve", *words, check=False)
        assert done.code == 2 and f"kmerge: {why}; use --auto, --take" in done.err
        assert words or done.out == found.out
    assert state(torn) == before


@pytest.fixture
def mixed(repo: Repo) -> Repo:
    """A merge without the driver: a conflict that needs no decision, one that does, and a move."""
    web, api = service(80, "web"), service(81, "api")
    moved = api.replace("port: 81", "port: 82")
    base = {"all.yaml": f"{web}---\n{api}", "lines.yaml": "a: 1\nb: 1\n", "one.yaml": "a: 1\n"}
    ours = {"all.yaml": web, "api.yaml": api, "lines.yaml": "a: 2\nb: 1\n", "one.yaml": "a: 2\n"}
    theirs = {"all.yaml": f"{web}---\n{moved}", "lines.yaml": "a: 1\nb: 2\n", "one.yaml": "a: 3\n"}
    repo.fork(base, ours, theirs)
    assert repo.merge().code == 1
    return repo


SETTLED = ["all.yaml", "lines.yaml", "api.yaml"]  # the file to which something moved is last


def test_auto_settles_what_needs_no_decision(mixed: Repo) -> None:
    done = mixed.kmerge("resolve", "--auto", check=False)
    assert done.code == 1
    assert [line.split()[:2] for line in done.out.splitlines()[:4]] == [
        *(["settled", path] for path in SETTLED),
        ["open", "one.yaml:"],
    ]
    assert "port: 82" in mixed.text("api.yaml") and mixed.text("lines.yaml") == "a: 2\nb: 2\n"
    assert mixed.git("diff", "--name-only", "--diff-filter=U").out.split() == ["one.yaml"]
    assert Why.BOTH_CHANGED in mixed.text("one.yaml")  # with the smallest markers
    mixed.kmerge("resolve", "--undo", ".")  # covers both
    unmerged = mixed.git("diff", "--name-only", "--diff-filter=U").out.split()
    assert {"all.yaml", "lines.yaml", "one.yaml"} <= {*unmerged}


def test_an_answer_settles_the_rest_first(mixed: Repo) -> None:
    done = mixed.kmerge("resolve", "--take", "theirs")
    assert [line.split()[:2] for line in done.out.splitlines()] == [
        *(["settled", path] for path in SETTLED),
        ["staged", "one.yaml"],
    ]
    assert mixed.git("status", "--short").out.split("\n")[0].startswith("M")
    mixed.git("commit", "-q", "--no-edit")


def test_what_is_listed_is_what_is_left_after_that(mixed: Repo) -> None:
    before = state(mixed)
    for option in ("--list", "--dry-run", "-n"):
        done = mixed.kmerge("resolve", option, check=False)
        assert done.out.startswith("one.yaml\n") and "needs no decision: lines.yaml (" in done.out
        assert "1 conflict; `kmerge resolve --auto` resolves 3 files without asking" in done.err
    assert state(mixed) == before


def test_a_refused_answer_settles_nothing(mixed: Repo) -> None:
    refused(mixed, "--set", "0123456789ab=1")


def test_the_list_shows_what_differs_in_a_deleted_file(repo: Repo) -> None:
    lines = [f"k{n}: {n}\n" for n in range(20)]
    changed = [*lines[:15], "k15: new\n", *lines[16:]]
    repo.fork({"a.yaml": "".join(lines), "x": "1"}, {"x": "2"}, {"a.yaml": "".join(changed)})
    repo.git("rm", "-q", "a.yaml")
    repo.commit("gone")
    repo.merge()
    out = repo.kmerge("resolve", "--list", check=False).out
    assert "ours (HEAD): deleted\n" in out
    assert "        - k15: 15\n        + k15: new\n" in out and "k0" not in out


@pytest.mark.costly
def test_nothing_is_left_to_answer(torn: Driven) -> None:
    """It was an error: that field is not in conflict."""
    torn.kmerge("resolve", "--take", "ours")
    none = "kmerge: there are no conflicts"
    for words in (("--at", REPLICAS), ("--at", "0" * 12), ()):
        done = torn.kmerge("resolve", "--take", "theirs", *words)
        assert (done.out, done.err) == ("", f"{none}; finish with `git commit`\n")
    torn.git("commit", "-q", "--no-edit")
    assert torn.kmerge("resolve", "--take", "theirs", "--at", REPLICAS).err == f"{none}\n"


def test_a_field_in_the_place_of_an_id_is_told_its_id(torn: Driven) -> None:
    one = ids(torn, REPLICAS)[0]
    said = refused(torn, NAMES[0], "--set", "spec.replcas=3")
    assert said.endswith(f"there is no conflict with this id; the id of `spec.replicas` is {one}\n")


@pytest.mark.costly
def test_one_answer_that_cannot_be_and_nothing_is_done(torn: Driven) -> None:
    one, other = ids(torn, REPLICAS)
    refused(torn, "--set", f"{one}=5", "--set", f"{other}=a: b: c")
    assert listed(torn)["left"] == 4


@pytest.mark.costly
def test_an_answer_that_was_given_already_is_stale(torn: Driven) -> None:
    found = listed(torn, "a.yaml")
    for conflict in found["conflicts"]:
        conflict["answer"] = "ours"
    torn.write("answers", json.dumps(found))
    torn.kmerge("resolve", "--from", "answers", check=False)
    assert "there is no conflict with this id" in refused(torn, "--from", "answers")


@pytest.mark.costly
def test_a_deletion_against_a_change(repo: Repo) -> None:
    for side, there in (("ours", False), ("theirs", True)):
        place = repo.world.init(side)
        place.fork({"a.yaml": SIDES[0], "x": "1"}, {"x": "2"}, {"a.yaml": SIDES[2]})
        place.git("rm", "-q", "a.yaml")
        place.commit("gone")
        place.merge()
        (conflict,) = listed(place)["conflicts"]
        assert (conflict["kind"], conflict["ours"]) == ("file", None)
        row = {"id": conflict["id"], "answer": {"lines": "a: [\n"}}
        place.write("answers", json.dumps({"schema": 1, "conflicts": [row]}))
        assert "the file would be damaged: the file is not valid YAML" in refused(
            place, "--from", "answers"
        )
        place.kmerge("resolve", "--take", side)
        assert place.unmerged() == []
        assert (place.path / "a.yaml").exists() == there
        place.kmerge("resolve", "--undo", "a.yaml")
        assert place.unmerged() == ["a.yaml"]
        assert place.text("a.yaml") == SIDES[2]
        assert listed(place)["conflicts"][0]["answer"] is None


@pytest.mark.costly
def test_a_file_of_ones_own_where_one_side_deleted_it(repo: Repo) -> None:
    repo.fork({"a.yaml": SIDES[0], "x": "1"}, {"x": "2"}, {"a.yaml": SIDES[2]})
    repo.git("rm", "-q", "a.yaml")
    repo.commit("gone")
    repo.merge()
    (conflict,) = listed(repo)["conflicts"]
    one = conflict["id"]
    assert "the question is whether to keep the file" in refused(repo, f"--set={one}=5")
    for text in ("a: [1\n", "a: 1\na: 2\n", "<<<<<<< x\n=======\n>>>>>>> y\n"):
        answers = {"schema": 1, "conflicts": [{"id": one, "answer": {"lines": text}}]}
        repo.write("answers", json.dumps(answers))
        assert "lines is not a possible answer: " in refused(repo, "--from", "answers")
    answers["conflicts"] = [{"id": one, "answer": {"lines": SIDES[1]}}]
    repo.write("answers", json.dumps(answers))
    repo.kmerge("resolve", "--from", "answers")
    assert repo.show(":a.yaml") == SIDES[1]


@pytest.mark.costly
def test_what_is_left_alone_is_told(driven: Driven) -> None:
    files = {
        "a.yaml": SIDES,
        "notes": ["1\n", "2\n", "3\n"],
        "b.yaml": [service(n) for n in (1, 2, 3)],
    }
    driven.fork(*({name: texts[n] for name, texts in files.items()} for n in range(3)))
    driven.merge()
    driven.write("b.yaml", service(9))
    found = listed(driven)
    assert [row["path"] for row in found["left_alone"]] == ["b.yaml", "notes"]
    done = driven.kmerge("resolve", "--take", "ours")
    assert driven.text("b.yaml") == service(9)
    assert "kmerge: still in conflict (edited after the merge" in done.err
    assert done.err.endswith("kmerge: 1 file staged, 2 files still in conflict\n")
    assert "kmerge cannot resolve this conflict" in refused(driven, "--take", "ours", "b.yaml")


@pytest.mark.costly
def test_undo_takes_the_answers_back(torn: Driven) -> None:
    before = state(torn)
    torn.kmerge("resolve", "--take", "theirs")
    torn.kmerge("resolve", "--undo", ".")
    assert state(torn) == before
    assert [c["answer"] for c in listed(torn)["conflicts"]] == [None] * 4
    assert listed(torn)["left"] == 4


@pytest.mark.costly
def test_undo_of_a_file_that_is_half_done(torn: Driven) -> None:
    before = state(torn)
    torn.kmerge("resolve", "--take", "theirs", "--at", REPLICAS, check=False)
    assert listed(torn)["left"] == 2
    torn.kmerge("resolve", "--undo", "a.yaml")
    assert [c["answer"] for c in listed(torn)["conflicts"]] == [None, None, "theirs", None]
    torn.kmerge("resolve", "--undo", ".")
    assert state(torn) == before


def test_outside_of_any_conflict(repo: Repo, tmp_path: Path) -> None:
    repo.commit("base", {"a.yaml": SIDES[0]})
    done = repo.kmerge("resolve", "--list")
    assert (done.code, done.out, done.err) == (0, "", "kmerge: there are no conflicts\n")
    assert repo.kmerge("resolve", "--take", "ours").code == 0
    assert repo.kmerge("resolve").err == done.err  # without a terminal, too
    assert repo.kmerge("resolve", "--set", "0123456789ab=1").err == done.err


@pytest.mark.parametrize("command", ["resolve", "solve"])
@pytest.mark.costly
def test_an_index_that_is_held_is_told_before_a_file_is_written(torn: Driven, command: str) -> None:
    """Else the file would be ours, and `solve` would call it edited by hand."""
    before = torn.text("a.yaml"), torn.git("status", "--porcelain").out
    words = ("resolve", "--take", "theirs") if command == "resolve" else ("solve", "--favor=theirs")
    lock = torn.write(".git/index.lock", "")
    done = torn.kmerge(*words, check=False)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err == (
        f"kmerge: another git process holds the lock {torn.path}/.git/index.lock, so git wrote nothing; "
        "wait until that process ends, or remove the lock file if no git process is running\n"
    )
    assert (torn.text("a.yaml"), torn.git("status", "--porcelain").out) == before
    assert not (torn.path / ".git/kmerge-answers").exists()
    lock.unlink()
    assert torn.kmerge(*words).code == 0
    assert torn.unmerged() == []


@pytest.mark.parametrize("what", ["the disk is read-only", "kmerge cannot write to this folder"])
@pytest.mark.parametrize("place", [".git", "apps"])
def test_a_place_that_cannot_be_written_is_told_before_a_file_is_written(
    torn: Driven, monkeypatch: pytest.MonkeyPatch, what: str, place: str
) -> None:
    monkeypatch.chdir(torn.path)
    repository = Repository.open()
    plan = make_plan(repository, Wishes(("a.yaml", "apps/b.yaml"), favor="theirs"))
    before = torn.text("a.yaml")
    at = str(torn.path / place)
    denied = lambda path, mode: str(path).rstrip("/") != at  # noqa: E731
    monkeypatch.setattr(os, "access", denied)
    flag = os.ST_RDONLY if "disk" in what else 0
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flag))
    with pytest.raises(KmergeError, match=what) as refused:
        carry_out(repository, plan)
    assert refused.value.path.rstrip("/") == at
    assert torn.text("a.yaml") == before


def test_nothing_is_written_beyond_a_link(torn: Driven, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (torn.path / "apps/b.yaml").unlink()
    (torn.path / "apps").rmdir()
    (torn.path / "apps").symlink_to(elsewhere)
    torn.kmerge("resolve", "--take", "ours")
    assert (torn.unmerged(), list(elsewhere.iterdir())) == (["apps/b.yaml"], [])
    assert "symbolic link" in listed(torn)["left_alone"][0]["why"]
