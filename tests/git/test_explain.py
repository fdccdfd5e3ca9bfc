"""`kmerge explain` in real repositories: merges that are done, and merges in progress."""

from __future__ import annotations

import json
from typing import Any

import pytest
from manifests import deployment, service, stream
from world import Driven, Repo, World

from kmerge_git.merge.plan import Why

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"), image="app:2")
BOTH = deployment(env=("A=1", "OURS=1", "THEIRS=1"), image="app:2")
MANY = tuple(f"V{index}=1" for index in range(8))


def told(repo: Repo, *args: str) -> dict[str, Any]:
    """The explanation as JSON; making it leaves no trace."""
    before = trace(repo)
    report: dict[str, Any] = json.loads(repo.kmerge("explain", "--json", *args).out)
    assert trace(repo) == before
    return report


def trace(repo: Repo) -> tuple[str, ...]:
    if (repo.path / ".git").exists():
        return tuple(
            repo.git(*words, check=False).out
            for words in (("ls-files", "-s"), ("status", "--porcelain"), ("count-objects",))
        )
    return (repo.git("count-objects").out,)


def files(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {file["path"]: file for file in report["files"]}


def fields(file: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    keys = ("what", "side", "rule", "base", "ours", "theirs")
    return {d["field"]: tuple(d[key] for key in keys) for d in file["decisions"]}


def forked(repo: Repo) -> None:
    """Four files, one of each result."""
    repo.fork(
        dict.fromkeys(("clean.yaml", "resolved.yaml", "conflict.yaml"), BASE)
        | {"twice.yaml": deployment(env=MANY), "notes.txt": "a\n", "one.yaml": service()},
        {
            "clean.yaml": deployment(replicas=2),
            "resolved.yaml": OURS,
            "conflict.yaml": deployment(replicas=2),
            "twice.yaml": deployment(env=("NEW=1", *MANY)),
        },
        {
            "clean.yaml": deployment(image="app:2"),
            "resolved.yaml": THEIRS,
            "conflict.yaml": deployment(replicas=3),
            "twice.yaml": deployment(env=(*MANY, "NEW=1")),
            "one.yaml": service(81),
        },
    )


def test_a_merge_commit_is_made_again(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.commit("Merge side", {"conflict.yaml": deployment(replicas=3)})
    report = told(driven, "HEAD")
    found = files(report)
    assert report["operation"] == "merge"
    assert report["commit"] == driven.head()
    assert {path: (f["result"], f["git"], f["now"]) for path, f in found.items()} == {
        "clean.yaml": ("clean", "clean", "same"),
        "resolved.yaml": ("resolved", "conflict", "same"),
        "conflict.yaml": ("conflict", "conflict", "different"),
        "twice.yaml": ("improved", "clean", "same"),
    }
    app = "spec.template.spec.containers[name=app]"
    assert fields(found["resolved.yaml"]) == {
        f"{app}.image": ("changed", "theirs", "1", "app:1", "app:1", "app:2"),
        f"{app}.env[name=OURS]": ("added", "ours", "3", "", '{name: OURS, value: "1"}', ""),
        f"{app}.env[name=THEIRS]": ("added", "theirs", "3", "", "", '{name: THEIRS, value: "1"}'),
    }
    assert fields(found["conflict.yaml"])["spec.replicas"] == (
        *(Why.BOTH_CHANGED, "conflict", "6"),
        *("1", "2", "3"),
    )
    assert [c["chosen"] for c in found["conflict.yaml"]["conflicts"]] == ["theirs"]
    assert found["conflict.yaml"]["changes"] == []
    again = [(c["how"], c["after"]) for c in found["twice.yaml"]["git_alone"]]
    assert again == [("added", {"name": "NEW", "value": "1"})]
    assert report["elsewhere"] == []


def test_elements_without_a_key_are_one_place(repo: Repo) -> None:
    """What was chosen of them may stand at other places of the list."""

    def args(*words: str) -> str:
        return "spec:\n  args:\n" + "".join(f"  - {word}\n" for word in words)

    repo.fork({"a.yaml": args("a", "b")}, {"a.yaml": args("a", "o")}, {"a.yaml": args("a", "t")})
    repo.merge()
    repo.commit("Merge side", {"a.yaml": args("new", "a", "t", "more")})
    found = files(told(repo, "HEAD"))["a.yaml"]
    assert [(c["field"], c["chosen"]) for c in found["conflicts"]] == [("spec.args[1]", "neither")]
    assert found["changes"] == []


def test_of_long_conflicts_the_lines_that_differ_are_shown(repo: Repo) -> None:
    text = "data:\n  x:\n" + "".join(f"    k{n}: 1\n" for n in range(6)) + "    last: {}\n  y: 1\n"
    repo.fork({"a.yaml": text.format(1)}, {"a.yaml": "data:\n  y: 1\n"}, {"a.yaml": text.format(2)})
    repo.merge()
    repo.commit("Merge side", {"a.yaml": text.format(2)})
    lines = repo.kmerge("explain", "HEAD").lines
    shown = [" ".join(line.split()) for line in lines if line.startswith(" " * 6)]
    assert shown == ["base …", "last: 1", "ours (nothing)", "theirs …", "last: 2"]


@pytest.mark.parametrize("length", [30, 90])
def test_of_long_values_the_part_that_differs_is_shown(driven: Driven, length: int) -> None:
    """Of a conflict, of a value that a policy decided, of a list without keys, of one side's change."""
    long = "word " * length
    text = "a: {0}{1}\nb: {0}{2}\nc:\n- {0}\n{3}d: 1\n"
    text += "e: {0}{4}\n"
    versions = [("1", "1", "", 1), ("2", "2", f"- {long}2\n", 1), ("3", "3", f"- {long}3\n", 3)]
    driven.fork(*({"a.yaml": text.format(long, *words)} for words in versions))
    driven.git("config", "kmerge.policy", "*.yaml b theirs")
    driven.merge()
    driven.commit("Merge side", {"a.yaml": text.format(long, *versions[2])})
    lines = driven.kmerge("explain", "HEAD").lines
    assert max(map(len, lines)) <= 160
    ends = [line.split("word")[-1].strip(" []") for line in lines if line.startswith("      ")]
    assert ends == [*("1", "2", "3"), *("base   (nothing)", "2", "3"), *("1", "2", "3")]
    assert not [line for line in lines if "…" not in line and "word" in line]
    assert "  e: …d word word 1 -> …d word word 3  (theirs)" in lines
    values = [
        d[side]
        for d in files(told(driven, "HEAD"))["a.yaml"]["decisions"]
        for side in ("ours", "theirs")
    ]
    assert 0 < max(map(len, values)) <= 300


def test_comments_that_both_sides_changed_alike(driven: Driven) -> None:
    base = "kind: ConfigMap\n# old\ndata:\n  a: 1\n  b: 1\n"
    new = base.replace("# old", "# new")
    sides = {"a.yaml": new.replace("a: 1", "a: 2")}, {"a.yaml": new.replace("b: 1", "b: 2")}
    driven.fork({"a.yaml": base}, *sides)
    driven.merge()
    lines = driven.kmerge("explain", "HEAD", "--all").lines
    assert "  comments: # old -> # new  (both)" in lines
    assert not [line for line in lines if "differently" in line]


def test_the_same_is_said_whether_the_driver_made_it_or_not(repo: Repo) -> None:
    forked(repo)
    repo.merge()
    repo.commit("Merge side", {"resolved.yaml": BOTH, "conflict.yaml": deployment(replicas=9)})
    found = files(told(repo, "HEAD"))
    assert found["resolved.yaml"]["now"] == "same"
    assert [c["chosen"] for c in found["conflict.yaml"]["conflicts"]] == ["neither"]


@pytest.mark.costly
def test_whose_comment_it_is(driven: Driven) -> None:
    """Its values are the same in all versions: the text says it."""
    base = "kind: ConfigMap\ndata:\n  a: 1 # x\n  b: 1\n"
    sides = [{"x.yaml": base.replace("# x", word)} for word in ("# ours", "# theirs")]
    driven.fork({"x.yaml": base}, *sides)
    driven.merge()
    for word, chosen in (("# ours", "ours"), ("# theirs", "theirs"), ("# mine", "neither")):
        driven.write("x.yaml", base.replace("# x", word))
        (conflict,) = files(told(driven))["x.yaml"]["conflicts"]
        assert conflict["chosen"] == chosen


@pytest.mark.costly
def test_whose_value_it_is_in_another_spelling(driven: Driven) -> None:
    base = "kind: ConfigMap\ndata:\n  a: one\n  b: one\n"
    driven.fork(*({"x.yaml": base.replace("a: one", f"a: {word}")} for word in ("one", "o", "t")))
    driven.merge()
    for word, chosen in (("o", "ours"), ('"o"', "ours"), ("'t'", "theirs"), ('"x"', "neither")):
        driven.write("x.yaml", base.replace("a: one", f"a: {word}"))
        (conflict,) = files(told(driven))["x.yaml"]["conflicts"]
        assert conflict["chosen"] == chosen, word


@pytest.mark.costly
def test_what_surprises_comes_first(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.commit("Merge side", {"conflict.yaml": deployment(replicas=2)})
    lines = driven.kmerge("explain", "HEAD").lines
    heads = [line for line in lines if line.partition(":")[0].endswith(".yaml")]
    assert heads == [
        "resolved.yaml: merged field by field; git alone leaves a conflict",
        "twice.yaml: merged field by field; git alone has no conflict, but gives a different result",
        "conflict.yaml: CONFLICT in 1 place",
    ]
    assert f"  Deployment/web spec.replicas: {Why.BOTH_CHANGED}; the commit has ours" in lines
    image = "    spec.template.spec.containers[name=app].image: app:1 -> app:2  (theirs)"
    assert image in lines
    assert lines[-1] == (
        "4 manifests changed on both sides; git merges 1 of them to the same bytes as kmerge (--all shows them)"
    )
    everything = driven.kmerge("explain", "HEAD", "--all").lines
    assert "clean.yaml: git's line merge gives the same bytes" in everything


@pytest.mark.costly
def test_a_commit_that_git_alone_made_is_told(repo: Repo) -> None:
    forked(repo)
    repo.merge()
    repo.commit("Merge side", {"resolved.yaml": BOTH, "conflict.yaml": deployment(replicas=2)})
    assert files(told(repo, "HEAD"))["twice.yaml"]["now"] == "as git"
    assert "  the commit has the result of git's line merge" in repo.kmerge("explain", "HEAD").lines


def test_a_policy_is_told_by_its_rule(driven: Driven) -> None:
    driven.fork(
        {"a.yaml": BASE},
        {"a.yaml": deployment(image="app:3")},
        {"a.yaml": deployment(image="app:2")},
    )
    driven.git("config", "kmerge.policy", "*.yaml spec.template.spec.containers[*].image higher")
    driven.merge()
    report = told(driven, "HEAD")
    app = "spec.template.spec.containers[name=app]"
    assert fields(files(report)["a.yaml"])[f"{app}.image"] == (
        *(Why.BOTH_CHANGED, "ours", "12 policy higher"),
        *("app:1", "app:3", "app:2"),
    )
    lines = driven.kmerge("explain", "HEAD").lines
    at = lines.index(f"    {app}.image:")  # a line has at most 160 characters
    assert lines[at + 1] == (
        f"          {Why.BOTH_CHANGED}; ours taken  "
        "(rule 12 policy higher: both sides changed the field, and a policy for it decides)"
    )


@pytest.mark.costly
def test_what_neither_side_brought_is_shown(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    files_ = {
        "conflict.yaml": deployment(replicas=2),
        "resolved.yaml": BOTH.replace("app:2", "app:3"),
        "one.yaml": service(82),
        "clean.yaml": deployment(replicas=2, image="app:2") + "# layout\n",
    }
    driven.commit("Merge side", files_)
    report = told(driven, "HEAD")
    found = files(report)
    image = found["resolved.yaml"]["changes"]
    assert [(c["field"], c["before"], c["after"]) for c in image] == [
        ("spec.template.spec.containers[name=app].image", "app:2", "app:3")
    ]
    assert [(e["path"], e["changes"][0]["after"]) for e in report["elsewhere"]] == [
        ("one.yaml", 82)
    ]
    lines = driven.kmerge("explain", "HEAD").lines
    assert "one.yaml: the commit has changes that neither side made" in lines
    assert "  the commit differs only in comments or layout" in lines
    assert lines[-1].endswith("; the commit differs from the merge in 2 files")


def test_a_side_that_the_commit_dropped_is_seen(repo: Repo) -> None:
    """`-s ours` under another name: the surprise for which this command is asked."""
    forked(repo)
    repo.merge("-s", "ours", "side")
    report = told(repo, "HEAD")
    found = files(report)
    assert found["resolved.yaml"]["now"] == "different"
    assert {c["how"] for c in found["resolved.yaml"]["changes"]} == {"changed", "deleted"}
    assert [e["path"] for e in report["elsewhere"]] == ["one.yaml"]


@pytest.mark.costly
def test_only_the_files_that_are_asked_for(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.commit("Merge side", {"conflict.yaml": deployment(replicas=2)})
    assert [*files(told(driven, "HEAD", "--", "twice.yaml"))] == ["twice.yaml"]
    assert [*files(told(driven, "HEAD", "resolved.yaml"))] == ["resolved.yaml"]
    assert told(driven, "HEAD", "--", "nowhere/")["files"] == []
    assert "nowhere: no such path; put `--`" in refused(driven, "HEAD", "nowhere")
    assert "explain accepts one merge" in refused(driven, "HEAD", "main", "--", "x")


@pytest.mark.costly
def test_a_resource_that_moved_is_told(driven: Driven) -> None:
    moved, kept = service(), deployment()
    driven.fork(
        {"old.yaml": stream(kept, moved)},
        {"old.yaml": stream(kept, service(81))},
        {"old.yaml": kept, "new.yaml": moved},
    )
    driven.merge()
    driven.kmerge("solve")
    driven.git("commit", "-q", "-m", "Merge side")
    found = files(told(driven, "HEAD"))
    assert {path: (f["result"], f["now"]) for path, f in found.items()} == {
        "old.yaml": ("moved", "same"),
        "new.yaml": ("moved", "same"),
    }
    shown = driven.kmerge("explain", "HEAD").out
    assert "Service/web was moved to new.yaml" in shown


@pytest.mark.costly
def test_a_file_that_somebody_dropped_comes_first(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.git("rm", "-q", "-f", "clean.yaml")
    driven.commit("Merge side", {"conflict.yaml": deployment(replicas=3)})
    shown = driven.kmerge("explain", "HEAD").out
    heads = [line.split(":")[0] for line in shown.splitlines() if ".yaml: " in line]
    assert heads == ["clean.yaml", "resolved.yaml", "twice.yaml", "conflict.yaml"]
    assert shown.endswith("; the commit differs from the merge in 1 file\n")


def test_what_is_at_stake_in_a_deleted_file(driven: Driven) -> None:
    driven.fork({"a.yaml": BASE, "x": "1"}, {"x": "1"}, {"a.yaml": deployment(replicas=3)})
    driven.git("rm", "-q", "a.yaml")
    driven.commit("gone")
    driven.merge()
    shown = driven.kmerge("explain").out
    assert (
        "a.yaml: CONFLICT, deleted by us, changed by them\n"
        "  changes in theirs:\n"
        "    Deployment/web\n"
        "      spec.replicas: 1 -> 3\n"
        "  the working tree has the file\n"
    ) in shown
    (change,) = files(told(driven))["a.yaml"]["against"]
    assert (change["field"], change["before"], change["after"]) == ("spec.replicas", 1, 3)


@pytest.mark.costly
def test_what_is_still_to_be_solved_is_no_other_result(driven: Driven) -> None:
    moved, kept = service(), deployment()
    driven.fork(
        {"old.yaml": stream(kept, moved)},
        {"old.yaml": kept, "new.yaml": moved},
        {"old.yaml": stream(kept, service(81))},
    )
    driven.merge()
    found = files(told(driven))
    assert {path: (f["git"], f["now"], f["changes"]) for path, f in found.items()} == {
        "old.yaml": ("conflict", "unsolved", []),
        "new.yaml": ("clean", "unsolved", []),
    }
    shown = driven.kmerge("explain").out
    assert (
        "new.yaml: a resource that moved here is merged; git alone does not change this file"
        in shown
    )
    assert "  the working tree still has the conflict; run `kmerge resolve --auto`\n" in shown
    assert (
        "  the working tree does not have this result yet; run `kmerge resolve --auto`\n" in shown
    )
    assert "<<<<" not in shown
    assert shown.endswith("\n2 manifests changed on both sides\n")
    driven.write("new.yaml", service(82))
    assert files(told(driven))["new.yaml"]["now"] == "different"
    driven.write("new.yaml", moved)
    driven.kmerge("solve")
    assert {f["now"] for f in files(told(driven)).values()} == {"same"}


@pytest.mark.costly
def test_a_merge_in_progress(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    report = told(driven)
    found = files(report)
    assert report["operation"] == "merge"
    assert {path: (f["result"], f["now"]) for path, f in found.items()} == {
        "clean.yaml": ("clean", "same"),
        "resolved.yaml": ("resolved", "same"),
        "twice.yaml": ("improved", "same"),
        "conflict.yaml": ("conflict", "in conflict"),
    }
    driven.write("conflict.yaml", deployment(replicas=7))
    driven.git("add", "conflict.yaml")
    found = files(told(driven))
    assert [c["chosen"] for c in found["conflict.yaml"]["conflicts"]] == ["neither"]
    assert "the working tree has neither version" in driven.kmerge("explain").out


@pytest.mark.parametrize("name", ["cherry-pick", "revert", "rebase"])
def test_other_operations_in_progress(driven: Driven, name: str) -> None:
    forked(driven)
    if name == "revert":
        driven.commit("later", {"conflict.yaml": deployment(replicas=5)})
        driven.git("revert", "HEAD~1", check=False)
    else:
        driven.git(name, "side", check=False)
    report = told(driven)
    assert report["operation"] == name
    assert files(report)["conflict.yaml"]["now"] == "in conflict"


def test_a_stash_that_clashes(driven: Driven) -> None:
    driven.commit("base", {"a.yaml": BASE, "b.yaml": BASE})
    driven.write("a.yaml", deployment(replicas=2))
    driven.write("b.yaml", OURS)
    driven.git("stash", "-q")
    driven.commit("later", {"a.yaml": deployment(replicas=3), "b.yaml": THEIRS})
    driven.git("stash", "pop", check=False)
    found = files(told(driven))
    assert found["a.yaml"]["result"] == "conflict"
    assert [(c["base"], c["theirs"]) for c in found["a.yaml"]["conflicts"]] == [
        ("replicas: 1", "replicas: 2")
    ]


def test_what_git_remembers_of_a_staged_conflict_is_enough(driven: Driven) -> None:
    """Nothing tells that a stash was applied, once its conflicts are staged."""
    driven.commit("base", {"a.yaml": BASE})
    driven.write("a.yaml", deployment(replicas=2))
    driven.git("stash", "-q")
    driven.commit("later", {"a.yaml": deployment(replicas=3)})
    driven.git("stash", "pop", check=False)
    driven.write("a.yaml", deployment(replicas=2))
    driven.git("add", "a.yaml")
    driven.git("stash", "drop", "-q")
    report = told(driven)
    assert report["notes"] == [
        "git does not report the merged commits, so only files in conflict are explained"
    ]
    assert [c["chosen"] for c in files(report)["a.yaml"]["conflicts"]] == ["theirs"]


def test_line_ends_of_a_checkout_are_no_difference(driven: Driven) -> None:
    driven.git("config", "core.autocrlf", "true")
    driven.fork({"a.yaml": BASE}, {"a.yaml": OURS}, {"a.yaml": THEIRS})
    driven.git("checkout", "-q", "side")
    driven.git("checkout", "-q", "main")
    driven.merge("--no-commit")
    assert b"\r\n" in driven.bytes("a.yaml")
    assert files(told(driven))["a.yaml"]["now"] == "same"


def test_a_merge_in_progress_without_its_base(world: World, repo: Repo) -> None:
    forked(repo)
    clone = Repo(world, world.root / "clone")
    world.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", clone.path)
    clone.merge("--allow-unrelated-histories", "origin/side")
    assert "this is a shallow clone; run `git fetch --unshallow`" in refused(clone)


def refused(repo: Repo, *args: str) -> str:
    done = repo.kmerge("explain", *args, check=False)
    assert (done.code, done.out) == (2, "")
    return done.err


def test_a_merge_that_is_committed_is_not_in_progress(driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.commit("Merge side", {"conflict.yaml": deployment(replicas=7)})
    assert "conflict.yaml" in driven.git("ls-files", "--resolve-undo").out
    assert "no merge is in progress; use `kmerge explain HEAD`" in refused(driven)


def test_what_cannot_be_made_again_is_said(driven: Driven) -> None:
    forked(driven)
    assert "no merge is in progress; use `kmerge explain REV`" in refused(driven)
    assert "HEAD: not a merge commit; git keeps no record of a rebase, cherry-pick" in refused(
        driven, "HEAD"
    )
    assert "'nothing' is not a commit of this repository" in refused(driven, "nothing")
    driven.write("side", "a file\n")
    assert "side: both a commit and a path have this name" in refused(driven, "side")
    driven.branch("other", "side")
    driven.commit("other", {"other.txt": "x\n"})
    driven.branch("third", "main~1")
    driven.commit("third", {"third.txt": "x\n"})
    driven.branch("fourth", "main~1")
    driven.commit("fourth", {"fourth.txt": "x\n"})
    driven.git("merge", "-q", "third", "other")
    assert "kmerge cannot explain an octopus merge with 3 parents" in refused(driven, "HEAD")


def test_a_criss_cross_is_made_against_the_first_base(repo: Repo) -> None:
    repo.fork({"a.yaml": BASE}, {"a.yaml": deployment(replicas=2)}, {"a.yaml": THEIRS})
    ours, theirs = repo.head(), repo.head("side")
    repo.merge()
    repo.commit("one")
    repo.git("checkout", "-q", "side")
    repo.git("merge", "-q", ours, check=False)
    repo.commit("two", {"a.yaml": deployment(replicas=3, image="app:2")})
    repo.git("merge", "-q", "--no-commit", "main", check=False)
    repo.commit("three", {"a.yaml": deployment(replicas=4, image="app:2")})
    bases = repo.git("merge-base", "--all", "HEAD^1", "HEAD^2").lines
    assert sorted(bases) == sorted([ours, theirs])
    report = told(repo, "HEAD")
    assert report["notes"] == ["criss-cross merge: the first of several merge bases is used here"]
    assert [*files(report)] == ["a.yaml"]


def test_a_history_that_is_cut_off(world: World, driven: Driven) -> None:
    forked(driven)
    driven.merge()
    driven.commit("Merge side", {"conflict.yaml": BASE})
    clone = world.root / "clone"
    world.git("clone", "-q", "--depth=2", f"file://{driven.path}", clone)
    assert "this is a shallow clone; run `git fetch --unshallow`" in refused(
        Repo(world, clone), "HEAD"
    )


@pytest.mark.costly
def test_a_bare_repository_explains_its_merges(world: World, driven: Driven) -> None:
    forked(driven)
    driven.merge()
    chosen = {"conflict.yaml": deployment(replicas=2), ".gitattributes": "twice.yaml -merge\n"}
    driven.commit("Merge side", chosen)
    driven.write(".git/info/attributes", "")
    bare = Repo(world, world.root / "bare.git")
    world.git("clone", "-q", "--bare", driven.path, bare.path)
    expected = {"clean.yaml", "resolved.yaml", "conflict.yaml"}
    assert files(told(bare, "HEAD")).keys() == files(told(driven, "HEAD")).keys() == expected
    assert "a bare repository has no merge in progress" in refused(bare)


def test_names_of_others_do_nothing_to_a_terminal(driven: Driven) -> None:
    name = "a\x1b[31m.yaml"
    driven.fork({name: BASE}, {name: OURS}, {name: THEIRS})
    driven.merge("--no-commit")
    shown = driven.kmerge("explain", "--color=never").out
    assert "\x1b" not in shown
    assert "a\\x1b[31m.yaml: merged field by field" in shown


def test_a_file_that_a_person_must_have_or_not(driven: Driven) -> None:
    driven.fork({"a.yaml": BASE, "x": ""}, {"a.yaml": OURS}, {"x": "x\n"})
    driven.git("checkout", "-q", "side")
    driven.git("rm", "-q", "a.yaml")
    driven.commit("gone")
    driven.switch("main")
    driven.merge()
    driven.git("rm", "-q", "a.yaml", check=False)
    driven.commit("Merge side")
    found = files(told(driven, "HEAD"))["a.yaml"]
    assert (found["result"], found["now"]) == ("conflict", "gone")
    assert "  the commit does not have the file" in driven.kmerge("explain", "HEAD").lines


def test_what_a_link_leads_to_is_not_read(driven: Driven) -> None:
    driven.fork({"a.yaml": BASE}, {"a.yaml": OURS}, {"a.yaml": deployment(env=("A=1", "T=1"))})
    assert driven.merge("--no-commit").code == 0
    driven.write("../secret.yaml", "password: hunter2\n")
    (driven.path / "a.yaml").unlink()
    (driven.path / "a.yaml").symlink_to("../secret.yaml")
    said = driven.kmerge("explain", "--all").out
    assert "the working tree differs from this result" in said
    assert "hunter2" not in said


def test_a_file_that_is_left_alone_still_has_its_markers(repo: Repo) -> None:
    secret = "kind: Secret\nmetadata: {{name: s}}\ndata:\n  a: {0}\nsops:\n  mac: ENC[{0}]\n"
    repo.fork(*({"s.yaml": secret.format(n)} for n in range(3)))
    repo.merge()
    assert files(told(repo))["s.yaml"]["now"] == "in conflict"


def test_a_file_that_git_took_out_of_the_way_is_brought_by_a_side(repo: Repo) -> None:
    repo.commit("base", {"b.yaml": BASE})
    repo.branch("side")
    repo.commit("theirs", {"b.yaml": THEIRS})
    repo.switch("main")
    repo.git("rm", "-q", "b.yaml")
    repo.commit("ours", {"b.yaml/c.yaml": service()})
    assert repo.merge().code == 1
    repo.commit("Merge side", {})
    assert "b.yaml~side" in repo.git("ls-files").lines
    assert told(repo, "HEAD")["elsewhere"] == []


def test_what_has_followed_is_there_while_its_old_file_is_in_conflict(driven: Driven) -> None:
    moved = service()
    driven.fork(
        {"old.yaml": stream(deployment(), moved)},
        {"old.yaml": deployment(image="app:2"), "new.yaml": moved},
        {"old.yaml": stream(deployment(image="app:3"), service(81))},
    )
    assert driven.kmerge("merge", "side", check=False).code == 1
    found = {path: f["now"] for path, f in files(told(driven)).items()}
    assert found == {"old.yaml": "in conflict", "new.yaml": "same"}
